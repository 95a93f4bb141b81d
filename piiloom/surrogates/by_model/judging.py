"""Check whether a reply is a value that fits the gap. The fault is told to the model in a message that never quotes the reply."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection
from typing import Any, Final

from piiloom.corpus.record import Record
from piiloom.execution.calls import Fault
from piiloom.foundation.words import WORD, whole_word
from piiloom.screening.gate import Expectations
from piiloom.screening.identifiers import find_identifiers
from piiloom.screening.refusals import RefusalsGate
from piiloom.surrogates.by_model.kinds import articles, ends_abbreviated, told_of
from piiloom.surrogates.by_model.value_requests import ValueRequest
from piiloom.surrogates.fitting import VOWEL, sounds, takes_genitive
from piiloom.surrogates.known_names import unaccented as plain
from piiloom.surrogates.placeholders.vocabulary import LANGUAGES, vocabulary

LONGEST: Final = 80
_MOST_WORDS: Final = 12
_MOST_DIGITS: Final = 5
_COPIED_WORDS: Final = 4  # this many consecutive words of the sentence count as a copy
_FORBIDDEN: Final = frozenset('[]{}<>|⟦⟧`*_#~^\\="“”„«»')
_LETTERS: Final = re.compile(r"\d+|[^\W\d_]+")
_BEGINNING: Final = re.compile(r"\w|['’][ts][ -]")  # the second as in Dutch: "'t Anker"
_CLOSING: Final = re.compile(r"[.!?:;,…。！？]$")
_GATE: Final = RefusalsGate()
_NOTHING_EXPECTED: Final = Expectations(pair=("name", "name"))


def folded(value: str) -> str:
    """Normalize *value* for comparison: letters and digits only, in lower case and without accents."""
    return " ".join(_LETTERS.findall(plain(value)))


def accepted(reply: Any, request: ValueRequest, *, language: str, taken: Collection[str]) -> str:
    """Return the value in *reply* (``{"value": ...}``). Raises ``Fault`` with a message for the model if it cannot be used.

    *taken* holds the folded values that the document already uses for something else.
    """
    value = _written(reply["value"])
    for check in _CHECKS:
        check(value, request, language)
    if folded(value) in taken:
        raise Fault("repeated", "the same text uses this value for something else already; give another one")
    if any(folded(value) == folded(original) for original in request.originals):
        raise Fault("original", "this value must not be used here; give another one")
    return value


def _written(value: str) -> str:
    if not value.strip():
        raise Fault("empty", "it is empty")
    if len(value.strip().splitlines()) > 1:
        raise Fault("lines", "it has more than one line")
    text = " ".join(value.split())
    if len(text) > LONGEST or len(text.split()) > _MOST_WORDS:
        raise Fault("too_long", f"it is longer than {LONGEST} characters or {_MOST_WORDS} words")
    # Zero-width joiners belong to the spelling of some languages. All else in these categories is invisible or private use.
    if any(unicodedata.category(c) in {"Cc", "Cf", "Co", "Cs"} and c not in "\u200c\u200d" for c in text):
        raise Fault("invisible", "it holds invisible characters")
    return text


def _plain_value(value: str, request: ValueRequest, language: str) -> None:  # noqa: ARG001 - a check
    if _FORBIDDEN & set(value):
        raise Fault("signs", "it holds brackets, double quotes, underscores or other markup; give the bare words")
    if not any(map(str.isalpha, value)) or _BEGINNING.match(value) is None:
        raise Fault("signs", "it must begin with a letter or a digit and hold letters")
    if value[-1] in "'’" and value[0] in "'’":
        raise Fault("signs", "it stands in quotes; give the bare words")
    if _CLOSING.search(value) and ends_abbreviated().search(value) is None:
        raise Fault("closed", "it ends with a punctuation mark")
    verdict = _GATE.check(Record(id="reply", context=value), _NOTHING_EXPECTED)
    if verdict is not None:
        raise Fault("no_value", "it speaks of the task instead of giving the value")


def _no_contact(value: str, request: ValueRequest, language: str) -> None:  # noqa: ARG001 - a check
    if "@" in value or "://" in value or next(find_identifiers(value, None), None) is not None:
        raise Fault("contact", "it holds an address, a number or a link of somebody")
    digits = sum(map(str.isdigit, value))
    if digits and not told_of(request.kind).digits:
        raise Fault("digits", "it holds digits, which this kind has not")
    if digits > _MOST_DIGITS:
        raise Fault("digits", "it holds too many digits")


def _no_tag(value: str, request: ValueRequest, language: str) -> None:
    words = " ".join(_without_article(folded(value).split()))
    gap = folded(request.sentence.gap)
    known = vocabulary((language, "en") if language in LANGUAGES and language != "en" else ("en",)).get(words)
    # Roles ("nurse") are allowed: they are words of tags, but also valid values of another kind (occupation).
    if words in {gap, request.kind} or (known is not None and known.what in {"value", "name", "blank"}):
        raise Fault("tag_word", "it only names the kind of thing; give one such thing")


def _without_article(words: list[str]) -> list[str]:
    return words[1:] if len(words) > 1 and words[0] in articles() else words


def _fits(value: str, request: ValueRequest, language: str) -> None:  # noqa: ARG001 - a check
    before, after = (WORD.findall(plain(part)) for part in (request.sentence.before, request.sentence.after))
    words = WORD.findall(plain(value))
    touching = request.sentence.before[-1:] in {" ", "\u00a0"} and before
    if touching and before[-1] in articles() and words[0] in articles():
        raise Fault("article", "it begins with an article, and one stands before the gap already")
    if not sounds(value, request.sound):
        sound = "a vowel sound" if request.sound == VOWEL else "a consonant sound"
        raise Fault("article", f"the article before the gap asks for a word that begins with {sound}")
    if request.genitive and not takes_genitive(value):
        raise Fault("genitive", "an -s follows the gap, so it must not end in s, x or z")
    if (before and words[0] == before[-1]) or (after and words[-1] == after[0]):
        raise Fault("doubled", "it repeats the word right beside the gap")


def _no_copy(value: str, request: ValueRequest, language: str) -> None:  # noqa: ARG001 - a check
    words = WORD.findall(value.casefold())
    for part in (request.sentence.before, request.sentence.after):
        if whole_word(value.casefold()).search(part.casefold()) is not None:
            raise Fault("copied", "it stands in the sentence already")
        theirs = WORD.findall(part.casefold())
        runs = {tuple(theirs[at : at + _COPIED_WORDS]) for at in range(len(theirs) - _COPIED_WORDS + 1)}
        if any(tuple(words[at : at + _COPIED_WORDS]) in runs for at in range(len(words) - _COPIED_WORDS + 1)):
            raise Fault("copied", "it copies words of the sentence")


_CHECKS: Final[tuple[Callable[[str, ValueRequest, str], None], ...]] = (_plain_value, _no_contact, _no_tag, _fits, _no_copy)
