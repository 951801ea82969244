"""The files of the page: where they are, and what kinds of them a browser may have. Needs no server."""

from pathlib import Path

PAGE = Path(__file__).parent / "page"
# What the machine believes about endings differs from machine to machine.
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".webp": "image/webp",
    ".jpg": "image/jpeg",
    ".ico": "image/x-icon",
    ".woff2": "font/woff2",
    ".wav": "audio/wav",
}


def list_files(folder: Path) -> dict[str, Path]:
    """The files that may be served, by the name they are asked for."""
    found = (path for path in folder.rglob("*") if path.suffix in TYPES and path.is_file())
    return {path.relative_to(folder).as_posix(): path for path in found}
