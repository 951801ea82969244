"""Look inside in the browser: build attention up, translate and see where each word looks, browse the world and runs.

The page comes from this machine and needs no internet. Only this machine can open it; with another --host, so can
whoever has the printed address, which carries a token.

    regard explore                                     every bundled model
    regard explore --model runs/translate-0            and one of your own
    regard explore --no-open --port 0                  any free port, and no browser
"""

from dataclasses import dataclass
from pathlib import Path

from tyro.conf import UseAppendAction

from regard.cli.errors import UsageError

GROUP = "Look inside"


@dataclass(frozen=True, slots=True)
class Flags:
    model: UseAppendAction[tuple[str, ...]] = ()
    """The folder of a model or run of yours, or a name that `regard list zoo` shows, to come first; again for more."""
    runs: Path = Path("runs")
    """The folder of your runs."""
    port: int = 8420
    """Where to listen; 0 takes any free port."""
    host: str = "127.0.0.1"
    """The address to listen on; beyond this machine, a token is asked for."""
    open: bool = True
    """Open the page in the browser at once; with --no-open that is up to you."""


def main(flags: Flags) -> None:
    """Serve the page until Ctrl-C."""
    from regard.web.serve import ServeError, serve

    if not 0 <= flags.port < 65536:
        raise UsageError(f"port {flags.port} does not exist; give 1 to 65535, or 0 for any free one")
    try:
        serve(flags.model, runs=flags.runs, host=flags.host, port=flags.port, show=flags.open, tell=_tell)
    except ServeError as error:
        raise SystemExit(str(error)) from None
    except ValueError as error:
        raise UsageError(str(error)) from None


def _tell(address: str) -> None:
    print(f"The explorer is at {address}\nCtrl-C ends it.", flush=True)
