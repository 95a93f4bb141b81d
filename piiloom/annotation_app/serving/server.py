"""Serving the app: one process, one store, Streamlit with our routes, middleware and settings, on a socket that is bound beforehand.

The settings apply over any ``config.toml``. Its theme is kept; settings that weaken security are not.

The filter refuses requests that another site made a browser send. Without login, it refuses what does not come from a browser on this
machine. With login, it refuses requests without a session for what only logged-in pages use: files to and from the pages, and server
metrics. Streamlit itself accepts a web socket if the *host* of its Origin is local, whatever the port; here both must match.

Streamlit's own page has one inline script, which is allowed by its hash. ``blob:`` is allowed because the browser loads component scripts
that way, and inline styles because the front end's styling library makes them at run time.

Streamlit's dialog about a lost connection would cover the editor and take the keys, though the work can go on: ``page_connection.js``
tells it in a line instead. The front end asks again after each reconnection. It is no route, since Streamlit keeps this path to itself.
"""

from __future__ import annotations

import base64
import errno
import ipaddress
import re
import signal
import socket
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, urlencode, urlsplit

import streamlit as st
import uvicorn
from anyio import to_thread
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.requests import cookie_parser
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket
from streamlit import config
from streamlit import config as streamlit_config
from streamlit.logger import set_log_level
from streamlit.runtime.pages_manager import PagesManager

from piiloom.annotation_app.people.accounts import AppRole
from piiloom.annotation_app.serving.current_user import (
    LOGIN_PATH,
    LoginConfig,
    LoginRoutes,
    download_routes,
    editor_script,
    use_login_config,
)
from piiloom.annotation_app.serving.services import Services, set_services
from piiloom.foundation.errors import PiiloomError, UsageError

_READING: Final = frozenset({"GET", "HEAD"})
# A proxy adds at least one of these.
_FORWARDED: Final = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip", "via")
_POLICY_VIOLATION: Final = 1008
# Streamlit serves these to anyone who knows the path, but its pages use them only after the login. As (path prefix, role needed); the first
# match counts.
_INSIDE: Final[tuple[tuple[str, AppRole], ...]] = (
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
        if not self._config.may_be_forwarded and any(name in headers for name in _FORWARDED):
            return "This server cannot be used through a proxy: start it with --behind-https."
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


_INLINE = re.compile(r"<script>(.*?)</script>", re.DOTALL)
_SECURITY_HEADERS: Final = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # A form posted from a page without any referrer would have the Origin "null".
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}


def content_policy(script_hashes: Iterable[str] = ()) -> str:
    """Return the Content-Security-Policy: only our own resources and *script_hashes*, no frame around or inside, no ``eval``."""
    scripts = " ".join(["'self'", "blob:", *script_hashes])
    return "; ".join((
        "default-src 'none'",
        f"script-src {scripts}",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "media-src 'self' data: blob:",
        "font-src 'self' data:",
        "connect-src 'self'",
        "worker-src 'self' blob:",
        "manifest-src 'self'",
        "form-action 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
    ))  # fmt: skip


def inline_hashes(page: str) -> list[str]:
    """Return the hashes of the inline scripts of an HTML page, in the form that a policy takes."""
    return [f"'sha256-{base64.b64encode(sha256(body.encode()).digest()).decode()}'" for body in _INLINE.findall(page)]


class SecurityHeaders:
    """ASGI middleware that sets the headers on every HTTP answer, whichever route made it."""

    def __init__(self, app: ASGIApp, policy: str) -> None:
        self._app, self._policy = app, policy

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on and add the headers to its answer."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers["Content-Security-Policy"] = self._policy
                for name, value in _SECURITY_HEADERS.items():
                    headers[name] = value
            await send(message)

        await self._app(scope, receive, with_headers)


PATH: Final = "/_stcore/host-config"
# The keys of Streamlit's own answer. Nobody may embed the app (see ``SecurityHeaders``), so there is no host to hear messages from;
# but with an empty list the front end would wait for one forever.
_ANSWER: Final[dict[str, Any]] = {
    "allowedOrigins": ["https://nobody.invalid"],
    "useExternalAuthToken": False,
    "enableCustomParentMessages": False,
    "enforceDownloadInNewTab": False,
    "metricsUrl": "",
    "blockErrorDialogs": True,
    "resourceCrossOriginMode": None,
}


class HostConfig:
    """ASGI middleware over HTTP."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer the one question, and pass everything else on."""
        if scope["type"] == "http" and scope["path"] == PATH and scope["method"] == "GET":
            await JSONResponse(_ANSWER, headers={"Cache-Control": "no-cache"})(scope, receive, send)
            return
        await self._app(scope, receive, send)


# Uploads are kept in memory. A record takes about a thousand characters.
MOST_UPLOADED_MB: Final = 100

