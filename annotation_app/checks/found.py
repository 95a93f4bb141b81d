"""One thing that the editor noticed, as the component reads it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Field = Literal["context", "question"]
Range = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A hint. ``spans`` are ids and ``ranges`` half-open code points of ``field`` that it is about.

    ``fix`` is an operation of ``piiloom.annotation_app.documents`` in its JSON form and ``fix_label`` what its button says; None where
    only a person can tell what is right. The sentence never quotes the text: the ranges show it.
    """

    code: str
    sentence: str
    field: Field = "context"
    spans: tuple[str, ...] = ()
    ranges: tuple[Range, ...] = ()
    fix: Mapping[str, Any] | None = None
    fix_label: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The check as the component takes it."""
        return {
            "code": self.code,
            "sentence": self.sentence,
            "field": self.field,
            "spans": list(self.spans),
            "ranges": [list(place) for place in self.ranges],
            "fix": None if self.fix is None else dict(self.fix),
            "fix_label": self.fix_label,
        }
