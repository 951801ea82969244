"""Our own files for the browser: found by name in a list of what there is, and checked for freshness each time."""

from email.utils import formatdate
from pathlib import Path

from fastapi import APIRouter, Request, Response
from starlette.responses import FileResponse

from regard.web.assets import PAGE, TYPES, list_files
from regard.web.errors import RefusedError
from regard.web.state import AppState


def router(_: AppState, folder: Path = PAGE) -> APIRouter:
    """Every file below a folder; the folder itself is its index."""
    routes, files = APIRouter(include_in_schema=False), list_files(folder)

    @routes.get("/{name:path}")
    @routes.head("/{name:path}")
    def page(name: str, request: Request) -> Response:
        """A file, or word that the browser has it already."""
        name = name or "index.html"
        if name not in files:
            files.update(list_files(folder))  # somebody may be writing the page just now
        if name not in files:
            raise RefusedError(404, f"there is no page {'/' + name[:100]!r}; start at /")
        about = files[name].stat()
        tag = f'"{about.st_mtime_ns:x}-{about.st_size:x}"'
        headers = {"ETag": tag, "Cache-Control": "no-cache", "Last-Modified": formatdate(about.st_mtime, usegmt=True)}
        if request.headers.get("if-none-match", "").removeprefix("W/") == tag:
            return Response(status_code=304, headers=headers)
        return FileResponse(files[name], media_type=TYPES[files[name].suffix], headers=headers, stat_result=about)

    return routes
