"""Ask for values concurrently, and check whether a reply is a value that fits the gap.

Requests of one document run concurrently, but their replies are judged in text order, because a value must differ from those before
it. So equal replies give equal values at every concurrency. A fault is told to the model in a message that never quotes the reply.
"""

from __future__ import annotations

import asyncio
import re
import unicodedata
from collections.abc import Callable, Collection, Coroutine
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, NamedTuple

from piiloom.corpus.record import Record
from piiloom.execution.calls import Calls, FailureLimit, Fault, Lost, ask_model
from piiloom.foundation.words import WORD, any_of, whole_word
from piiloom.providers.protocol import PromptCall
from piiloom.screening.gates import Expectations, RefusalsGate, find_identifiers
from piiloom.surrogates.by_model.value_requests import CallTerms, GapRequest, model_kinds
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


@dataclass(frozen=True, slots=True)
class DrawProgress:
    """Progress: ``done`` of ``total`` values are decided, ``rejected`` of them left to code. ``spent_usd`` includes earlier runs."""

    done: int
    total: int
    rejected: int
    answered: int
    replayed: int
    spent_usd: float

    def line(self) -> str:
        """One line for a terminal."""
        share = f"{self.done:,}/{self.total:,} values by the model"
        return f"{share}, {self.rejected:,} made locally instead, {self.replayed:,} answers from the store, ${self.spent_usd:.4f} spent"


class ValueOutcome(NamedTuple):
    """The result of one request. ``got`` is the value, or a ``Lost`` with the reason why there is none."""

    request: GapRequest
    got: str | Lost


class _DocumentTurns:
    """State shared by the requests of one document.

    ``taken`` holds the values used so far (folded). ``turn`` is the event that the most recent request sets when it is done.
    """

    __slots__ = ("document", "taken", "turn")

    def __init__(self, document: int) -> None:
        self.document = document
        self.taken: set[str] = set()
        self.turn = asyncio.Event()
        self.turn.set()


class ValueAsker:
    """Sends requests through *calls*.

    ``work`` must be called in input order, because requests of one document form a chain. *concurrency* is the number of requests
    in flight, from which the tolerance for errors is derived (``FailureLimit``).
    """

    def __init__(self, calls: Calls, terms: CallTerms, concurrency: int) -> None:
        self._calls, self._terms = calls, terms
        self._failure_limit = FailureLimit(calls, concurrency)
        self._page: _DocumentTurns | None = None

    def work(self, request: GapRequest) -> Coroutine[Any, Any, ValueOutcome]:
        """Return a coroutine that gives the outcome of *request*. It raises errors that would hit every other request, too."""
        if self._page is None or self._page.document != request.document:
            self._page = _DocumentTurns(request.document)
        before, self._page.turn = self._page.turn, asyncio.Event()
        return self._worked(request, self._page.taken, before, self._page.turn)

    async def _worked(self, request: GapRequest, taken: set[str], before: asyncio.Event, mine: asyncio.Event) -> ValueOutcome:
        try:
            got = await self._asked(request, taken, before)
            await before.wait()
            if isinstance(got, str):
                taken.add(folded_value(got))
            return ValueOutcome(request, got)
        finally:
            mine.set()

    async def _asked(self, request: GapRequest, taken: set[str], before: asyncio.Event) -> str | Lost:
        def call(attempt: int, fault: str | None) -> PromptCall:
            return self._terms.call(request, attempt, fault)

        async def judged(data: Any, attempt: int) -> str:  # noqa: ARG001 - all attempts are judged alike
            await before.wait()
            return accepted(data, request, language=self._terms.language, taken=taken)

        found = await ask_model(self._calls, call, judged, attempts=self._terms.attempts, failure_limit=self._failure_limit)
        return found if isinstance(found, Lost) else found[0]


@cache
def _ends_abbreviated() -> re.Pattern[str]:
    """Return the pattern of abbreviations with which a value may end."""
    return re.compile(rf"\b(?:(?:[a-z]\.)+|{any_of(model_kinds().closing)})$", re.IGNORECASE)


def folded_value(value: str) -> str:
    """Normalize *value* for comparison: letters and digits only, in lower case and without accents."""
    return " ".join(_LETTERS.findall(plain(value)))


