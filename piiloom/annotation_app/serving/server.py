"""Serving the app: one process, one store, Streamlit with our routes, middleware and settings, on a socket that is bound beforehand.

The settings apply over any ``config.toml``. Its theme is kept; settings that weaken security are not.
"""

from __future__ import annotations

import errno
import signal
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Final

import streamlit as st
import uvicorn
from starlette.middleware import Middleware
from starlette.routing import Route
from streamlit import config
from streamlit import config as streamlit_config
from streamlit.logger import set_log_level
from streamlit.runtime.pages_manager import PagesManager

from piiloom.annotation_app.serving.current_user import LoginConfig, use_login_config
from piiloom.annotation_app.serving.middleware import HostConfig, RequestFilter, SecurityHeaders, content_policy, inline_hashes
from piiloom.annotation_app.serving.routes import LoginRoutes, download_routes, editor_script
from piiloom.annotation_app.serving.services import Services, set_services
from piiloom.foundation.errors import PiiloomError, UsageError

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
