"""The person who uses the running page, logged in by form or by OIDC, and our own routes: login, log-out, downloads, editor's script.

Ask for the person at the start of every page and again in every callback. Streamlit runs callbacks before the page: a page that asks only
at its start would let an ended session act once more.

By OIDC, a person gets in only if an account was added with that e-mail address or subject. The cookie that Streamlit sets is valid for a
month in any case. Here it stands for a normal session, which a log-out or a change of role ends for good.

The configuration is set once when the server starts. A POST counts only if its form is from a page that this server gave to the same
browser.

Only a route of ours can set an HttpOnly cookie. The login paths start with ``/account``, since Streamlit reserves ``/auth/login`` and
``/auth/logout`` for OIDC. Each request for a download (exports as zip files, selected records, rejected rows of imports) is authorized.
Streamlit's own downloads are not used: their URLs work for everybody logged in, and the files stay in memory. The editor's script needs
no login: it contains nothing private, and browsers load it once and keep it.
"""

from __future__ import annotations

import hmac
import math
import secrets
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache, partial
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import Any, Final, get_args
from urllib.parse import parse_qs, quote

import streamlit as st
from anyio import CapacityLimiter, to_thread
from jinja2 import Environment, FileSystemLoader, select_autoescape
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route
from streamlit.auth_util import get_secrets_auth_section

from piiloom.annotation_app.people.accounts import LOCAL_USER, Accounts, AppUser
from piiloom.annotation_app.people.logins import LoginService
from piiloom.annotation_app.project_files import FileKind, ProjectFiles
from piiloom.annotation_app.serving.services import get_services
from piiloom.annotation_app.sync.editor_data import module, module_address
from piiloom.foundation.words import counted

LOGIN_PATH: Final = "/account/login"
LOGOUT_PATH: Final = "/account/logout"
# Streamlit's signed cookie with the provider's claims. A long value is split over several cookies.
_PROVIDER_COOKIE: Final = "_streamlit_user"


def provider_token(cookies: Mapping[str, str]) -> str | None:
    """Return a token that stands for the login at the OIDC provider: a hash of its cookies. None if there are none."""
    found = sorted((name, value) for name, value in cookies.items() if name == _PROVIDER_COOKIE or name.startswith(f"{_PROVIDER_COOKIE}__"))
    return f"oidc:{sha256(repr(found).encode('utf-8', 'replace')).hexdigest()}" if found else None


@dataclass(frozen=True, slots=True, kw_only=True)
class LoginConfig:
    """The login configuration of the server.

    If ``logins`` is None, the server is single-user: everybody who can reach it is the local person, an admin. ``oidc`` says whether
    Streamlit's own login is configured. ``may_be_forwarded`` is False where uvicorn trusts local proxies without being asked to: requests
    through a proxy are then refused. ``cookie`` has the port in its name, since browsers share cookies between ports and one machine may
    serve two stores. ``form_key`` lives as long as the process: forms from before a restart have to be reloaded.
    """

    logins: LoginService | None = None
    accounts: Accounts | None = None
    oidc: bool = False
    behind_https: bool = False
    may_be_forwarded: bool = True
    cookie: str = "piiloom_session"
    form_key: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)

    @property
    def form_cookie(self) -> str:
        """The name of the cookie that ties a login form to a browser."""
        return f"{self.cookie}_form"

    def form_token(self, purpose: str, cookie: str) -> str:
        """Return the token that a form of *purpose* has to carry in the browser that holds *cookie*."""
        return hmac.new(self.form_key, f"{purpose}\0{cookie}".encode("utf-8", "replace"), sha256).hexdigest()

    def form_fits(self, purpose: str, cookie: str | None, token: str) -> bool:
        """Return whether *token* was made for this purpose and cookie."""
        return bool(cookie) and hmac.compare_digest(self.form_token(purpose, cookie or "").encode(), token.encode("utf-8", "replace"))

    def person(self, token: str | None) -> AppUser | None:
        """Return the person to whom a session token belongs, or None; the local person if the server is single-user."""
        return LOCAL_USER if self.logins is None else self.logins.person(token)

    def person_of_cookies(self, cookies: Mapping[str, str]) -> AppUser | None:
        """Return the person who sends *cookies*, or None. An OIDC login is known once a page has seen it."""
        return self.person(cookies.get(self.cookie)) or (self.person(provider_token(cookies)) if self.oidc else None)


