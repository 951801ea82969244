"""Who may ask: what every request passes first.

A page of another site must not reach this server through the reader's browser: neither by its own address (`Origin`,
`Sec-Fetch-Site`) nor by a name that it has pointed here (`Host`). Beyond this machine, a token is asked for.
"""

import asyncio
import hmac
import ipaddress
import json
from collections.abc import Collection
from http.cookies import CookieError, SimpleCookie
from time import monotonic
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

BODY = 256 * 1024  # bytes of a request
LARGER = {"/api/pictures": 20 * 2**20, "/api/things": 20 * 2**20}  # and of those that bring a file
ROOM = 256 * 2**20  # bytes of all requests that are arriving
PATIENCE = 10.0  # seconds for a request to arrive
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})

# Our own files and nothing else; pictures may also be made on the page, which is how it exports them.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "font-src 'self'; media-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}


class Guard:
    """An application that lets through what it should, and adds the headers that keep a page in its bounds."""

    def __init__(
        self, app: ASGIApp, *, names: Collection[str] = LOOPBACK, token: str | None = None, cookie: str = "regard"
    ) -> None:
        """`names` are those this server goes by; with a `token`, plain addresses are among them."""
        self.app, self.names, self.token, self.cookie = app, frozenset(names), token, cookie
        self.arriving = 0  # bytes that are held of requests that are not whole yet

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # there is no other conversation

        async def send_bounded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        headers = Headers(scope=scope)
        fault = self._find_fault(scope, headers)
        if fault is not None:
            await _answer(send_bounded, *fault)
        elif self.token is not None and not self._has_token(headers):
            await self._ask_token(scope, send_bounded)
        else:
            whole = await self._receive_whole(headers, receive, LARGER.get(scope["path"], BODY))
            if isinstance(whole, tuple):
                await _answer(send_bounded, *whole)
            else:
                await self.app(scope, whole, send_bounded)

    def _find_fault(self, scope: Scope, headers: Headers) -> tuple[int, str] | None:
        """Why a request is turned away, if it is."""
        host = headers.get("host", "")
        if len(headers.getlist("host")) != 1 or not self._is_own(_read_name(host)):
            return 403, f"this server is not called {host[:100]!r}; open the address that regard explore printed"
        origin, site = headers.get("origin"), headers.get("sec-fetch-site")
        if origin is not None and urlsplit(origin).netloc.lower() != host.lower():
            return 403, f"a page of {origin[:100]!r} may not ask here; open the address that regard explore printed"
        if site not in (None, "same-origin", "none") and scope["path"].startswith("/api/"):
            return 403, "another site may not ask here; open the address that regard explore printed"
        length, most = headers.get("content-length", "0"), LARGER.get(scope["path"], BODY)
        if not length.isdecimal() or int(length) > most:
            return 413, f"a request of {length[:20]} bytes is more than {most}; give less"
        return None

    def _is_own(self, name: str | None) -> bool:
        if name is None:
            return False
        # No site can make a browser send a plain address that it does not have; behind a token, that is enough.
        return name in self.names or (self.token is not None and _is_address(name))

    def _has_token(self, headers: Headers) -> bool:
        scheme, _, bearer = headers.get("authorization", "").partition(" ")
        try:
            kept = SimpleCookie(headers.get("cookie", "")).get(self.cookie)
        except CookieError:
            kept = None
        given = bearer if scheme.lower() == "bearer" else kept.value if kept is not None else ""
        return self._is_token(given)

    def _is_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(), (self.token or "").encode())

    async def _receive_whole(self, headers: Headers, receive: Receive, most: int) -> Receive | tuple[int, str]:
        """A request whose body is here, to be received at once; or why it is not waited for any longer."""
        if "content-length" not in headers and "transfer-encoding" not in headers:
            return receive
        body, more, until = bytearray(), True, monotonic() + PATIENCE
        try:
            while more:
                try:
                    message = await asyncio.wait_for(receive(), max(until - monotonic(), 0.01))
                except TimeoutError:
                    return 408, f"the request took more than {PATIENCE:g} seconds to arrive; send it again"
                if message["type"] == "http.disconnect":
                    return 400, "the request did not arrive whole; send it again"
                part = message.get("body", b"")
                body += part
                self.arriving += len(part)
                more = message.get("more_body", False)
                if len(body) > most:  # it may not have said its length
                    return 413, f"a request of more than {most} bytes is not read; give less"
                if self.arriving > ROOM:
                    return 503, "too much is being sent to this server at once; send it again in a moment"
        finally:
            self.arriving -= len(body)
        whole: list[Message] = [{"type": "http.request", "body": bytes(body), "more_body": False}]

        async def receive_again() -> Message:
            return whole.pop() if whole else await receive()

        return receive_again

    async def _ask_token(self, scope: Scope, send: Send) -> None:
        """The token in an address is taken once, and becomes a cookie that scripts cannot read."""
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        if scope["method"] != "GET" or not self._is_token(dict(query).get("token", "")):
            await _answer(send, 401, "this server asks for a token; open the whole address that regard explore printed")
            return
        rest = urlencode([(name, value) for name, value in query if name != "token"])
        # One slash only: an address that begins with two would lead to another server.
        place = "/" + scope["path"].lstrip("/\\").encode("ascii", "ignore").decode() + (f"?{rest}" if rest else "")
        cookie = f"{self.cookie}={self.token}; Path=/; HttpOnly; SameSite=Lax; Max-Age=2592000"
        await _answer(send, 303, "", {"Location": place, "Set-Cookie": cookie})


async def _answer(send: Send, status: int, error: str, headers: dict[str, str] | None = None) -> None:
    body = json.dumps({"error": error}).encode() if error else b""
    plain = {"Content-Type": "application/json", "Content-Length": str(len(body)), **(headers or {})}
    start = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in plain.items()]
    await send({"type": "http.response.start", "status": status, "headers": start})
    await send({"type": "http.response.body", "body": body})


def _read_name(host: str) -> str | None:
    """The name in a Host header, without its port."""
    try:
        name = urlsplit(f"//{host}").hostname
    except ValueError:
        return None
    return name if name and "@" not in host and "/" not in host else None


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
