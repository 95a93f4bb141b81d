"""What is known of a place in a text where a surrogate goes."""

from __future__ import annotations

from typing import Literal, NamedTuple

Same = Literal["mention", "document", "corpus"]
Gender = Literal["female", "male"]


class Mention(NamedTuple):
    """``[start, end)`` code points of the input text, and what the placeholder (or the span given) tells.

    ``kind`` is one of ``data/kinds.yaml``. Mentions of one kind family with equal ``role`` and ``index`` are one person, place …
    within ``same``; ``same="mention"`` makes each a new one. ``form`` is how a name stands there ("full", "given", "family",
    "initials", "nick", "family_given") or a variant of another kind; "" leaves it to the kind. ``gender`` is what the role
    says ("dochter"); ``original`` what stood there, where that is known; ``plural``: two or more people. ``rule`` names the
    mapping rule that found it.
    """

    start: int
    end: int
    kind: str
    role: str = ""
    index: str = ""  # type: ignore[assignment]  # nobody looks for a place in the tuple
    same: Same = "document"
    form: str = ""
    gender: Gender | None = None
    original: str = ""
    plural: bool = False
    rule: str = ""
