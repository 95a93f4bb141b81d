"""Middleware that refuses requests before anything else handles them.

It refuses requests that another site made a browser send. Without login, it refuses what does not come from a browser on this machine. With
login, it refuses requests without a session for what only logged-in pages use: files to and from the pages, and server metrics. Streamlit
itself accepts a web socket if the *host* of its Origin is local, whatever the port; here both must match.
"""

from __future__ import annotations

import ipaddress
from typing import Final
from urllib.parse import parse_qs, urlencode, urlsplit

from anyio import to_thread
from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket

from piiloom.annotation_app.people.identity import Role
from piiloom.annotation_app.serving.login_config import LOGIN_PATH, LoginConfig

_READING: Final = frozenset({"GET", "HEAD"})
# A proxy adds at least one of these.
_FORWARDED: Final = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip", "via")
_POLICY_VIOLATION: Final = 1008
# Streamlit serves these to anyone who knows the path, but its pages use them only after the login. As (path prefix, role needed); the first
# match counts.
_INSIDE: Final[tuple[tuple[str, Role], ...]] = (
    ("/_stcore/upload_file/", "admin"),  # only the page Admin takes files, and they are kept in memory
    ("/_stcore/metrics", "admin"),
    ("/_stcore/", "annotator"),
    ("/media/", "annotator"),
    ("/component/", "annotator"),
)
# What a page needs to show that nobody is logged in. Web sockets are not checked here: each script run asks who it is.
_OUTSIDE: Final = frozenset({"/_stcore/health", "/_stcore/host-config"})


def is_loopback(host: str) -> bool:
    """Return whether *host* (a name or an address, no port) is this machine and nothing else."""
    name = host.strip("[]").rstrip(".").lower()
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


class RequestFilter:
    """ASGI middleware over HTTP and web sockets."""

    def __init__(self, app: ASGIApp, config: LoginConfig) -> None:
        self._app, self._config = app, config

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer it here: with 403, with a redirect to the login, or by closing the web socket."""
        if scope["type"] == "http":
            headers = Headers(scope=scope)
            refusal = self._refusal(headers, reading=scope["method"] in _READING) or await self._stranger(scope)
            answer: Response | None = PlainTextResponse(refusal, 403) if refusal else self._to_login(scope, headers)
            if answer is not None:
                await answer(scope, receive, send)
                return
        elif scope["type"] == "websocket" and self._refusal(Headers(scope=scope), reading=False):
            await WebSocket(scope, receive, send).close(_POLICY_VIOLATION)
            return
        await self._app(scope, receive, send)

    def _refusal(self, headers: Headers, *, reading: bool) -> str | None:
        host = headers.get("host", "")
        if self._config.logins is None:
            # Another site can point its own name to this machine (DNS rebinding), and a proxy can let anybody in.
            if not is_loopback(_name_in(host)):
                return "This server has no login and answers only to the name localhost."
            if any(name in headers for name in _FORWARDED):
                return "This server has no login and cannot be used through a proxy: start it with --login."
        origin = headers.get("origin")
        if not reading and origin is not None and not _same_place(origin, host):
            return "This request comes from another site."
        return None

    async def _stranger(self, scope: Scope) -> str | None:
        """Return the refusal of a request that needs a session and role it does not have; None to let it pass."""
        path = scope["path"]
        needed = next((role for prefix, role in _INSIDE if path.startswith(prefix)), None)
        if self._config.logins is None or needed is None or path in _OUTSIDE:
            return None
        cookies = cookie_parser(Headers(scope=scope).get("cookie", ""))
        # In a thread, since it reads the store and may have to wait.
        person = await to_thread.run_sync(self._config.person_of_cookies, cookies)
        if person is None:
            return "Log in first."
        return None if person.may(needed) else "This is not for you."

    def _to_login(self, scope: Scope, headers: Headers) -> Response | None:
        """Return a redirect to the login if a page is opened without a session cookie, else None.

        A link on another site is no reason to redirect: the browser then withholds the cookie from this request, but not from the web
        socket.
        """
        config = self._config
        if config.logins is None or config.oidc or headers.get("sec-fetch-site") not in {"none", "same-origin"}:
            return None
        # Each page of the app can be opened by its own URL.
        a_page = scope["path"] == "/" or (headers.get("sec-fetch-dest") == "document" and not scope["path"].startswith("/account/"))
        if not a_page:
            return None
        if config.cookie in cookie_parser(headers.get("cookie", "")):
            return None
        record = parse_qs(scope["query_string"].decode("latin-1")).get("record") if scope["path"] == "/work" else None
        return RedirectResponse(f"{LOGIN_PATH}?{urlencode({'record': record[0]})}" if record else LOGIN_PATH, 303)


def _name_in(host: str) -> str:
    """Return the name in a Host header, without the port; empty if it is malformed."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _same_place(origin: str, host: str) -> bool:
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and parts.netloc.lower() == host.lower()
