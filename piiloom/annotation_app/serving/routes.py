"""Routes outside Streamlit: logging in and out, downloads of admins, and the editor's script.

Only a route of ours can set an HttpOnly cookie. The login paths start with ``/account``, since Streamlit reserves ``/auth/login`` and
``/auth/logout`` for OIDC. Each request for a download (exports as zip files, selected records, rejected rows of imports) is authorized.
Streamlit's own downloads are not used: their URLs work for everybody logged in, and the files stay in memory. The editor's script needs
no login: it contains nothing private, and browsers load it once and keep it.
"""

from __future__ import annotations

import math
import secrets
import tempfile
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path
from typing import Final, get_args
from urllib.parse import parse_qs, quote

from anyio import CapacityLimiter, to_thread
from jinja2 import Environment, FileSystemLoader, select_autoescape
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from piiloom.annotation_app.editor_assets import module, module_address
from piiloom.annotation_app.project_files import FileKind, ProjectFiles
from piiloom.annotation_app.serving.current_user import LOGIN_PATH, LOGOUT_PATH, LoginConfig
from piiloom.annotation_app.serving.services import get_services
from piiloom.foundation.words import counted

_NOT_KEPT: Final = {"Cache-Control": "no-store"}
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
        self._config, self._hashing = config, CapacityLimiter(_HASHES_AT_ONCE)

    def routes(self) -> list[Route]:
        """Return the routes to add to the app."""
        return [
            Route(LOGIN_PATH, self.show, methods=["GET"]),
            Route(LOGIN_PATH, self.log_in, methods=["POST"]),
            Route(LOGOUT_PATH, self.log_out, methods=["POST"]),
            Route("/account/style.css", lambda _: FileResponse(_TEMPLATES / "login.css", media_type="text/css"), methods=["GET"]),
            Route("/account/health", _health, methods=["GET"]),
        ]

    def show(self, request: Request) -> Response:
        """Serve the login form. Redirect people who are already logged in to the app."""
        record = request.query_params.get(_RECORD, "")
        if self._config.person(request.cookies.get(self._config.cookie)) is not None:
            return RedirectResponse(_onward(record), 303)
        return self._form(request, record)

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
        name, password, record = (fields.get(field, "") for field in ("name", "password", _RECORD))
        if not config.form_fits("login", request.cookies.get(config.form_cookie), fields.get("token", "")):
            return self._form(request, record, 403, said=_STALE)
        address = request.client.host if request.client else ""
        attempt = await to_thread.run_sync(logins.log_in, name, password, address, limiter=self._hashing)
        if attempt.token is not None:
            await to_thread.run_sync(logins.log_out, request.cookies.get(config.cookie))
            answer: Response = RedirectResponse(_onward(record), 303, headers=_NOT_KEPT)
            self._set(request, answer, config.cookie, attempt.token, path="/")
            answer.delete_cookie(config.form_cookie, path=LOGIN_PATH)
            return answer
        if attempt.wait > 0:
            seconds = math.ceil(attempt.wait)
            answer = self._form(request, record, 429, name=name, said=f"Too many tries. Wait {counted(seconds, 'second')} and try again.")
            answer.headers["Retry-After"] = str(seconds)
            return answer
        answer = self._form(request, record, 401, name=name, said=_WRONG)
        answer.background = BackgroundTask(logins.note_refusal, name)
        return answer

    async def log_out(self, request: Request) -> Response:
        """End the session, so that no copy of its token is valid any more. Answers 403 for a stale form."""
        logins, config = self._config.logins, self._config
        token = request.cookies.get(config.cookie)
        fields = await _fields(request)
        if logins is None or fields is None or not config.form_fits("logout", token, fields.get("token", "")):
            return PlainTextResponse("This log-out form is too old. Go back, reload the page and log out again.", 403)
        await to_thread.run_sync(logins.log_out, token)
        answer = RedirectResponse(LOGIN_PATH, 303, headers=_NOT_KEPT)
        answer.delete_cookie(config.cookie, path="/", secure=self._secure(request), httponly=True, samesite="strict")
        return answer

    def _form(self, request: Request, record: str, status: int = 200, *, name: str = "", said: str = "") -> Response:
        config = self._config
        cookie = request.cookies.get(config.form_cookie) or secrets.token_urlsafe(16)
        body = (
            _environment()
            .get_template("login.html.j2")
            .render(
                token=config.form_token("login", cookie),
                name=name[:64],
                said=said,
                record=record[:_LONGEST_ID],
                oidc=config.oidc,
                path=LOGIN_PATH,
            )
        )
        answer = HTMLResponse(body, status, headers=_NOT_KEPT)
        self._set(request, answer, config.form_cookie, cookie, path=LOGIN_PATH)
        return answer

    def _set(self, request: Request, answer: Response, name: str, value: str, *, path: str) -> None:
        answer.set_cookie(name, value, path=path, secure=self._secure(request), httponly=True, samesite="strict")

    def _secure(self, request: Request) -> bool:
        return self._config.behind_https or request.url.scheme == "https"