def oidc_configured() -> bool:
    """Return whether Streamlit's secrets (``.streamlit/secrets.toml``) have a section ``[auth]``."""
    return bool(get_secrets_auth_section())


def providers() -> list[str | None]:
    """Return the possible arguments of ``st.login``: the names of the configured providers, or None if there is only the default."""
    section = get_secrets_auth_section()
    named = [name for name, value in section.items() if isinstance(value, Mapping)]
    return [str(name) for name in named] if named else [None]


def identities(claims: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the identities in *claims* that an account may have been added with.

    These are the subject, and the e-mail address if the provider says that it is verified: in some directories people can enter any address
    they like.
    """
    subject, email = claims.get("sub"), claims.get("email")
    verified = claims.get("email_verified") in {True, "true"}
    found = [subject, email if verified else None]
    return tuple(value for value in found if isinstance(value, str) and value)


def person_of_provider(config: LoginConfig) -> AppUser | None:
    """Return the annotator who is logged in at the provider in this browser, or None. Only inside a Streamlit script."""
    claims, token = st.user.to_dict(), provider_token(st.context.cookies.to_dict())
    made = claims.get("iat")
    if config.logins is None or token is None or not claims.get("is_logged_in") or not isinstance(made, int):
        return None
    return config.logins.person(token) or config.logins.log_in_by_provider(token, identities(claims), datetime.fromtimestamp(made, UTC))


def log_out_of_provider(config: LoginConfig) -> None:
    """End the session of a person who logged in by OIDC, for good. Only inside a Streamlit script."""
    if config.logins is not None:
        config.logins.log_out(provider_token(st.context.cookies.to_dict()))
    st.logout()


def stranger(config: LoginConfig) -> bool:
    """Return whether this browser is logged in at the provider as somebody without an active account here."""
    claims = st.user.to_dict()
    logged_in = bool(claims.get("is_logged_in"))
    return logged_in and (config.accounts is None or config.accounts.person_of_identity(*identities(claims)) is None)


_OWNER: Final = "piiloom_page_owner"
_BY_FORM: Final = "piiloom_came_by_form"
_configs: list[LoginConfig] = []


def use_login_config(config: LoginConfig | None) -> None:
    """Set the ``LoginConfig`` by which the pages of this process identify people; None removes it."""
    _configs[:] = [] if config is None else [config]


def login_config() -> LoginConfig:
    """Return what was given to ``use_login_config``. Raises ``RuntimeError`` before that."""
    if not _configs:
        raise RuntimeError("no server runs in this process")
    return _configs[0]


def current_person() -> AppUser | None:
    """Return the person who uses this page, with the current role; None if nobody is logged in (any more).

    A page belongs to the first person it was shown to. If another person logs in in the same browser, a tab that stayed open reconnects
    with the new cookie but holds the work of the first person. Such a tab gets None until it is reloaded.
    """
    config = login_config()
    person = config.person(st.context.cookies.get(config.cookie))
    st.session_state[_BY_FORM] = person is not None
    if person is None and config.oidc:
        person = person_of_provider(config)
    if person is None or st.session_state.setdefault(_OWNER, person.name) != person.name:
        return None
    return person


def page_was_anothers() -> bool:
    """Return whether this page was shown to somebody before. After a new login it has to be reloaded."""
    return _OWNER in st.session_state


def logout_form() -> str | None:
    """Return the HTML of a log-out form, for ``st.html``.

    Returns None in single-user mode, and for people who logged in by OIDC (see ``log_out_of_provider``).
    """
    config = login_config()
    token = st.context.cookies.get(config.cookie)
    if config.logins is None or token is None or not st.session_state.get(_BY_FORM):
        return None
    hidden = f'<input type="hidden" name="token" value="{escape(config.form_token("logout", token))}">'
    return f'<form method="post" action="{LOGOUT_PATH}">{hidden}<button type="submit">Log out</button></form>'


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
