"""The editor's script and styles as one text each, joined from the files of this folder."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

# A file may use what stands before it; functions may use everything once all is loaded.
SCRIPTS = (
    "points",
    "operations",
    "text_diff",
    "elements",
    "text_map",
    "words",
    "history",
    "outbox",
    "actions",
    "layout",
    "text_view",
    "highlights",
    "handles",
    "selecting",
    "span_list",
    "type_picker",
    "dialogs",
    "typing",
    "text_editing",
    "checks_view",
    "preview",
    "why",
    "keys",
    "main",
)


@cache
def script() -> str:
    """The whole editor as one module; its default export is ``mountEditor``."""
    folder = files(__package__) / "js"
    parts = [f"// {name}.js\n{(folder / f'{name}.js').read_text(encoding='utf-8')}" for name in SCRIPTS]
    return "\n".join(["'use strict';", *parts, "export default mountEditor;", ""])


@cache
def styles() -> str:
    """The editor's style sheet."""
    return (files(__package__) / "editor.css").read_text(encoding="utf-8")
