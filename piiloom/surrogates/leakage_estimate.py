"""Estimate for a corpus how often its documents leak recognisably, under each strategy, and what attackers find out.

The attacks are with a known pool of names (``leakage.attacks``), and the replay attack: an attacker with all published files and the code
runs the documents again, with a key that they guess. With the right key the run gives the same date shifts and the same names. The
attacker is a strong one: they also have the texts with their placeholders, so only the key is missing. A person's group depends on all
people of the corpus, so the attacker takes the names of all ten groups as candidates. Guesses with other random keys come from the name
pools alone; their share of right names is what a secret key should leave.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from statistics import fmean, stdev
from typing import Any, Final

from piiloom.foundation.errors import OutputError
from piiloom.foundation.seeding import secret_key
from piiloom.foundation.whole_files import write_folder
from piiloom.pii_values.names.index import open_names
from piiloom.pii_values.names.pools import NamePools
from piiloom.pii_values.rewriting.calendars import date_order
from piiloom.pii_values.rewriting.date_layouts import read_date
from piiloom.surrogates.corpus_run import tag_mapping
from piiloom.surrogates.documents import Document, Replaced
from piiloom.surrogates.engine import Engine
from piiloom.surrogates.inputs.parts import SourceSettings
from piiloom.surrogates.inputs.reading import iter_documents
from piiloom.surrogates.known_names import name_parts
from piiloom.surrogates.leakage.attacks import STRATEGIES, collision_report, family_attack, leaking_shares
from piiloom.surrogates.options import LeakageOptions
from piiloom.surrogates.persona_assignment.groups import GROUPS
from piiloom.surrogates.placeholders.finder import Finder
from piiloom.surrogates.planning import PERSON, Planner
from piiloom.surrogates.settings import EngineSettings, checked_locale

_SEED: Final = 7
_MOST: Final = 60  # documents of a corpus that are attacked
_MENTIONS: Final = 1500  # mentions in them, since each is replaced over 200 times
_ALONE: Final = 20  # attacks with the pools alone
_WORD: Final = re.compile(r"[^\W\d_]{2,}")
_NORMAL_95: Final = 1.96


def estimate_leakage(source: Path, options: LeakageOptions) -> dict[str, Any]:
    """Plan all documents of *source* and return the estimates; with ``out`` they are written there, with a plot if matplotlib is there.

    Raises ``UsageError``, ``DataError`` and ``OutputError``.
    """
    settings, out = EngineSettings(locale=checked_locale(options.locale)), options.out
    if out is not None and out.exists() and not out.is_dir():
        raise OutputError("this is not a folder", where=str(out), remedy="Name a folder with --out.")
    inputs = SourceSettings.of(source, options, options)
    finder = None if inputs.use_spans else Finder(tag_mapping(options.placeholders, inputs, settings.locale))
    sizes, originals, attacked = _read(inputs, finder, settings)
    index = open_names(options.names_index)
    pools = NamePools(index)
    people = sum(len(document) for document in sizes)
    report: dict[str, Any] = {
        "documents": len(sizes),
        "people": people,
        "mentions": sum(map(sum, sizes)),
        "keep": options.keep_probability,
        "leakage": [_shares(sizes, rate, options.keep_probability) for rate in options.miss],
        "names": {"source": index.source, **collision_report(pools, people, _SEED)},
        "known_pool_attack_on_family_names": {
            name: family_attack(pools, index, settings.country, _SEED, originals, own_country=own)
            for name, own in (("ten groups", False), ("names of the texts' own country", True))
        },
        "replay_attack": replay_report(attacked, lambda key: Engine(replace(settings, key=key), pools, finder), _SEED),
    }
    if out is not None:
        text = json.dumps(report, ensure_ascii=False, indent=2) + "\n"
        write_folder(out, {"leakage.json": text.encode(), **_plot(report)})
    return report


def _shares(sizes: Sequence[Sequence[int]], rate: float, keep: float) -> dict[str, float]:
    return {"miss_rate": rate, **{name: round(share, 4) for name, share in leaking_shares(sizes, rate, keep=keep).items()}}


def _read(inputs: SourceSettings, finder: Finder | None, settings: EngineSettings) -> tuple[list[list[int]], list[str], list[Document]]:
    """Return how often each person of each document is named, the known family names, and the first texts with mentions."""
    planner = Planner(settings.language)
    sizes, originals = [], []
    attacked: dict[str, Document] = {}
    room = _MENTIONS
    for document in iter_documents(inputs):
        mentions = document.mentions if finder is None else finder.find(document.text).mentions
        plan = planner.plan(document.text, mentions or ())
        sizes.append([len(cluster.places) for cluster in plan.clusters if cluster.places])
        known = (name_parts(mention.original)[1] for mention in plan.mentions if mention.kind == "person" and mention.original)
        originals += [parts[-1].title() for parts in known if parts]
        if mentions and len(attacked) < _MOST and len(mentions) <= room and document.text not in attacked:
            attacked[document.text] = document
            room -= len(mentions)
    return sizes, originals, list(attacked.values())


def _plot(report: Mapping[str, Any]) -> dict[str, bytes]:
    """Return the plot of *report* as a file, {} without matplotlib."""
    try:
        from matplotlib.figure import Figure  # noqa: PLC0415 - an extra
    except ImportError:
        return {}
    rows = report["leakage"]
    figure = Figure(figsize=(6.4, 4.2), layout="constrained")
    axes = figure.subplots()
    for name, style in zip(("any_miss", *STRATEGIES), (":", "-", "--", "-."), strict=True):
        shares = [100 * row[name] for row in rows]
        axes.plot([100 * row["miss_rate"] for row in rows], shares, style, marker="o", label=name.replace("_", " "))
    axes.set(xscale="log", xlabel="missed mentions (%)", ylabel="documents that leak recognisably (%)", ylim=(0, 102))
    axes.legend()
    drawn = BytesIO()
    figure.savefig(drawn, dpi=150, format="png")
    return {"leakage.png": drawn.getvalue()}


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


def replay_report(documents: Sequence[Document], engine_of: Callable[[bytes], Engine], seed: int) -> dict[str, Any]:
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


def _is_day(kind: str, original: str, settings: EngineSettings) -> bool:
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
