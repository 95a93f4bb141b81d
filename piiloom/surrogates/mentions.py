"""A mention: a range of a text that a surrogate replaces, and what is known about it."""

from __future__ import annotations

from typing import Literal, NamedTuple

Same = Literal["mention", "document", "corpus"]
Gender = Literal["female", "male"]


class Mention(NamedTuple):
    """A range ``[start, end)`` of the input text (code points), and what the placeholder or the given span says about it.

    ``kind`` is one of ``data/kinds.yaml``. Mentions of one kind with equal ``role`` and ``index`` are the same person, place …
    within the scope ``same``; with ``same="mention"`` each one without ``index`` is a new one. ``form`` is the form of a name
    ("full", "given", "family", "initials", "nick", "family_given") or a variant of another kind; "" leaves it to the kind.
    ``gender`` is the gender that the role implies ("dochter"). ``original`` is the replaced text, where it is known.
    ``plural``: two or more people. ``rule`` names the mapping rule that found the mention.
    """

    start: int
    end: int
    kind: str
    role: str = ""
    index: str = ""  # type: ignore[assignment]  # hides tuple.index, which is not used
    same: Same = "document"
    form: str = ""
    gender: Gender | None = None
    original: str = ""
    plural: bool = False
    rule: str = ""
