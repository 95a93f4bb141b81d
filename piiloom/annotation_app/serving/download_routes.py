"""Routes for the downloads of admins: exports as zip files, selected records, and rejected rows of imports. Each request is authorized.

Streamlit's own downloads are not used: their URLs work for everybody logged in, and the files stay in memory.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final
from urllib.parse import quote

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from piiloom.annotation_app.project_files import ProjectFiles
from piiloom.annotation_app.serving.login_config import LoginConfig
from piiloom.annotation_app.serving.services import get_services

_EXPORTS: Final = "/account/files/exports/"
_REJECTS: Final = "/account/files/rejects/"
_SELECTIONS: Final = "/account/files/selections/"
# Archives up to this size (bytes) stay in memory instead of a temporary file.
_IN_MEMORY: Final = 8 << 20
_BLOCK: Final = 1 << 18


def export_link(folder: str) -> str:
    """Return the URL path of the export in *folder* as a zip file."""
    return f"{_EXPORTS}{quote(folder, safe='')}"


def rejects_link(name: str) -> str:
    """Return the URL path of a file of rejected rows."""
    return f"{_REJECTS}{quote(name, safe='')}"


def selection_link(name: str) -> str:
    """Return the URL path of a file of selected records."""
    return f"{_SELECTIONS}{quote(name, safe='')}"


class DownloadRoutes:
    """The download routes for one ``LoginConfig``."""

    def __init__(self, config: LoginConfig) -> None:
        self._config = config

    def routes(self) -> list[Route]:
        """Return the routes to add to the app."""
        return [
            Route(f"{_EXPORTS}{{name}}", self.export, methods=["GET"]),
            Route(f"{_REJECTS}{{name}}", self.rejects, methods=["GET"]),
            Route(f"{_SELECTIONS}{{name}}", self.selections, methods=["GET"]),
        ]

    async def export(self, request: Request) -> Response:
        """Serve an export as a zip file."""
        return await to_thread.run_sync(self._export, request)

    async def rejects(self, request: Request) -> Response:
        """Serve a file of rejected rows."""
        return await to_thread.run_sync(self._file, request, ProjectFiles.rejects_file)

    async def selections(self, request: Request) -> Response:
        """Serve a file of selected records."""
        return await to_thread.run_sync(self._file, request, ProjectFiles.selection_file)

    def _export(self, request: Request) -> Response:
        name: str = request.path_params["name"]
        if refusal := self._refusal(request):
            return refusal
        spool = tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115 - closed when it has been sent
        if not _files().write_archive(name, spool):
            spool.close()
            return _absent()
        headers = {**_as_file(f"{name}.zip"), "Content-Length": str(spool.tell())}
        spool.seek(0)

        def blocks() -> Iterator[bytes]:
            with spool:
                while block := spool.read(_BLOCK):
                    yield block

        return StreamingResponse(blocks(), headers=headers, media_type="application/zip")

    def _file(self, request: Request, find: Callable[[ProjectFiles, str], Path | None]) -> Response:
        if refusal := self._refusal(request):
            return refusal
        path = find(_files(), request.path_params["name"])
        return _absent() if path is None else FileResponse(path, headers=_as_file(path.name), media_type="application/octet-stream")

    def _refusal(self, request: Request) -> Response | None:
        person = self._config.person_of_cookies(request.cookies)
        if person is not None and person.may("admin"):
            return None
        return PlainTextResponse("Log in first." if person is None else "This is for admins.", 403, {"Cache-Control": "no-store"})


def _files() -> ProjectFiles:
    return ProjectFiles(get_services().path)


def _absent() -> Response:
    return PlainTextResponse("There is no such file (any more).", 404)


def _as_file(name: str) -> dict[str, str]:
    return {"Content-Disposition": f"attachment; filename*=utf-8''{quote(name, safe='')}", "Cache-Control": "no-store"}
