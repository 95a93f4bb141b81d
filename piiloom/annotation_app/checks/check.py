"""One hint of the editor, in the form in which the component reads it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from piiloom.foundation.words import Range

Field = Literal["context", "question"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A hint on the spans with the ids ``spans`` and on the half-open code point ``ranges`` of ``field``.

    ``fix`` is an operation of ``piiloom.annotation_app.documents`` in JSON form, ``fix_label`` the label of its button. Both are None if a
    person has to decide. The sentence never quotes the text: the ranges show it.
    """

    code: str
    sentence: str
    field: Field = "context"
    spans: tuple[str, ...] = ()
    ranges: tuple[Range, ...] = ()
    fix: Mapping[str, Any] | None = None
    fix_label: str | None = None
