"""What of marked answers survives which alteration: read back by the detector "markers", against what was marked.

    python -m benchmarks.detection.marker_survival [--answers 10000] [--seed 7]

Prints a line for each kind of alteration, and for three of them at once: how many spans were marked, and of these: how many came back with
exactly their range and type; how many are told as set aside; how many vanished (of marks with both markers left out nothing can be known:
these are not counted); and how many of the spans that came back nobody had
marked (``wrong``), of which ``merged`` reach from a mark to a later one of its type, with nothing left between them that shows it.
"""

from __future__ import annotations

import argparse
import random
import time
from collections import Counter
from collections.abc import Collection, Sequence
from typing import Final

from benchmarks.detection.marker_alterations import KINDS, Range3, Spoilt, a_text, answered
from piiloom.detection.detector import SetAside
from piiloom.detection.marking.answer_alignment import AlignedAnswer, align_answer
from piiloom.taxonomy.entity_types import shipped_taxonomy

SEVERAL: Final = "three of these"
_OF_MARKS_KEPT: Final = frozenset({"misspelt_marker", "respelled_value", "no_relevance"})
_OF_TEXT: Final = frozenset({"dropped_text", "altered_text", "invented_text", "altered_blanks"})


def tallied(one: Spoilt, aligned: AlignedAnswer) -> Counter[str]:
    """Return how the marks of *one* fared ("marked", and of these "exact", "told", "vanished"), and what is "wrong" or "merged"."""
    found = {(placed.start, placed.end, placed.mark.entity_type) for placed in aligned.placed}
    strange = found - set(one.spans)
    merged = strange & one.merged()
    told = [entry for entry in aligned.set_aside if entry.reason not in _OF_MARKS_KEPT]
    missing = [(number, span) for number, span in enumerate(one.spans) if span not in found and not _covered(span, told)]
    unmarked = {number for number, _ in missing} - one.numbers()
    lost = [span for number, span in missing if number not in unmarked and not _within(span, merged)]
    vanished = max(0, len(lost) - sum(entry.reason not in _OF_TEXT for entry in told))
    marked = len(one.spans) - len(unmarked)
    exact = len(found - strange)
    return Counter(
        marked=marked,
        exact=exact,
        told=marked - exact - vanished,
        vanished=vanished,
        wrong=len(strange),
        merged=len(merged),
    )


def _within(span: Range3, others: Collection[Range3]) -> bool:
    return any(start <= span[0] and span[1] <= end for start, end, _ in others)


def _covered(span: Range3, told: Sequence[SetAside]) -> bool:
    """Whether the text of *span*, or a part of it, is told as dropped or altered."""
    return any(one.start is not None and one.end is not None and one.start < span[1] and span[0] < one.end for one in told)


def spoilt(rng: random.Random, kinds: Sequence[str]) -> Spoilt:
    """Return an answer with an alteration of each of *kinds*, or of those that it can have."""
    while True:
        text, spans = a_text(rng)
        if not text.strip() or not spans:
            continue
        one = answered(text, spans)
        done = [KINDS[kind](rng, one) for kind in kinds]
        if any(done):
            return one


def measured(kind: str, count: int, seed: int) -> Counter[str]:
    """Return the tally of *count* answers."""
    rng = random.Random(f"{seed} {kind}")
    total: Counter[str] = Counter()
    for _ in range(count):
        one = spoilt(rng, rng.sample(list(KINDS), 3) if kind == SEVERAL else [kind])
        total += tallied(one, align_answer(one.reply, one.text, taxonomy=shipped_taxonomy()))
    return total


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--answers", type=int, default=10_000, help="answers in all")
    parser.add_argument("--seed", type=int, default=7)
    asked = parser.parse_args()
    kinds = [*KINDS, SEVERAL]
    each = max(1, asked.answers // (len(kinds) + 5))
    begun = time.perf_counter()
    total: Counter[str] = Counter()
    print(f"{'alteration':28} {'marked':>7} {'exact':>7} {'told':>7} {'vanished':>9} {'wrong':>6} {'merged':>7}")
    for kind in kinds:
        count = asked.answers - each * len(KINDS) if kind == SEVERAL else each
        tally = measured(kind, count, asked.seed)
        total += tally
        _print(kind, tally)
    _print("all", total)
    print(f"{asked.answers} answers in {time.perf_counter() - begun:.1f} s")


def _print(kind: str, tally: Counter[str]) -> None:
    marked = tally["marked"]
    shares = " ".join(f"{tally[name] / marked:>7.1%}" for name in ("exact", "told"))
    print(f"{kind:28} {marked:>7} {shares} {tally['vanished']:>9} {tally['wrong']:>6} {tally['merged']:>7}")


if __name__ == "__main__":
    main()