_FIXED: Final[dict[str, Any]] = {
    "browser.gatherUsageStats": False,
    "client.showErrorDetails": "none",  # a traceback could quote a record
    "client.showErrorLinks": False,
    "client.toolbarMode": "minimal",
    "global.developmentMode": False,
    "runner.magicEnabled": False,
    "runner.postScriptGC": False,  # a full collection after each run took as long as the run
    "server.baseUrlPath": "",
    "server.corsAllowedOrigins": [],
    "server.enableAgentApi": False,
    "server.enableCORS": True,  # despite the name, True turns the protection on
    "server.enableStaticServing": False,
    "server.enableXsrfProtection": True,
    "server.fileWatcherType": "none",
    "server.headless": True,
    "server.maxUploadSize": MOST_UPLOADED_MB,
    "server.runOnSave": False,
    "server.showEmailPrompt": False,
    "server.trustedUserHeaders": {},
    "server.xsrfCookieSameSite": "strict",
}


def bound_address() -> tuple[str, int]:
    """Return the host and port that ``streamlit run`` has bound. Raises ``UsageError`` if it was given no host: then it listens at all."""
    host = config.get_option("server.address")
    if host is None:
        raise UsageError(
            "Streamlit was given no address, and listens at all of this machine",
            where="--server.address",
            remedy="Give --server.address 127.0.0.1 before --, or keep .streamlit/config.toml beside app.py",
        )
    return host, config.get_option("server.port")


def apply_settings() -> None:
    """Configure Streamlit for this process. Call it before anything reads a setting; calling it again is harmless.

    It also turns off Streamlit's folder ``pages``: a URL could run scripts in it without running ours. There is no such folder now.
    """
    PagesManager.uses_pages_directory = False
    for name, value in _FIXED.items():
        config.set_option(name, value, "piiloom")
    set_log_level("WARNING")


PAGE_SCRIPT: Final = Path(__file__).parents[1] / "page.py"
# Seconds that requests in progress may take when the server is told to stop.
_GRACE_S: Final = 3


def bind(host: str, port: int) -> socket.socket:
    """Bind *port* (0: any free one) of *host*, listen, and return the socket.

    Raises ``UsageError`` if *host* cannot be resolved or is the address of another machine. Raises ``PiiloomError`` if the port cannot be
    used.
    """
    try:
        family, _, _, _, address = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise _not_here(host) from error
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(address)
        listener.listen(128)
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRNOTAVAIL:
            raise _not_here(host) from error
        remedy = "Is the app running already? Otherwise choose another port with --port"
        raise PiiloomError(f"port {port} of {host} cannot be used ({error.strerror})", where="--port", remedy=remedy) from error
    return listener


def _not_here(host: str) -> UsageError:
    return UsageError(f"{host!r} is not an address of this machine", where="--host", remedy="Use 127.0.0.1 to serve this machine only")


def url_of(listener: socket.socket, host: str) -> str:
    """Return the URL of what is served on *listener*."""
    name = host.strip("[]")
    return f"http://{f'[{name}]' if ':' in name else name}:{listener.getsockname()[1]}"


def app_arguments(config: LoginConfig) -> dict[str, Any]:
    """Return the arguments of the ``st.App`` for *config*. This also configures Streamlit for the process."""
    apply_settings()
    use_login_config(config)
    page = Path(st.__file__).parent / "static" / "index.html"
    policy = content_policy(inline_hashes(page.read_text(encoding="utf-8")))
    return {
        "script_path": PAGE_SCRIPT,
        "routes": [*LoginRoutes(config).routes(), *download_routes(config), Route("/editor/{name}", editor_script, methods=["GET"])],
        "middleware": [Middleware(SecurityHeaders, policy=policy), Middleware(RequestFilter, config=config), Middleware(HostConfig)],
    }


def arguments_under_streamlit(config: LoginConfig, services: Services, *, closed: Callable[[], None]) -> dict[str, Any]:
    """Return the arguments of the ``st.App`` in a process of ``streamlit run``, whose server binds the port and handles signals.

    When that server stops, *services* are closed, and *closed* is called.
    """

    @asynccontextmanager
    async def lifespan(_: st.App) -> AsyncIterator[None]:
        try:
            yield
        finally:
            services.close()
            closed()

    set_services(services)
    arguments = app_arguments(config)
    # ``streamlit run`` reads a changed config.toml again, which would undo our settings.
    streamlit_config.on_config_parsed(apply_settings, force_connect=True)
    return {**arguments, "lifespan": lifespan}


def serve(config: LoginConfig, services: Services, listener: socket.socket) -> None:
    """Serve in the main thread until SIGINT or SIGTERM, and return when all is stopped.

    With ``config.behind_https``, a proxy on this machine, or on one that ``FORWARDED_ALLOW_IPS`` names, is trusted about the client's
    address and the scheme. Otherwise no proxy is trusted.
    """
    set_services(services)
    # uvicorn stops in order and then raises the signal again. By default, SIGTERM would end the process before the store is closed.
    former = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        app = st.App(**app_arguments(config))
        settings = uvicorn.Config(
            app,
            log_config=None,
            log_level="warning",
            access_log=False,
            server_header=False,
            proxy_headers=config.behind_https,
            timeout_graceful_shutdown=_GRACE_S,
            ws="websockets-sansio",
            ws_ping_interval=30,
            ws_ping_timeout=30,
            ws_per_message_deflate=False,
        )
        with suppress(KeyboardInterrupt):
            uvicorn.Server(settings).run(sockets=[listener])
    finally:
        signal.signal(signal.SIGTERM, former)
        use_login_config(None)
        set_services(None)
