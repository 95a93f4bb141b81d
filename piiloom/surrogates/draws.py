"""The arguments from which a surrogate value is drawn: seed, country, language, owner, original text."""

from __future__ import annotations

from datetime import date
from typing import NamedTuple

from piiloom.surrogates.persona_assignment.persona import Persona


class Draw(NamedTuple):
    """Everything a value may depend on. Equal draws give equal values in every process.

    ``country`` (ISO 3166 alpha-2) and ``language`` (ISO 639-1) are those of the text. ``owner`` is the person whom the value belongs
    to. ``shift`` is the number of days by which known dates move. Dates that the text does not tell are drawn relative to ``anchor``.
    ``day`` is the day of a date whose order among the others the text states.
    ``original`` is the replaced value where it is known, ``form`` the variant of the kind, ``index`` the placeholder's number.
    ``style`` is the seed of the document's ways of writing.
    """

    seed: int
    country: str
    language: str
    anchor: date
    shift: int
    owner: Persona | None = None
    original: str = ""
    form: str = ""
    index: str = ""  # type: ignore[assignment]  # hides tuple.index, which is not used
    day: date | None = None
    style: int = 0
