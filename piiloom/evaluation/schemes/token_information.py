"""How much a masked token would have told: the information content that a language model gives it, from a file.

The file has one JSON object a line and document, ``{"id": "d1", "tokens": [{"start": 0, "end": 4, "probability": 0.02}, …]}``, with
``probability`` (above 0, at most 1) or ``log_probability`` (natural logarithm, at most 0): how likely the model finds what stands there,
without seeing it. Tokens are half-open code-point ranges, sorted by start and by end, none of them empty. Text between them tells
nothing.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeGuard

import orjson

from piiloom.evaluation.inputs.documents import Document
from piiloom.foundation.errors import DataError, UsageError

# The information content of [start, end) of a document.
Weigh = Callable[[int, int], float]


def uniform(_start: int, _end: int) -> float:
    """Return 1 for every range."""
    return 1.0


@dataclass(frozen=True, slots=True)
class _Tokens:
    starts: Sequence[int]
    ends: Sequence[int]
    contents: Sequence[float]

    def weigh(self, start: int, end: int) -> float:
        """Return -ln p of the least likely token that has a part of [start, end), as the paper's script does; 0 if there is none."""
        first, last = bisect_right(self.ends, start), bisect_left(self.starts, end)
        return max(self.contents[first:last], default=0.0)


class TokenInformation:
    """A file of token probabilities. All of it is checked at once; kept is where each document stands in it, not its tokens."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._offsets: dict[str, tuple[int, int]] = {}
        for number, offset, line in _lines(path):
            where = f"{path.name}:{number}"
            name, _ = _parsed(line, where)
            if name in self._offsets:
                raise DataError(f"id {name!r} is in line {self._offsets[name][0]} already", where=where, remedy="Give each document once")
            self._offsets[name] = (number, offset)
        if not self._offsets:
            raise DataError("holds no document", where=path.name, remedy='Write {"id": …, "tokens": […]} a line and document')

    def of(self, document: Document) -> Weigh:
        """Return the information content of the ranges of *document*.

        Raises ``DataError`` if the file lacks it, or has tokens beyond the end of its text.
        """
        if document.id is None or document.id not in self._offsets:
            name = "a document without an id" if document.id is None else f"document {document.id!r}"
            raise DataError(f"has no token probabilities of {name}", where=self._path.name, remedy="Give those of all documents, by id")
        number, offset = self._offsets[document.id]
        with self._path.open("rb") as file:
            file.seek(offset)
            _, tokens = _parsed(file.readline(), f"{self._path.name}:{number}")
        if document.text is not None and tokens.ends and tokens.ends[-1] > len(document.text):
            what = f"a token ends at {tokens.ends[-1]}, the text of document {document.id!r} at {len(document.text)}"
            raise DataError(what, where=f"{self._path.name}:{number}", remedy="Compute the probabilities from the same texts")
        return tokens.weigh


def _lines(path: Path) -> Iterator[tuple[int, int, bytes]]:
    offset = 0
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    yield number, offset, line
                offset += len(line)
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror}", where=path.name, remedy="Check the path") from error


def _parsed(line: bytes, where: str) -> tuple[str, _Tokens]:
    try:
        row = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise DataError("is not valid JSON", where=where, remedy="Write one JSON object a line") from error
    if not isinstance(row, dict) or not isinstance(row.get("id"), str) or not isinstance(row.get("tokens"), list):
        raise DataError("has not the two keys id (text) and tokens (a list)", where=where, remedy='Write {"id": …, "tokens": […]}')
    starts: list[int] = []
    ends: list[int] = []
    contents: list[float] = []
    for at, token in enumerate(row["tokens"]):
        spot = f"{where}: tokens[{at}]"
        start, end = _place(token, spot)
        if starts and (start < starts[-1] or end < ends[-1]):
            raise DataError("stands before the one before it", where=spot, remedy="Sort the tokens by start and end")
        starts.append(start)
        ends.append(end)
        contents.append(_content(token, spot))
    return row["id"], _Tokens(starts, ends, contents)


def _place(token: Any, where: str) -> tuple[int, int]:
    start, end = (token.get("start"), token.get("end")) if isinstance(token, dict) else (None, None)
    if type(start) is not int or type(end) is not int or not 0 <= start < end:
        raise DataError("start and end are no range of the text", where=where, remedy="Leave out what stands for no text, such as [CLS]")
    return start, end


def _content(token: dict[str, Any], where: str) -> float:
    probability, logarithm = token.get("probability"), token.get("log_probability")
    if _is_number(probability) and logarithm is None and 0 < probability <= 1:
        return -math.log(probability)
    if _is_number(logarithm) and probability is None and -math.inf < logarithm <= 0:
        return -float(logarithm)
    raise DataError(
        "states no probability", where=where, remedy="Give either probability, 0 < p <= 1, or log_probability, its natural logarithm"
    )


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)
