"""Write the name of a persona in the way of a known original: its titles, initials, order, capitals and signs stay as they are."""

from __future__ import annotations

import re
from typing import Final

from piiloom.surrogates.known_names import NamedPart, is_family_alone, parts_of
from piiloom.surrogates.persona_assignment.persona import Persona
from piiloom.surrogates.seeds import mix

_SIBILANT: Final = frozenset("sxz")
_PLURAL: Final = re.compile(r"e?s\b", re.IGNORECASE)
_LETTERS: Final = "ABCDEFGHJKLMNPRSTVW"
_MIDDLE: Final = 0x3D
_TWO: Final = 2

Block = tuple[int, int, str]


def written_like(original: str, persona: Persona, style: str, language: str = "") -> str:
    """Return the name of *persona* as *original* is written; *style* tells what a single word is ("given" or "family").

    The letters of a name are replaced block by block: given name, further initials, family name. All else of *original* is kept: titles,
    "the Smiths", "et al.". *language* is the text's.
    """
    words = parts_of(original, language)
    if not words:
        return persona.family
    out: list[str] = []
    at = 0
    for start, end, value in _blocks(original, words, persona, style):
        out.append(original[at:start])
        out.append(_cased(original[start:end], value))
        at = end
    plural = _PLURAL.match(original, at) if at and original[at - 1].isalpha() else None
    if plural is None:
        return "".join(out) + original[at:]
    ending = "es" if out[-1][-1] in _SIBILANT else "s"
    return "".join(out) + (ending.upper() if plural.group().isupper() else ending) + original[plural.end() :]


def _blocks(original: str, words: list[NamedPart], persona: Persona, style: str) -> list[Block]:
    """Return start, end and new text of each part of the name in *original*, in text order."""
    comma = original.find(",", words[0].end)
    later = [word for word in words if word.start > comma] if comma >= 0 else []
    if later and len(later) < len(words):
        head = words[: len(words) - len(later)]
        return [(head[0].start, head[-1].end, persona.family), *_given_first(later, persona, alone=True)]
    if is_family_alone(original, words):
        return [(words[0].start, words[-1].end, persona.family)]
    if len(words) == 1:
        return [_single(words[0], persona, style)]
    return _given_first(words, persona, alone=False)


def _single(word: NamedPart, persona: Persona, style: str) -> Block:
    text = word.text
    if len(text) == 1:
        return word.start, word.end, (persona.family if style == "family" else persona.given)[0]
    if len(text) == _TWO and text.isupper():
        return word.start, word.end, persona.given[0] + persona.family[0]
    return word.start, word.end, persona.given if style == "given" else persona.family


def _given_first(words: list[NamedPart], persona: Persona, *, alone: bool) -> list[Block]:
    """Return the parts of a name that begins with the given name; *alone*: there is no family name in it."""
    first = words[0]
    single = len(first.text) == 1
    blocks = [(first.start, first.end, persona.given[0] if single else persona.given)]
    rest = words[1:]
    turn = 0
    while rest and len(rest[0].text) == 1 and (len(rest) > 1 or alone):
        letter = _LETTERS[mix(persona.seed, _MIDDLE + turn) % len(_LETTERS)]
        blocks.append((rest[0].start, rest[0].end, letter))
        rest, turn = rest[1:], turn + 1
    if rest and alone:
        blocks[0] = (first.start, rest[-1].end, persona.given)  # two given names after a comma
        return blocks[:1]
    if rest:
        only = len(rest) == 1 and len(rest[0].text) == 1
        blocks.append((rest[0].start, rest[-1].end, persona.family[0] if only else persona.family))
    return blocks


def _cased(old: str, new: str) -> str:
    """Return *new* in the capitals of *old*, where it has only capitals or none."""
    if old.islower():
        return new.lower()
    return new.upper() if old.isupper() else new[0].upper() + new[1:]
