"""Look inside in the browser: build attention up, translate and see where each word looks, browse the world and runs.

The page comes from this machine and needs no internet. Only this machine can open it; with another --host, so can
whoever has the printed address, which carries a token.

    regard explore                                     every bundled model
    regard explore --model runs/translate-0            and one of your own
    regard explore --model glove.6B.50d.txt            and vectors of words, for the room Words
    regard explore --pictures photos                   and a folder of pictures, to be searched in Match
    regard explore --no-open --port 0                  any free port, and no browser
    regard explore --static site                       a folder of files for any web host, no server needed
"""

from dataclasses import dataclass
from pathlib import Path

from tyro.conf import UseAppendAction

from regard.cli.errors import UsageError

GROUP = "Look inside"


@dataclass(frozen=True, slots=True)
class Flags:
    model: UseAppendAction[tuple[str, ...]] = ()
    """A folder of a model or run, a file of word vectors, or a name of `regard list zoo`, to come first; or several."""
    runs: Path = Path("runs")
    """The folder of your runs."""
    pictures: Path | None = None
    """A folder of pictures, for Match to search by a sentence."""
    port: int = 8420
    """Where to listen; 0 takes any free port."""
    host: str = "127.0.0.1"
    """The address to listen on; beyond this machine, a token is asked for."""
    open: bool = True
    """Open the page in the browser at once; with --no-open that is up to you."""
    static: Path | None = None
    """Write the page into this folder instead, as files that any web host can serve: all rooms that run no model."""


def main(flags: Flags) -> None:
    """Serve the page until Ctrl-C, or write it down."""
    if flags.static is not None:
        return _write(flags.static)
    from regard.web.serve import ServeError, serve

    if not 0 <= flags.port < 65536:
        raise UsageError(f"port {flags.port} does not exist; give 1 to 65535, or 0 for any free one")
    if flags.pictures is not None and not flags.pictures.is_dir():
        raise UsageError(f"{flags.pictures} is no folder; give one with pictures, or leave --pictures out")
    try:
        serve(
            flags.model,
            runs=flags.runs,
            pictures=flags.pictures,
            host=flags.host,
            port=flags.port,
            show=flags.open,
            tell=_tell,
        )
    except ServeError as error:
        raise SystemExit(str(error)) from None
    except ValueError as error:
        raise UsageError(str(error)) from None


def _write(folder: Path) -> None:
    from regard.progress import bar
    from regard.web.static import StaticError, write_site

    try:
        with bar("writing the site") as progress:
            size = write_site(folder, progress=progress)
    except (StaticError, OSError) as error:
        raise SystemExit(str(error)) from None
    print(f"{folder} holds the site, {size / 1e6:.1f} MB; try it with: python -m http.server --directory {folder}")


def _tell(address: str) -> None:
    print(f"The explorer is at {address}\nCtrl-C ends it.", flush=True)
