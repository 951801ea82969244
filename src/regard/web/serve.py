"""Start the explorer: open the door first, so that the page is there at once, and load what it needs behind it."""

import secrets
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable, Sequence
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import uvicorn
    from fastapi import FastAPI

PORT = 8420


class ServeError(Exception):
    """The explorer cannot start; the message says why and what to do."""


def serve(
    models: Sequence[str] = (),
    *,
    runs: Path | None = None,
    pictures: Path | None = None,
    host: str = "127.0.0.1",
    port: int = PORT,
    show: bool = True,
    tell: Callable[[str], None] = print,
) -> None:
    """Serve until Ctrl-C. Another host than this machine's own is guarded by a token, which the address carries."""
    door = open_socket(host, port)
    try:
        port = door.getsockname()[1]
        token = None if _is_loopback(host) else secrets.token_urlsafe(24)
        address = f"http://{_address_of(host)}:{port}/" + (f"?token={token}" if token else "")
        try:
            import uvicorn

            from regard.web.app import make_app
        except ModuleNotFoundError as error:
            if error.name is None or error.name.partition(".")[0] not in (
                "fastapi",
                "uvicorn",
                "starlette",
                "pydantic",
            ):
                raise
            raise ServeError(
                f"the explorer needs {error.name}, which is not installed; in a clone of regard, pip install '.[web]'"
            ) from None
        from regard.web.guard import LOOPBACK
        from regard.web.models import Models
        from regard.web.pictures import Pictures
        from regard.web.state import AppState

        state = AppState(Models(models), runs, pictures=Pictures(folder=pictures))
        names = {*LOOPBACK, host.lower(), socket.gethostname().lower()} if token else LOOPBACK
        app = make_app(state, names=names, token=token, cookie=f"regard_{port}")
        tell(address)
        if show:
            threading.Timer(0.3, webbrowser.open, [address]).start()
        allow_files()
        uvicorn.Server(configure(app)).run(sockets=[door])
    finally:
        door.close()


def configure(app: "FastAPI") -> "uvicorn.Config":
    """How the application is served."""
    import uvicorn

    from regard.web.connection import Connection

    return uvicorn.Config(
        app,
        http=Connection,
        log_level="warning",
        access_log=False,  # addresses may hold the token
        server_header=False,
        limit_concurrency=1200,  # a crowd may come at once; `Connection` closes those that then only stand there
        timeout_keep_alive=20,
        timeout_graceful_shutdown=2,
    )


def allow_files(wanted: int = 4096) -> None:
    """Have room for many connections at once: each is an open file, and many systems allow 1024 unless asked."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < wanted and hard != soft:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted if hard < 0 else min(wanted, hard), hard))


def open_socket(host: str, port: int) -> socket.socket:
    """A listening socket; a port that is taken is answered with one that is not."""
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
    except (OSError, UnicodeError, OverflowError) as error:
        raise ServeError(f"{host!r} port {port} is no address of this machine ({error}); leave --host out") from None
    try:
        return _listen(family, address)
    except PermissionError:
        raise ServeError(f"port {port} is not yours to open; give one above 1023, or 0 for any") from None
    except OSError as error:
        try:
            with _listen(family, (address[0], 0, *address[2:])) as free:
                way = f"port {free.getsockname()[1]} is free: add --port {free.getsockname()[1]}"
        except OSError:
            raise ServeError(f"{host!r} is no address of this machine ({error}); leave --host out") from None
        raise ServeError(f"port {port} is taken, perhaps by another explorer; {way}") from None


def _listen(family: int, address: tuple[object, ...]) -> socket.socket:
    # With the protocol said, asyncio sends small answers at once instead of waiting 40 ms for a fuller packet.
    door = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if sys.platform != "win32":  # there it would share the port with whoever has it
            door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        door.bind(address)
        door.listen(128)
    except BaseException:
        door.close()
        raise
    door.set_inheritable(False)
    return door


def _is_loopback(host: str) -> bool:
    """Whether only this machine can come in."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def _address_of(host: str) -> str:
    """The host as an address says it: one that listens everywhere goes by the name of the machine."""
    if host in ("0.0.0.0", "::", ""):
        return socket.gethostname()
    return f"[{host}]" if ":" in host else host
