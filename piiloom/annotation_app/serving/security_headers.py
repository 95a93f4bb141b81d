"""Security headers on every answer: what a page may load, and who may frame it.

Streamlit's own page has one inline script, which is allowed by its hash. ``blob:`` is allowed because the browser loads component scripts
that way, and inline styles because the front end's styling library makes them at run time.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable
from hashlib import sha256
from typing import Final

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_INLINE = re.compile(r"<script>(.*?)</script>", re.DOTALL)
_FIXED: Final = {
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
                for name, value in _FIXED.items():
                    headers[name] = value
            await send(message)

        await self._app(scope, receive, with_headers)
