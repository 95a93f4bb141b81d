"""Routes outside Streamlit: logging in and out, downloads of admins, and the editor's script.

Only a route of ours can set an HttpOnly cookie. The login paths start with ``/account``, since Streamlit reserves ``/auth/login`` and
``/auth/logout`` for OIDC. Each request for a download (exports as zip files, selected records, rejected rows of imports) is authorized.
Streamlit's own downloads are not used: their URLs work for everybody logged in, and the files stay in memory. The editor's script needs
no login: it contains nothing private, and browsers load it once and keep it.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Final
from urllib.parse import parse_qs, quote

from anyio import CapacityLimiter, to_thread
from jinja2 import Environment, FileSystemLoader, select_autoescape
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from piiloom.annotation_app.editor_assets import module, module_address
from piiloom.annotation_app.people.logins import LoginService
from piiloom.annotation_app.project_files import ProjectFiles
from piiloom.annotation_app.serving.login_config import LOGIN_PATH, LOGOUT_PATH, LoginConfig
from piiloom.annotation_app.serving.services import get_services
from piiloom.foundation.words import counted

_TEMPLATES: Final = Path(__file__).parent / "templates"
_LONGEST_BODY: Final = 16_384
# One hash takes 64 MiB and several cores. More than this many at once would slow down the people at work.
_HASHES_AT_ONCE: Final = 2
# The record of a link that somebody opened before logging in, and the longest id that is carried through the login.
_RECORD: Final = "record"
_LONGEST_ID: Final = 400
_WRONG = "The name or the password is wrong."
_STALE = "The form was too old, or cookies are switched off. Try again."


class LoginRoutes:
    """The login and log-out routes for one ``LoginConfig``."""

    def __init__(self, config: LoginConfig) -> None:
        self._config = config
        self._hashing = CapacityLimiter(_HASHES_AT_ONCE)

    def routes(self) -> list[Route]:
        """Return the routes to add to the app."""
        return [
            Route(LOGIN_PATH, self.show, methods=["GET"]),
            Route(LOGIN_PATH, self.log_in, methods=["POST"]),
            Route(LOGOUT_PATH, self.log_out, methods=["POST"]),
            Route("/account/style.css", _style, methods=["GET"]),
            Route("/account/health", _health, methods=["GET"]),
        ]

    async def show(self, request: Request) -> Response:
        """Serve the login form. Redirect people who are already logged in to the app."""
        token = request.cookies.get(self._config.cookie)
        if await to_thread.run_sync(self._config.person, token) is not None:
            return RedirectResponse(_onward(request.query_params.get(_RECORD)), 303)
        return self._form(request, record=request.query_params.get(_RECORD, ""))

    async def log_in(self, request: Request) -> Response:
        """Handle a submitted login form.

        Redirects to the app on success. Answers 400 for a body that is no form, 401 for a wrong name or password, 403 for a stale form and
        429 during a wait.
        """
        logins, config = self._config.logins, self._config
        if logins is None:
            return RedirectResponse("/", 303)
        fields = await _fields(request)
        if fields is None:
            return PlainTextResponse("This is not a login form.", 400)
        if not config.forms.fits("login", request.cookies.get(config.form_cookie), fields.get("token", "")):
            return self._form(request, said=_STALE, record=fields.get(_RECORD, ""), status=403)
        name, password = fields.get("name", ""), fields.get("password", "")
        address = request.client.host if request.client else ""
        attempt = await to_thread.run_sync(logins.log_in, name, password, address, limiter=self._hashing)
        if attempt.token is not None:
            return await self._let_in(request, logins, attempt.token, _onward(fields.get(_RECORD)))
        if attempt.wait > 0:
            seconds = math.ceil(attempt.wait)
            said = f"Too many tries. Wait {counted(seconds, 'second')} and try again."
            answer = self._form(request, name=name, said=said, record=fields.get(_RECORD, ""), status=429)
            answer.headers["Retry-After"] = str(seconds)
            return answer
        then = BackgroundTask(logins.note_refusal, name)
        return self._form(request, name=name, said=_WRONG, record=fields.get(_RECORD, ""), status=401, then=then)

    async def log_out(self, request: Request) -> Response:
        """End the session, so that no copy of its token is valid any more. Answers 403 for a stale form."""
        logins, config = self._config.logins, self._config
        token = request.cookies.get(config.cookie)
        fields = await _fields(request)
        if logins is None or fields is None or not config.forms.fits("logout", token, fields.get("token", "")):
            return PlainTextResponse("This log-out form is too old. Go back, reload the page and log out again.", 403)
        await to_thread.run_sync(logins.log_out, token)
        answer = RedirectResponse(LOGIN_PATH, 303)
        answer.delete_cookie(config.cookie, path="/", secure=self._secure(request), httponly=True, samesite="strict")
        return _unkept(answer)

    async def _let_in(self, request: Request, logins: LoginService, token: str, onward: str) -> Response:
        await to_thread.run_sync(logins.log_out, request.cookies.get(self._config.cookie))
        answer = RedirectResponse(onward, 303)
        self._set(request, answer, self._config.cookie, token, path="/")
        answer.delete_cookie(self._config.form_cookie, path=LOGIN_PATH)
        return _unkept(answer)

    def _form(
        self, request: Request, *, name: str = "", said: str = "", record: str = "", status: int = 200, then: BackgroundTask | None = None
    ) -> Response:
        config = self._config
        cookie = request.cookies.get(config.form_cookie) or config.nonce()
        page = _environment().get_template("login.html.j2")
        token = config.forms.token("login", cookie)
        body = page.render(token=token, name=name[:64], said=said, record=record[:_LONGEST_ID], oidc=config.oidc, path=LOGIN_PATH)
        answer = HTMLResponse(body, status, background=then)
        self._set(request, answer, config.form_cookie, cookie, path=LOGIN_PATH)
        return _unkept(answer)

    def _set(self, request: Request, answer: Response, name: str, value: str, *, path: str) -> None:
        answer.set_cookie(name, value, path=path, secure=self._secure(request), httponly=True, samesite="strict")

    def _secure(self, request: Request) -> bool:
        return self._config.behind_https or request.url.scheme == "https"


def _onward(record: str | None) -> str:
    """Return where a login leads: to the record whose link was opened, else to the start. Never to an address that a link names whole."""
    return f"/work?{_RECORD}={quote(record[:_LONGEST_ID], safe='')}" if record else "/"


async def _fields(request: Request) -> dict[str, str] | None:
    """Parse the fields of a posted form. Return None if the body is not URL-encoded, is malformed or is too long."""
    if request.headers.get("content-type", "").split(";")[0].strip().lower() != "application/x-www-form-urlencoded":
        return None
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > _LONGEST_BODY:
            return None
    try:
        found = parse_qs(body.decode("utf-8"), keep_blank_values=True, max_num_fields=8, errors="strict")
    except (UnicodeDecodeError, ValueError):
        return None
    return {name: values[0] for name, values in found.items()}


async def _style(request: Request) -> Response:  # noqa: ARG001 - every route is given the request
    return FileResponse(_TEMPLATES / "login.css", media_type="text/css")


async def _health(request: Request) -> Response:  # noqa: ARG001 - every route is given the request
    return _unkept(JSONResponse({"status": "ok"}))


def _unkept(answer: Response) -> Response:
    answer.headers["Cache-Control"] = "no-store"
    return answer


@cache
def _environment() -> Environment:
    return Environment(loader=FileSystemLoader(_TEMPLATES), autoescape=select_autoescape(["html", "html.j2"], default=True))


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


# Cached forever, since the path changes with the content.
_FOR_EVER = "public, max-age=31536000, immutable"


def editor_route() -> Route:
    """Return the route to add to the app."""
    return Route("/editor/{name}", _editor, methods=["GET"])


async def _editor(request: Request) -> Response:
    if request.url.path != module_address():  # for example of an older version: the page has to be reloaded
        return PlainTextResponse("There is no such script.", 404)
    return Response(module(), media_type="text/javascript", headers={"Cache-Control": _FOR_EVER})