async def _health(_: Request) -> Response:
    """Say that the server runs. No thread is needed for it: all of them may wait for the store."""
    return JSONResponse({"status": "ok"}, headers=_NOT_KEPT)


def _onward(record: str) -> str:
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


@cache
def _environment() -> Environment:
    return Environment(loader=FileSystemLoader(_TEMPLATES), autoescape=select_autoescape(["html", "html.j2"], default=True))


# Archives up to this size (bytes) stay in memory instead of a temporary file.
_IN_MEMORY: Final = 8 << 20
_BLOCK: Final = 1 << 18


def file_link(kind: FileKind, name: str) -> str:
    """Return the URL path of a file of the project, or of the export in the folder *name* as a zip file."""
    return f"/account/files/{kind}/{quote(name, safe='')}"


def download_routes(config: LoginConfig) -> list[Route]:
    """Return the download routes to add to the app. Starlette runs them in threads."""

    def download(request: Request, kind: FileKind) -> Response:
        person = config.person_of_cookies(request.cookies)
        if person is None or not person.may("admin"):
            return PlainTextResponse("Log in first." if person is None else "This is for admins.", 403, _NOT_KEPT)
        files, name = get_services().files, str(request.path_params["name"])
        found = _archive(files, name) if kind == "exports" else files.file(kind, name)
        if isinstance(found, Path):
            return FileResponse(found, headers=_as_file(name), media_type="application/octet-stream")
        return found or PlainTextResponse("There is no such file (any more).", 404)

    return [Route(f"/account/files/{kind}/{{name}}", partial(download, kind=kind), methods=["GET"]) for kind in get_args(FileKind)]


def _archive(files: ProjectFiles, name: str) -> Response | None:
    """Return the export in the folder *name* as a zip file; None if there is no such export."""
    spool = tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115 - closed when it has been sent
    if not files.write_archive(name, spool):
        spool.close()
        return None
    headers = {**_as_file(f"{name}.zip"), "Content-Length": str(spool.tell())}
    spool.seek(0)

    def blocks() -> Iterator[bytes]:
        with spool:
            while block := spool.read(_BLOCK):
                yield block

    return StreamingResponse(blocks(), headers=headers, media_type="application/zip")


def _as_file(name: str) -> dict[str, str]:
    return {"Content-Disposition": f"attachment; filename*=utf-8''{quote(name, safe='')}", **_NOT_KEPT}


async def editor_script(request: Request) -> Response:
    """Serve the editor's script, which browsers keep forever, since the path changes with the content."""
    if request.url.path != module_address():  # for example of an older version: the page has to be reloaded
        return PlainTextResponse("There is no such script.", 404)
    return Response(module(), media_type="text/javascript", headers={"Cache-Control": "public, max-age=31536000, immutable"})
