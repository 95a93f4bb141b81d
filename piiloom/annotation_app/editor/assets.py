"""The script of the editor and of the pages around it, and the editor's style sheet, each joined from the files of this folder.

Both are served at one URL path.

Streamlit sends a component's script again with every change of its data. So that script is a short loader, which imports the editor from a
route of ours. The path of that route contains a hash of the content.
"""

from __future__ import annotations

import json
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
def address() -> str:
    """Return the URL path of ``module``."""
    return f"/editor/{sha256(module().encode()).hexdigest()[:20]}.js"


@cache
def loader(mount: str = "default") -> str:
    """Return the short script that Streamlit sends. It calls the export *mount*: ``default`` (the editor) or ``mountPage``."""
    text = (data_folder("annotation_app") / "editor" / "loader.js").read_text(encoding="utf-8")
    return text.replace("__ADDRESS__", address()).replace("__MOUNT__", mount)
