"""Predictions for the Text Anonymization Benchmark (TAB): one JSON object ``{doc_id: [[start, end], …]}``, read as a whole.

Its gold standard is the format ``tab`` of ``piiloom.corpus.formats``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import orjson
from pydantic import Field, TypeAdapter, ValidationError

from piiloom.evaluation.inputs.documents import Document, Mention
from piiloom.foundation.errors import DataError, UsageError

_FORM = "Compare it with docs/schemes.md, tab"

_Offset = Annotated[int, Field(ge=0, strict=True)]
_PLACES = TypeAdapter(list[tuple[_Offset, _Offset]])


def read_tab_predictions(path: Path) -> Iterator[Document]:
    """Yield what is predicted for each document. The file has no texts; pairing adds them.

    Raises ``DataError`` (file, document) for what has another form.
    """
    rows = _loaded(path)
    if not isinstance(rows, dict):
        raise DataError("is not a JSON object of lists of ranges by document", where=path.name, remedy=_FORM)
    for name, listed in rows.items():
        where = f"{path.name}: {name}"
        try:
            places = _PLACES.validate_python(listed)
        except ValidationError as error:
            at = "".join(f"[{step}]" for step in error.errors()[0]["loc"])
            raise DataError(f"{at or 'the value'} is not [start, end]", where=where, remedy=_FORM) from error
        mentions = (Mention(text="", entity_type=None, start=start, end=end) for start, end in places)
        yield Document(where=where, id=name, mentions=tuple(mentions))


def _loaded(path: Path) -> object:
    try:
        content: object = orjson.loads(path.read_bytes())
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror}", where=path.name, remedy="Check the path") from error
    except orjson.JSONDecodeError as error:
        raise DataError(f"is not valid JSON (line {error.lineno})", where=path.name, remedy=_FORM) from error
    if not content:
        raise DataError("holds no document", where=path.name, remedy=_FORM)
    return content