def accepted(reply: Any, request: GapRequest, *, language: str, taken: Collection[str]) -> str:
    """Return the value in *reply* (``{"value": ...}``). Raises ``Fault`` with a message for the model if it cannot be used.

    *taken* holds the folded values that the document already uses for something else.
    """
    value = _written(reply["value"])
    for check in _CHECKS:
        check(value, request, language)
    if folded_value(value) in taken:
        raise Fault("repeated", "the same text uses this value for something else already; give another one")
    if any(folded_value(value) == folded_value(original) for original in request.originals):
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


def _plain_value(value: str, request: GapRequest, language: str) -> None:  # noqa: ARG001 - a check
    if _FORBIDDEN & set(value):
        raise Fault("signs", "it holds brackets, double quotes, underscores or other markup; give the bare words")
    if not any(map(str.isalpha, value)) or _BEGINNING.match(value) is None:
        raise Fault("signs", "it must begin with a letter or a digit and hold letters")
    if value[-1] in "'’" and value[0] in "'’":
        raise Fault("signs", "it stands in quotes; give the bare words")
    if _CLOSING.search(value) and _ends_abbreviated().search(value) is None:
        raise Fault("closed", "it ends with a punctuation mark")
    verdict = _GATE.check(Record(id="reply", context=value), _NOTHING_EXPECTED)
    if verdict is not None:
        raise Fault("no_value", "it speaks of the task instead of giving the value")


def _no_contact(value: str, request: GapRequest, language: str) -> None:  # noqa: ARG001 - a check
    if "@" in value or "://" in value or next(find_identifiers(value, None), None) is not None:
        raise Fault("contact", "it holds an address, a number or a link of somebody")
    digits = sum(map(str.isdigit, value))
    if digits and not model_kinds().kinds[request.kind].digits:
        raise Fault("digits", "it holds digits, which this kind has not")
    if digits > _MOST_DIGITS:
        raise Fault("digits", "it holds too many digits")


def _no_tag(value: str, request: GapRequest, language: str) -> None:
    words = " ".join(_without_article(folded_value(value).split()))
    gap = folded_value(request.sentence.gap)
    known = vocabulary((language, "en") if language in LANGUAGES and language != "en" else ("en",)).get(words)
    # Roles ("nurse") are allowed: they are words of tags, but also valid values of another kind (occupation).
    if words in {gap, request.kind} or (known is not None and known.what in {"value", "name", "blank"}):
        raise Fault("tag_word", "it only names the kind of thing; give one such thing")


def _without_article(words: list[str]) -> list[str]:
    return words[1:] if len(words) > 1 and words[0] in model_kinds().articles else words


def _fits(value: str, request: GapRequest, language: str) -> None:  # noqa: ARG001 - a check
    before, after = (WORD.findall(plain(part)) for part in (request.sentence.before, request.sentence.after))
    words = WORD.findall(plain(value))
    touching = request.sentence.before[-1:] in {" ", "\u00a0"} and before
    if touching and before[-1] in model_kinds().articles and words[0] in model_kinds().articles:
        raise Fault("article", "it begins with an article, and one stands before the gap already")
    if not sounds(value, request.sound):
        sound = "a vowel sound" if request.sound == VOWEL else "a consonant sound"
        raise Fault("article", f"the article before the gap asks for a word that begins with {sound}")
    if request.genitive and not takes_genitive(value):
        raise Fault("genitive", "an -s follows the gap, so it must not end in s, x or z")
    if (before and words[0] == before[-1]) or (after and words[-1] == after[0]):
        raise Fault("doubled", "it repeats the word right beside the gap")


def _no_copy(value: str, request: GapRequest, language: str) -> None:  # noqa: ARG001 - a check
    words = WORD.findall(value.casefold())
    for part in (request.sentence.before, request.sentence.after):
        if whole_word(value.casefold()).search(part.casefold()) is not None:
            raise Fault("copied", "it stands in the sentence already")
        theirs = WORD.findall(part.casefold())
        runs = {tuple(theirs[at : at + _COPIED_WORDS]) for at in range(len(theirs) - _COPIED_WORDS + 1)}
        if any(tuple(words[at : at + _COPIED_WORDS]) in runs for at in range(len(words) - _COPIED_WORDS + 1)):
            raise Fault("copied", "it copies words of the sentence")


_CHECKS: Final[tuple[Callable[[str, GapRequest, str], None], ...]] = (_plain_value, _no_contact, _no_tag, _fits, _no_copy)
