"""What a value is drawn from: a seed, the country and language of the text, whose value it is, and what stood there."""

from __future__ import annotations

from datetime import date
from typing import NamedTuple

from piiloom.surrogates.persona import Persona


class Draw(NamedTuple):
    """All that a value may depend on; equal draws give equal values in every process.

    ``country`` (ISO 3166 alpha-2) and ``language`` (ISO 639-1) are those of the text. ``owner`` is the person whose value it is.
    ``shift`` are the days by which known dates move; ``anchor`` is the day about which dates lie that the text does not tell.
    """

    seed: int
    country: str
    language: str
    anchor: date
    shift: int
    owner: Persona | None = None
    original: str = ""
    form: str = ""
    index: str = ""  # type: ignore[assignment]  # nobody looks for a place in the tuple
