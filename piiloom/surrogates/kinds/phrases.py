"""Phrase grammars: ``data/words/<language>.yaml`` compiled into templates and tuples of words.

A form is text with slots: ``{name}`` stands for an entry of that list in the file, ``{city}`` for a city of the country. List entries
may be forms themselves. ``<a|b>`` means a for men and b for women; without a known gender, a. Lists are flattened when a form is
compiled, so that a draw only makes one choice for the form and one for each slot.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from itertools import product
from typing import Final

from piiloom.foundation.errors import ConfigError
from piiloom.foundation.yaml_files import load_yaml
from piiloom.surrogates.draws import Draw
from piiloom.surrogates.kinds.files import WordsFile
from piiloom.surrogates.kinds.kind import Drawing, cased_like, numbered_seed, owned_seed, salt_of
from piiloom.surrogates.kinds.locations import city_names
from piiloom.surrogates.kinds.masks import reshaped
from piiloom.surrogates.seeds import mix, pick

FALLBACK: Final = "en"  # the language whose words are used for languages without a file
_SLOT: Final = re.compile(r"\{(\w+)\}")
_GENDERED: Final = re.compile(r"<([^|<>]*)\|([^|<>]*)>")
_SHORT: Final = re.compile(r"[A-Z]{2,5}(\d{0,4})")
_NAME: Final = re.compile(r"[^\W\d_]+")
_LARGEST: Final = 6000  # words of a flattened entry; of more combinations, this many are sampled

# A %-template and the words for each of its slots.
Form = tuple[str, tuple[tuple[str, ...], ...]]


@cache
def languages() -> tuple[str, ...]:
    """Return the languages (ISO 639-1) that have a word file; cached."""
    found = (item.name for item in (files("piiloom.surrogates") / "data" / "words").iterdir())
    return tuple(sorted(name.removesuffix(".yaml") for name in found if re.fullmatch(r"[a-z]{2}\.yaml", name)))


@cache
def _file(language: str) -> WordsFile:
    known = language if language in languages() else FALLBACK
    return load_yaml(files("piiloom.surrogates") / "data" / "words" / f"{known}.yaml", WordsFile)


def words_of(language: str) -> Mapping[str, Sequence[str]]:
    """Return the word lists of *language*, or the English ones if it has no file."""
    return _file(language).lists


@cache
def nation(country: str, language: str, *, female: bool) -> str | None:
    """Return the nationality of a person from *country* in *language*; None if the file does not have it."""
    found = _file(language).nations.get(country)
    return None if found is None else gendered(found, female=female)


def gendered(text: str, *, female: bool) -> str:
    """Return *text* with the half of each ``<a|b>`` that is meant."""
    return _GENDERED.sub(lambda m: m[2] if female else m[1], text) if "<" in text else text


@cache
def _flat(name: str, language: str, country: str, female: bool) -> tuple[str, ...]:
    """Return all words that the slot *name* may stand for. Raises ``ConfigError`` if the language has no such list."""
    if name == "city":
        return city_names(country)
    listed = words_of(language).get(name)
    if listed is None:
        raise ConfigError(f"no list {name!r}", where=f"{language}.yaml", remedy="Add it to piiloom/surrogates/data/words.")
    out: dict[str, None] = {}
    for entry in listed:
        template, slots = _compiled(gendered(entry, female=female), language, country, female)
        out.update(dict.fromkeys(template % words for words in _thinned(slots) if not _echoes(words)))
    return tuple(out)


def _echoes(words: tuple[str, ...]) -> bool:
    """Whether a compound would repeat itself ("Moor" + "moor")."""
    return len(words) == 2 and words[0].casefold() == words[1].casefold()


def _thinned(slots: tuple[tuple[str, ...], ...]) -> list[tuple[str, ...]]:
    total = 1
    for slot in slots:
        total *= len(slot)
    if total <= _LARGEST:
        return list(product(*slots))
    return [tuple(pick(mix(turn + 1, at), slot) for at, slot in enumerate(slots)) for turn in range(_LARGEST)]


def _compiled(form: str, language: str, country: str, female: bool) -> Form:
    template = _SLOT.sub("%s", form.replace("%", "%%"))
    return template, tuple(_flat(name, language, country, female) for name in _SLOT.findall(form))


@cache
def forms(kind: str, language: str, country: str, female: bool) -> tuple[Form, ...]:
    """Return the compiled forms of *kind*, in English if the language has none; cached."""
    words = words_of(language)
    known = language if kind in words else FALLBACK
    return tuple(_compiled(gendered(form, female=female), known, country, female) for form in words_of(known)[kind])


def said(form: Form, seed: int) -> str:
    """Fill each slot of *form* with a word. If a drawn word is already used, its neighbor in the list is taken instead."""
    template, slots = form
    if len(slots) == 1:
        return template % pick(mix(seed, 1), slots[0])
    words: list[str] = []
    for at, slot in enumerate(slots, 1):
        chosen = mix(seed, at) % len(slot)
        word = slot[chosen]
        words.append(slot[chosen - 1] if word in words else word)
    return template % tuple(words)


def phrase(kind: str, draw: Draw, seed: int, *, female: bool = False) -> str:
    """Draw a phrase of *kind* in the language of the text."""
    known = forms(kind, draw.language, draw.country, female)
    return said(known[seed % len(known)], seed)


def _initials(name: str) -> str:
    """Return the abbreviation of an institution's *name*: "Ellsworth Medical Center" is "EMC"."""
    words = [word for word in _NAME.findall(name) if word[0].isupper()]
    return "".join(word[0] for word in words).upper() if len(words) > 1 else name[:3].upper()


def spoken(kind: str, *, owned: bool = False, numbered: bool = False, institution: bool = False) -> Drawing:
    """Return the drawing function of *kind*, which draws from its grammar.

    With *owned*, an owner always gets the same value; with *numbered*, the same value for each index. A value equal to the original is
    drawn again, up to three times. Of an *institution* whose original is an abbreviation ("BWH", "HCS843"), it is one, too.
    """
    salt = salt_of(kind)
    seed_for: Callable[[Draw, int], int] = numbered_seed if numbered else owned_seed if owned else _own_seed

    def drawn(draw: Draw) -> str:
        female = draw.owner is not None and draw.owner.gender == "female"
        seed = seed_for(draw, salt)
        value = phrase(kind, draw, seed, female=female)
        if draw.original:
            for turn in range(1, 4):
                if value.casefold() != draw.original.casefold():
                    break
                value = phrase(kind, draw, mix(seed, turn), female=female)
            short = _SHORT.fullmatch(draw.original) if institution else None
            if short is not None:
                return _initials(value) + reshaped(short[1], seed)
            return cased_like(draw.original, value)
        return value

    drawn.__doc__ = f"A value of kind {kind!r}."
    return drawn


def _own_seed(draw: Draw, salt: int) -> int:
    return mix(draw.seed, salt)
