"""An OpenID Connect provider that lets everybody in who asks, as the person it is told: for tests, on this machine."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager

import uvicorn
from joserfc import jwt
from joserfc.jwk import RSAKey
from starlette.applications import Starlette
from starlette.responses import JSONResponse, RedirectResponse
from starlette.routing import Route

from piiloom.annotation_app.serving.server import bind


class SmallProvider:
    """``claims`` is what it says about the next person."""

    def __init__(self, url: str, claims: dict) -> None:
        self.url, self.claims = url, claims
        self._key = RSAKey.generate_key(2048, {"kid": "test"})
        self._nonces: dict[str, str] = {}

    def app(self):
        return Starlette(
            routes=[
                Route("/.well-known/openid-configuration", self.metadata),
                Route("/authorize", self.authorize),
                Route("/token", self.token, methods=["POST"]),
                Route("/keys", self.keys),
            ]
        )

    async def metadata(self, request):
        return JSONResponse({
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "jwks_uri": f"{self.url}/keys",
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"],
        })  # fmt: skip

    async def authorize(self, request):
        asked = request.query_params
        code = f"code{len(self._nonces)}"
        self._nonces[code] = asked.get("nonce", "")
        return RedirectResponse(f"{asked['redirect_uri']}?code={code}&state={asked['state']}", 302)

    async def token(self, request):
        code = (await request.form())["code"]
        now = int(time.time())
        claims = {"iss": self.url, "aud": "piiloom", "iat": now, "exp": now + 600, "nonce": self._nonces[code], **self.claims}
        signed = jwt.encode({"alg": "RS256", "kid": "test"}, claims, self._key)
        return JSONResponse({"access_token": "x", "token_type": "Bearer", "expires_in": 600, "id_token": signed})

    async def keys(self, request):
        return JSONResponse({"keys": [self._key.as_dict(private=False)]})


@contextmanager
def provider(**claims):
    """A provider that runs in a thread and says *claims*."""
    with bind("127.0.0.1", 0) as listener:
        made = SmallProvider(f"http://127.0.0.1:{listener.getsockname()[1]}", claims)
        server = uvicorn.Server(uvicorn.Config(made.app(), log_config=None, access_log=False))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        try:
            yield made
        finally:
            server.should_exit = True
            thread.join(timeout=10)
