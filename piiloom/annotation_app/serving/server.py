"""Serving the app: one process, one store, Streamlit with our routes and middleware, on a socket that is bound beforehand."""

from __future__ import annotations

import errno
import signal
import socket
from contextlib import suppress
from pathlib import Path
from typing import Final

import streamlit as st
import uvicorn
from starlette.middleware import Middleware

from piiloom.annotation_app.serving.current_user import use_login_config
from piiloom.annotation_app.serving.download_routes import DownloadRoutes
from piiloom.annotation_app.serving.editor_route import editor_route
from piiloom.annotation_app.serving.host_config import HostConfig
from piiloom.annotation_app.serving.login_config import LoginConfig
from piiloom.annotation_app.serving.login_routes import LoginRoutes
from piiloom.annotation_app.serving.request_filter import RequestFilter
from piiloom.annotation_app.serving.security_headers import SecurityHeaders, content_policy, inline_hashes
from piiloom.annotation_app.serving.services import Services, set_services
from piiloom.annotation_app.serving.streamlit_settings import apply_settings
from piiloom.foundation.data_files import data_folder
from piiloom.foundation.errors import PiiloomError, UsageError

SCRIPT: Final = data_folder("annotation_app") / "app.py"
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


def make_app(config: LoginConfig) -> st.App:
    """Return the app for *config*. This also configures Streamlit for the process."""
    apply_settings()
    use_login_config(config)
    page = Path(st.__file__).parent / "static" / "index.html"
    policy = content_policy(inline_hashes(page.read_text(encoding="utf-8")))
    return st.App(
        SCRIPT,
        routes=[*LoginRoutes(config).routes(), *DownloadRoutes(config).routes(), editor_route()],
        middleware=[Middleware(SecurityHeaders, policy=policy), Middleware(RequestFilter, config=config), Middleware(HostConfig)],
    )


def serve(config: LoginConfig, services: Services, listener: socket.socket) -> None:
    """Serve in the main thread until SIGINT or SIGTERM, and return when all is stopped.

    With ``config.behind_https``, a proxy on this machine, or on one that ``FORWARDED_ALLOW_IPS`` names, is trusted about the client's
    address and the scheme. Otherwise no proxy is trusted.
    """
    set_services(services)
    # uvicorn stops in order and then raises the signal again. By default, SIGTERM would end the process before the store is closed.
    former = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        app = make_app(config)
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
