"""Surrogates to be read: so many places of a corpus, drawn by seed, before and after; or whole passages. A person says what is wrong.

    python -m benchmarks.surrogate_readings --corpus rechtspraak_nl --seed 1
    python -m benchmarks.surrogate_readings --corpus rechtspraak_nl --seed 1 --passages 10

The corpora are those of shared/data; the run is that of ``piiloom surrogate run`` with the tags learnt (or, where a corpus has spans,
with ``--spans``). What was read with it: docs/surrogate-readings.md.
"""

from __future__ import annotations

import argparse
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from benchmarks.readings.corpora import CORPORA, REDACTED, corpus_documents
from piiloom.surrogates.documents import Document, Placed, Replaced
from piiloom.surrogates.engine import Engine
from piiloom.surrogates.placeholders import Finder
from piiloom.surrogates.settings import EngineSettings

_AROUND, _PASSAGE = 80, 900
_BLANKS: Final = re.compile(r"\s+")


class Filled(NamedTuple):
    """A document, its filled text, and where it lies."""

    document: Document
    done: Replaced


def filled_corpus(name: str, seed: int = 0) -> list[Filled]:
    """Fill the corpus *name* as the command would, with the seed of the run."""
    from piiloom.pii_values.names.index import open_names
    from piiloom.pii_values.names.pools import NamePools
    from piiloom.surrogates.engine_report import known_given_names
    from piiloom.surrogates.placeholders.survey import survey_of

    documents, locale = corpus_documents(name)
    finder = None
    if name in REDACTED:
        finder = Finder(survey_of((one.text for one in documents), locale[:2]).mapping())
    pools = NamePools(open_names())
    genders = None if finder else known_given_names(pools, locale[3:])
    engine = Engine(EngineSettings(seed=seed, locale=locale), pools, finder, genders=genders)
    return [Filled(*both) for both in zip(documents, engine.replace_all(documents), strict=True)]


def drawn_places(corpus: Sequence[Filled], seed: int, count: int) -> list[tuple[Filled, Placed]]:
    """Draw *count* places of the corpus, all equally likely, in the order of the corpus."""
    places = [(one, place) for one in corpus for place in one.done.placed]
    chosen = random.Random(seed).sample(range(len(places)), min(count, len(places)))
    return [places[number] for number in sorted(chosen)]


def place_lines(one: Filled, place: Placed) -> Iterator[str]:
    """Return the place as it stood and as it stands, with what is around."""
    document, done = one.document, one.done
    yield f"{document.id} [{place.kind}{' ' + place.role if place.role else ''}, {place.value_id}]"
    yield "  - " + _shown(document.text, place.start, place.end)
    yield "  + " + _shown(done.text, place.new_start, place.new_end)


def _shown(text: str, start: int, end: int) -> str:
    pieces = text[max(0, start - _AROUND) : start], "⟦" + text[start:end] + "⟧", text[end : end + _AROUND]
    return _BLANKS.sub(" ", "".join(pieces)).strip()


def drawn_passages(corpus: Sequence[Filled], seed: int, count: int) -> list[tuple[Filled, int, int]]:
    """Draw *count* passages of the filled texts, of as many documents, each around a place; documents with several go first."""
    rng = random.Random(seed)
    several = [one for one in corpus if len(one.done.placed) > 1]
    single = [one for one in corpus if len(one.done.placed) == 1]
    chosen = rng.sample(several, min(count, len(several)))
    chosen += rng.sample(single, min(count - len(chosen), len(single)))
    passages = []
    for one in chosen:
        place = rng.choice(one.done.placed)
        start = max(0, min(place.new_start - _PASSAGE // 2, len(one.done.text) - _PASSAGE))
        passages.append((one, start, start + _PASSAGE))
    return passages


def passage_text(one: Filled, start: int, end: int) -> str:
    """Return a passage of the filled text; surrogates stand in ⟦…⟧ with the id of their person or value."""
    text, pieces, at = one.done.text, [], start
    for place in one.done.placed:
        if place.new_start >= at and place.new_end <= end:
            pieces += [text[at : place.new_start], f"⟦{text[place.new_start : place.new_end]}|{place.value_id}⟧"]
            at = place.new_end
    return _BLANKS.sub(" ", "".join([*pieces, text[at:end]])).strip()


def counts_of(corpus: Sequence[Filled]) -> str:
    """Return what was found and filled in the corpus, and what was left as unknown, in one line each."""
    filled = sum(len(one.done.placed) for one in corpus)
    unknown = Counter(one.document.text[start:end] for one in corpus for start, end in one.done.unknown)
    kinds = Counter(place.kind for one in corpus for place in one.done.placed)
    tags = ", ".join(f"{tag!r} {times}" for tag, times in unknown.most_common(20))
    told = ", ".join(f"{kind} {times}" for kind, times in kinds.most_common())
    lines = [f"{len(corpus)} documents, {filled + unknown.total()} found, {filled} filled ({told})", f"{unknown.total()} unknown: {tags}"]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", choices=CORPORA, required=True)
    parser.add_argument("--seed", type=int, default=1, help="which places or passages are drawn (1)")
    parser.add_argument("--count", type=int, default=50, help="how many places (50)")
    parser.add_argument("--passages", type=int, metavar="N", help="N passages of the filled texts instead of places")
    parser.add_argument("--run-seed", type=int, default=0, help="the seed of the run, as of piiloom surrogate run --seed (0)")
    wanted = parser.parse_args()
    corpus = filled_corpus(wanted.corpus, wanted.run_seed)
    print(counts_of(corpus))
    if wanted.passages:
        for number, (one, start, end) in enumerate(drawn_passages(corpus, wanted.seed, wanted.passages), 1):
            print(f"\n{number}. {one.document.id}\n{passage_text(one, start, end)}")
        return
    for number, (one, place) in enumerate(drawn_places(corpus, wanted.seed, wanted.count), 1):
        print("\n".join([f"\n{number}. " + next(lines := place_lines(one, place)), *lines]))


if __name__ == "__main__":
    main()
