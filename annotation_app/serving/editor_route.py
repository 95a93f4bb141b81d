"""The editor's script, which browsers load once and keep. It says nothing that anybody may not know."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from piiloom.annotation_app.editor.assets import address, module

# The address changes with what is behind it.
_FOR_EVER = "public, max-age=31536000, immutable"


def editor_route() -> Route:
    """What to add to the app."""
    return Route("/editor/{name}", _editor, methods=["GET"])


async def _editor(request: Request) -> Response:
    if request.url.path != address():  # of an older version, say: the page has to be loaded anew
        return PlainTextResponse("There is no such script.", 404)
    return Response(module(), media_type="text/javascript", headers={"Cache-Control": _FOR_EVER})
