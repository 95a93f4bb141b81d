"""The replay attack: an attacker with all published files and the code runs the documents again, with a key that they guess.

With the right key the run gives the same date shifts and the same names. The attacker is a strong one: they also have the texts with
their placeholders, so only the key is missing. A person's group depends on all people of the corpus, so the attacker takes the names of
all ten groups as candidates. Guesses with other random keys come from the name pools alone; their share of right names is what a
secret key should leave.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any, Final

from piiloom.foundation.seeding import secret_key
from piiloom.pii_values.rewriting.calendars import date_order
from piiloom.pii_values.rewriting.date_layouts import read_date
from piiloom.surrogates.documents import Document, Replaced
from piiloom.surrogates.engine import Engine
from piiloom.surrogates.persona_assignment.groups import GROUPS
from piiloom.surrogates.planning import PERSON
from piiloom.surrogates.settings import Settings

MOST: Final = 60  # documents of a corpus that are attacked
MENTIONS: Final = 1500  # mentions in them, since each is replaced over 200 times
_ALONE: Final = 20  # attacks with the pools alone
_WORD: Final = re.compile(r"[^\W\d_]{2,}")
_NORMAL_95: Final = 1.96


@dataclass(frozen=True, slots=True)
class Replay:
    """Result of an attack with one key on all documents.

    ``dates`` is the number of documents with a known date, ``recovered`` in how many of them the attacker has the right shift. Of
    ``words`` of names, each counted once a document, ``predicted`` are among the attacker's ``candidates`` (a mean a document).
    """

    dates: int
    recovered: int
    words: int
    predicted: int
    candidates: float

    @property
    def share(self) -> float:
        """The share of the words of names that are among the candidates."""
        return self.predicted / self.words if self.words else 0.0


def replay(documents: Sequence[Document], published: Sequence[Replaced], guess: Engine) -> Replay:
    """Attack the *published* texts of *documents* with an engine whose key is guessed."""
    dates = recovered = words = predicted = candidates = 0
    for document, done in zip(documents, published, strict=True):
        plan, _ = guess.plan(document)
        runs = [guess.replace_plan(plan, document, bytes([group]) * len(plan.codes)) for group in range(len(GROUPS))]
        known = {number for number, mention in enumerate(plan.mentions) if _is_day(mention.kind, mention.original, guess.settings)}
        dates += bool(known)
        recovered += bool(known) and all(_put_in(done, number) == _put_in(runs[0], number) for number in known)
        guessed = {word for run in runs for word in _name_words(run)}
        there = set(_name_words(done))
        words, predicted, candidates = words + len(there), predicted + len(there & guessed), candidates + len(guessed)
    return Replay(dates, recovered, words, predicted, candidates / max(1, len(documents)))


def by_pools_alone(
    documents: Sequence[Document], published: Sequence[Replaced], engine_of: Callable[[bytes], Engine]
) -> tuple[float, float]:
    """Return the mean share of predicted words over attacks with random keys, and the half width of its 95% interval for one attack."""
    shares = [replay(documents, published, engine_of(secret_key(-1 - number))).share for number in range(_ALONE)]
    return fmean(shares), _NORMAL_95 * stdev(shares)


def report(documents: Sequence[Document], engine_of: Callable[[bytes], Engine], seed: int) -> dict[str, Any]:
    """Run *documents* with a key that the attacker has not, and with a known seed; attack both, and compare with the pools alone."""
    secret, known = engine_of(secret_key(seed)), engine_of(secret_key(seed + 1))
    published, reproducible = list(secret.replace_all(documents)), list(known.replace_all(documents))
    unknown, seeded = replay(documents, published, known), replay(documents, reproducible, known)
    mean, half = by_pools_alone(documents, published, engine_of)
    return {
        "documents": len(documents),
        "documents_with_known_dates": unknown.dates,
        "name_words": unknown.words,
        "candidates_a_document": round(unknown.candidates, 1),
        "secret_key": {"dates_recovered": unknown.recovered, "name_words_predicted": round(unknown.share, 4)},
        "known_seed": {"dates_recovered": seeded.recovered, "name_words_predicted": round(seeded.share, 4)},
        "pools_alone": {"name_words_predicted": round(mean, 4), "interval": [round(max(0.0, mean - half), 4), round(mean + half, 4)]},
    }


def _is_day(kind: str, original: str, settings: Settings) -> bool:
    if kind not in {"date", "datetime"} or not original:
        return False
    layout = read_date(original, settings.language, date_order(settings.language, settings.country), settings.anchor)
    return layout is not None and layout.precision == "day"


def _put_in(done: Replaced, number: int) -> str:
    place = done.placed[number]
    return done.text[place.new_start : place.new_end]


def _name_words(done: Replaced) -> Iterator[str]:
    for place in done.placed:
        if place.kind == PERSON:
            yield from _WORD.findall(done.text[place.new_start : place.new_end].casefold())
