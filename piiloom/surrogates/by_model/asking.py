"""Ask for values concurrently, and check whether a reply is a value that fits the gap.

Requests of one document run concurrently, but their replies are judged in text order, because a value must differ from those before
it. So equal replies give equal values at every concurrency. A fault is told to the model in a message that never quotes the reply.
"""

from __future__ import annotations

import asyncio
import re
import unicodedata
from collections.abc import Collection, Coroutine, Iterator
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, Final, NamedTuple

from piiloom.corpus.record import Record
from piiloom.execution.calls import Calls, FailureLimit, Fault, Lost, ask_model
from piiloom.foundation.words import WORD, any_of, whole_word
from piiloom.screening.gate import Expectations
from piiloom.screening.identifiers import find_identifiers
from piiloom.screening.refusals import RefusalsGate
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


class ValueAsker:
    """Sends requests through *calls*.

    ``work`` must be called in input order, because requests of one document form a chain. *concurrency* is the number of requests
    in flight, from which the tolerance for errors is derived (``FailureLimit``).
    """

    def __init__(self, calls: Calls, terms: CallTerms, concurrency: int) -> None:
        self._calls, self._terms = calls, terms
        self._failure_limit = FailureLimit(calls, concurrency)
        self._document = -1
        self._taken: set[str] = set()  # the values used so far in the document (folded)
        self._turn = asyncio.Event()  # set when the most recent request is done

    def work(self, request: GapRequest) -> Coroutine[Any, Any, ValueOutcome]:
        """Return a coroutine that gives the outcome of *request*. It raises errors that would hit every other request, too."""
        if self._document != request.document:
            self._document, self._taken, self._turn = request.document, set(), asyncio.Event()
            self._turn.set()
        before, self._turn = self._turn, asyncio.Event()
        return self._worked(request, self._taken, before, self._turn)

    async def _worked(self, request: GapRequest, taken: set[str], before: asyncio.Event, mine: asyncio.Event) -> ValueOutcome:
        async def judged(data: Any, attempt: int) -> str:  # noqa: ARG001 - all attempts are judged alike
            await before.wait()
            return accepted(data, request, language=self._terms.language, taken=taken)

        make = partial(self._terms.call, request)
        try:
            found = await ask_model(self._calls, make, judged, attempts=self._terms.attempts, failure_limit=self._failure_limit)
            await before.wait()
            if isinstance(found, Lost):
                return ValueOutcome(request, found)
            taken.add(folded_value(found[0]))
            return ValueOutcome(request, found[0])
        finally:
            mine.set()


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
    value = " ".join(reply["value"].split())
    for wrong, code, message in _possible_faults(reply["value"], value, request, language):
        if wrong:
            raise Fault(code, message)
    if folded_value(value) in taken:
        raise Fault("repeated", "the same text uses this value for something else already; give another one")
    if any(folded_value(value) == folded_value(original) for original in request.originals):
        raise Fault("original", "this value must not be used here; give another one")
    return value


def _possible_faults(reply: str, value: str, request: GapRequest, language: str) -> Iterator[tuple[object, str, str]]:
    """Yield whether *value*, written as *reply*, has a fault, with its code and message, for each fault in the order of their checks."""
    yield not value, "empty", "it is empty"
    yield len(reply.strip().splitlines()) > 1, "lines", "it has more than one line"
    too_long = len(value) > LONGEST or len(value.split()) > _MOST_WORDS
    yield too_long, "too_long", f"it is longer than {LONGEST} characters or {_MOST_WORDS} words"
    # Zero-width joiners belong to the spelling of some languages. All else in these categories is invisible or private use.
    invisible = any(unicodedata.category(c) in {"Cc", "Cf", "Co", "Cs"} and c not in "\u200c\u200d" for c in value)
    yield invisible, "invisible", "it holds invisible characters"
    markup = "it holds brackets, double quotes, underscores or other markup; give the bare words"
    yield _FORBIDDEN & set(value), "signs", markup
    bare = not any(map(str.isalpha, value)) or _BEGINNING.match(value) is None
    yield bare, "signs", "it must begin with a letter or a digit and hold letters"
    yield value[-1] in "'’" and value[0] in "'’", "signs", "it stands in quotes; give the bare words"
    yield _CLOSING.search(value) and _ends_abbreviated().search(value) is None, "closed", "it ends with a punctuation mark"
    verdict = _GATE.check(Record(id="reply", context=value), _NOTHING_EXPECTED)
    yield verdict is not None, "no_value", "it speaks of the task instead of giving the value"
    contact = "@" in value or "://" in value or next(find_identifiers(value, None), None) is not None
    yield contact, "contact", "it holds an address, a number or a link of somebody"
    digits = sum(map(str.isdigit, value))
    yield digits and not model_kinds().kinds[request.kind].digits, "digits", "it holds digits, which this kind has not"
    yield digits > _MOST_DIGITS, "digits", "it holds too many digits"
    yield _is_tag(value, request, language), "tag_word", "it only names the kind of thing; give one such thing"
    sentence = request.sentence
    before, after = WORD.findall(plain(sentence.before)), WORD.findall(plain(sentence.after))
    words, articles = WORD.findall(plain(value)), model_kinds().articles
    touching = sentence.before[-1:] in {" ", "\u00a0"} and before
    twice = touching and before[-1] in articles and words[0] in articles
    yield twice, "article", "it begins with an article, and one stands before the gap already"
    sound = "a vowel sound" if request.sound == VOWEL else "a consonant sound"
    yield not sounds(value, request.sound), "article", f"the article before the gap asks for a word that begins with {sound}"
    genitive = request.genitive and not takes_genitive(value)
    yield genitive, "genitive", "an -s follows the gap, so it must not end in s, x or z"
    doubled = (before and words[0] == before[-1]) or (after and words[-1] == after[0])
    yield doubled, "doubled", "it repeats the word right beside the gap"
    own = _runs(value)
    for part in (sentence.before, sentence.after):
        yield whole_word(value.casefold()).search(part.casefold()), "copied", "it stands in the sentence already"
        yield own & _runs(part), "copied", "it copies words of the sentence"


def _is_tag(value: str, request: GapRequest, language: str) -> bool:
    """Whether *value* is the tag of the gap, or a word of tags. Roles ("nurse") are allowed: they are valid values of another kind."""
    words = folded_value(value).split()
    name = " ".join(words[1:] if len(words) > 1 and words[0] in model_kinds().articles else words)
    known = vocabulary((language, "en") if language in LANGUAGES and language != "en" else ("en",)).get(name)
    return name in {folded_value(request.sentence.gap), request.kind} or (known is not None and known.what in {"value", "name", "blank"})


def _runs(text: str) -> set[tuple[str, ...]]:
    """Return all runs of so many words that they count as copied."""
    words = WORD.findall(text.casefold())
    return {tuple(words[at : at + _COPIED_WORDS]) for at in range(len(words) - _COPIED_WORDS + 1)}
