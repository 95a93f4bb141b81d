"""The route of the editor's script, which browsers load once and keep. It needs no login: the script holds nothing private."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from piiloom.annotation_app.editor.assets import address, module

# Cached forever, since the path changes with the content.
_FOR_EVER = "public, max-age=31536000, immutable"


def editor_route() -> Route:
    """Return the route to add to the app."""
    return Route("/editor/{name}", _editor, methods=["GET"])


async def _editor(request: Request) -> Response:
    if request.url.path != address():  # for example of an older version: the page has to be reloaded
        return PlainTextResponse("There is no such script.", 404)
    return Response(module(), media_type="text/javascript", headers={"Cache-Control": _FOR_EVER})
