"""Middleware that answers for Streamlit what its front end asks about its host: no dialogs about errors.

Streamlit's dialog about a lost connection would cover the editor and take the keys, though the work can go on: ``page_connection.js``
tells it in a line instead. The front end asks again after each reconnection. It is no route, since Streamlit keeps this path to itself.
"""

from __future__ import annotations

from typing import Any, Final

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

PATH: Final = "/_stcore/host-config"
# The keys of Streamlit's own answer. Nobody may embed the app (see security_headers.py), so there is no host to hear messages from;
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
