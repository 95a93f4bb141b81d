"""Lay sentences out in the style of a register: prose with paragraphs, a list, or a mail."""

from __future__ import annotations

import random
from collections.abc import Sequence

from piiloom.generation.composer.filling import capitalised
from piiloom.taxonomy.registers import Register

_SUBJECT = 0.4  # share of mails with a subject line
_BULLETS = ("- ", "* ", "• ", "")


def lay_out(
    units: Sequence[str],
    register: Register,
    *,
    opener: str | None,
    closer: str | None,
    quoted: str | None,
    subject_word: str | None,
    topic: str,
    rng: random.Random,
) -> str:
    """Join *units* in the register's layout, with *opener* before and *closer* after them.

    A mail sometimes gets a subject line (*subject_word* and *topic*) above, and *quoted* below if it is given.
    """
    if register.layout == "list":
        bullet = rng.choice(_BULLETS)
        return "\n".join([*([opener] if opener else []), *(bullet + unit for unit in units), *([closer] if closer else [])])
    body = _paragraphs([*([opener] if opener and register.layout != "mail" else []), *units], register.paragraphs, rng)
    if register.layout == "mail":
        subject = f"{subject_word}: {capitalised(topic)}" if subject_word and rng.random() < _SUBJECT else None
        below = "\n".join(f"> {line}" for line in quoted.split("\n")) if quoted else None
        return "\n\n".join(part for part in (subject, opener, body, closer, below) if part)
    return body + (("\n\n" if rng.random() < register.paragraphs else " ") + closer if closer else "")


def _paragraphs(units: Sequence[str], chance: float, rng: random.Random) -> str:
    text = units[0] if units else ""
    for unit in units[1:]:
        text += ("\n\n" if rng.random() < chance else " ") + unit
    return text
