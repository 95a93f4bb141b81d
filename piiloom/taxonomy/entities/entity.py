"""What an entry of the entity catalogue is: one kind of personal information, how it looks, and how sure a match of it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

Boundary = Literal["word", "none"]
Guard = Literal["number", "dotted", "none"]
Identifier = Literal["direct", "quasi"]
Domain = Literal["Finance", "Travel", "Healthcare", "IT", "CPG", "Media"]

DOMAINS: Final[tuple[Domain, ...]] = ("Finance", "Travel", "Healthcare", "IT", "CPG", "Media")
UNIVERSAL: Final = "universal"


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityPattern:
    """One way of writing an entity. ``pattern`` is in the syntax of ``catalogue_file``.

    ``score``: how sure a match is with no context word near it, 0 to 1. ``boundary`` "word": no letter, digit or underscore adjoins a
    word character at either end (Han, kana and Hangul are written without blanks, so they may). ``guard`` "number": a match that begins
    or ends with a digit is no piece of a longer number, such as 12.345; "dotted": nor of one with full stops alone, so that a port may
    follow an address. ``preceded_by``: one of these phrases, in small letters, is directly before. ``followed_by``: one of these phrases
    is directly behind, as whole words. ``unless``: no word that begins so comes after that phrase; up to three letters are a whole word.
    ``validator``: see ``Entity``; it replaces the entity's, and "none" means that there is none.
    """

    pattern: str
    score: float
    ignore_case: bool = False
    boundary: Boundary = "word"
    guard: Guard = "number"
    preceded_by: tuple[str, ...] = ()
    followed_by: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()
    validator: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Generator:
    """Where values come from; ``pii_values.entity_values`` draws them. Exactly one of the four is given."""

    masks: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    rule: str | None = None
    draw: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity:
    """One kind of personal information of one locale, or of all ("universal").

    ``entity_type`` is one of the 15 types. ``validator`` is "stdnum:<module>", "piiloom:<function>" or "phonenumbers:<region>" (``*``
    stands for the region of the locale). ``context`` are beginnings of words, in small letters, that speak for it. ``sensitivity``:
    3 special category, 2 direct identifiers and money, 1 other. ``near_misses`` look like it and are none. ``confirmed``: a source says
    that it looks so. ``default``: it is looked for unasked; dates, say, are not. ``where`` is the file and line that defines it.
    ``form_of``: the universal entity of which it is the form in this locale, as pl_phone is of phone.
    """

    id: str
    locale: str
    name: str
    native: str
    domains: tuple[Domain, ...]
    structured: bool
    entity_type: str
    identifier: Identifier
    sensitivity: int
    priority: int
    patterns: tuple[EntityPattern, ...]
    validator: str | None
    context: tuple[str, ...]
    generator: Generator | None
    near_misses: tuple[str, ...]
    source: str
    confirmed: bool
    default: bool
    where: str
    form_of: str | None = None
