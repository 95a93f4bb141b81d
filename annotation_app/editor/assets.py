"""The editor's script and styles as one text each, joined from the files of this folder, and where browsers find them.

Streamlit sends a component's script along with every change of its data. So that script is a few lines, which load the editor
from a route of ours; its address changes with what it holds.
"""

from __future__ import annotations

import json
from functools import cache
from hashlib import sha256
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
    "finding",
    "touching",
    "span_list",
    "type_picker",
    "dialogs",
    "typing",
    "text_editing",
    "checks_view",
    "preview",
    "why",
    "keys",
    "courier",
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


@cache
def module() -> str:
    """What is served: the script, which exports the styles as well."""
    return f"{script()}export const styles = {json.dumps(styles())};\n"


@cache
def address() -> str:
    """The path at which browsers find ``module``."""
    return f"/editor/{sha256(module().encode()).hexdigest()[:20]}.js"


@cache
def loader() -> str:
    """The few lines that Streamlit sends."""
    return (files(__package__) / "loader.js").read_text(encoding="utf-8").replace("__ADDRESS__", address())
