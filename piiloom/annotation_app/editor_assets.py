"""The script of the editor and of the pages around it, its style sheet, and a color for each entity type.

Scripts and styles are joined from the files of the editor's folder and served at one URL path. Streamlit sends a component's script again
with every change of its data. So that script is a short loader, which imports the editor from a route of ours. The path of that route
contains a hash of the content.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cache
from hashlib import sha256

from piiloom.foundation.yaml_files import data_folder

# In load order: top-level code may use earlier files only; the bodies of functions may use all files.
SCRIPTS = (
    "points",
    "operations",
    "suggestion_operations",
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
    "suggestions",
    "suggestions_view",
    "checks_view",
    "preview",
    "why",
    "keys",
    "without_record",
    "main",
    "page_keys",
    "page_connection",
    "page_clicks",
    "page_main",
)
STYLES = ("editor.css", "suggestions.css")


@cache
def script() -> str:
    """Return the whole editor as one JavaScript module, whose default export is ``mountEditor``."""
    folder = data_folder("annotation_app") / "editor" / "js"
    parts = [f"// {name}.js\n{(folder / f'{name}.js').read_text(encoding='utf-8')}" for name in SCRIPTS]
    return "\n".join(["'use strict';", *parts, "export default mountEditor;", ""])


@cache
def styles() -> str:
    """The editor's style sheet."""
    return "".join((data_folder("annotation_app") / "editor" / name).read_text(encoding="utf-8") for name in STYLES)


@cache
def module() -> str:
    """Return the module that is served: the script, plus exports of what pages do, and of the style sheet."""
    return f"{script()}export {{ mountPage }};\nexport const styles = {json.dumps(styles())};\n"


@cache
def module_address() -> str:
    """Return the URL path of ``module``."""
    return f"/editor/{sha256(module().encode()).hexdigest()[:20]}.js"


@cache
def loader(mount: str = "default") -> str:
    """Return the short script that Streamlit sends. It calls the export *mount*: ``default`` (the editor) or ``mountPage``."""
    text = (data_folder("annotation_app") / "editor" / "loader.js").read_text(encoding="utf-8")
    return text.replace("__ADDRESS__", module_address()).replace("__MOUNT__", mount)


# Ordered so that neighbors in a list differ most.
_COLOURS = (
    "#3b82c4",
    "#c46a1b",
    "#2e9e6b",
    "#b4459f",
    "#8a8f1f",
    "#6a5acd",
    "#c9485b",
    "#1f9aa8",
    "#9a6b3f",
    "#5f8f2f",
    "#d05a9a",
    "#4f6fb0",
    "#b58b00",
    "#7d4fa8",
    "#4a8c7f",
)
# For own types: between the hues above.
_FURTHER = ("#a8556b", "#3f8fae", "#9b5fc0", "#7f8a4a", "#c2603f", "#5c7fc9", "#3f9a4f", "#b06f8f", "#8b7a2f")


def colours(types: Iterable[str]) -> Mapping[str, str]:
    """Return a color for each of *types*, in order. The colors repeat if there are more types than colors.

    Own types follow the shipped ones, in the order in which the store got them, so that a type keeps its color.
    """
    ordered = (*_COLOURS, *_FURTHER)
    return {name: ordered[place % len(ordered)] for place, name in enumerate(types)}
