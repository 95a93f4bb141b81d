"""CSRF tokens: a POST counts only if its form is from a page that this server gave to the same browser."""

from __future__ import annotations

import hmac
import secrets
from hashlib import sha256


class CsrfTokens:
    """Makes and checks form tokens. The key lives as long as the process: forms from before a restart have to be reloaded."""

    def __init__(self, key: bytes | None = None) -> None:
        self._key = key or secrets.token_bytes(32)

    def token(self, purpose: str, cookie: str) -> str:
        """The token for a form of *purpose* in the browser that holds *cookie*."""
        return hmac.new(self._key, f"{purpose}\0{cookie}".encode("utf-8", "replace"), sha256).hexdigest()

    def fits(self, purpose: str, cookie: str | None, token: str) -> bool:
        """Whether *token* was made for this purpose and cookie."""
        return bool(cookie) and hmac.compare_digest(self.token(purpose, cookie or "").encode(), token.encode("utf-8", "replace"))
