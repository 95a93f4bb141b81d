"""A pass over 20 real records in the real app by keys alone: raw pipeline output is made equal to what people validated.

    python -m benchmarks.annotation_pass --data ../shared/data/capid

Rows of the raw file are paired with validated ones by the words that they share (Jaccard, each row in one pair, the 20 best; where
fewer than that share half of their words, raw rows that are accepted as they are fill up the number). A
program presses the keys in headless Chromium: it reads in no time and knows what to do, so its seconds are the app's alone. What a
person's fingers would take is estimated by the keystroke-level model of Card, Moran and Newell (Communications of the ACM 23(7),
1980): 0.28 s a stroke of an average typist (modifiers count as strokes), and 1.35 s of preparation for each thing that is done.
Reading is in neither. Afterwards the store is held against the validated rows.
"""

from __future__ import annotations

import argparse
import re
import tempfile
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from statistics import median

from benchmarks.annotation.keyed_corrections import KeyWorker
from benchmarks.annotation.keyed_texts import Keyed
from piiloom.annotation_app.documents.document import EditedDocument, document_of
from piiloom.corpus.formats.base import ReadOptions, ReadTally
from piiloom.corpus.formats.capid import CapidFormat
from piiloom.corpus.record import Record
from piiloom.corpus.store.annotation_events import AnnotationDocument
from piiloom.taxonomy.entity_types import shipped_taxonomy
from tests.annotation_app.app_driver import PATIENCE_MS, AppPage, documents_in, labels, make_project, sync_api
from tests.annotation_app.served_app import served
from tests.one_browser import launch

STROKE_S, PREPARATION_S = 0.28, 1.35
_LEAST_SHARED = 0.5
_WORD = re.compile(r"\w+")


def main() -> None:
    """Do the pass and print one line a record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="the folder with raw_pipeline_sample.jsonl and validated_sample.jsonl")
    parser.add_argument("--records", type=int, default=20)
    wanted = parser.parse_args()
    raw, validated = (_read(wanted.data / f"{name}_sample.jsonl") for name in ("raw_pipeline", "validated"))
    found = pairs(raw, validated)[: wanted.records]
    print(f"{len(found)} pairs")
    paired = {record.context for record, _ in found}
    found += [(record, document_of(record)) for record in raw if record.context not in paired][: wanted.records - len(found)]
    with tempfile.TemporaryDirectory() as folder:
        report(*one_pass(Path(folder) / "store.duckdb", found))


def _read(path: Path) -> list[Record]:
    return [row for row in CapidFormat().read(path, ReadOptions(taxonomy=shipped_taxonomy()), ReadTally()) if isinstance(row, Record)]


def pairs(raw: list[Record], validated: list[Record]) -> list[tuple[Record, EditedDocument]]:
    """Raw records with the documents that people made of them, the likest first; each row is in one pair at most."""
    old, new = ([frozenset(_WORD.findall(one.context.casefold())) for one in rows] for rows in (raw, validated))
    likeness = sorted(((len(a & b) / len(a | b), -i, -j) for i, a in enumerate(old) for j, b in enumerate(new) if a & b), reverse=True)
    found: list[tuple[Record, EditedDocument]] = []
    taken: tuple[set[int], set[int]] = (set(), set())
    for share, i, j in likeness:
        if share >= _LEAST_SHARED and i not in taken[0] and j not in taken[1]:
            taken[0].add(i)
            taken[1].add(j)
            found.append((replace(raw[-i], id=f"r-{len(found):02d}"), document_of(validated[-j])))
    return found


def one_pass(path: Path, found: list[tuple[Record, EditedDocument]]) -> tuple[dict[str, Keyed], list[str]]:
    """What each record took, by id, and the ids of those that ended unlike the validated row."""
    make_project(path, [record for record, _ in found], {"ana": "annotator"}, assigned={"ana": [record.id for record, _ in found]})
    took: dict[str, Keyed] = {}
    with served(path, "--snapshot-every", "0") as server, sync_api.sync_playwright() as playwright:
        page = AppPage(launch(playwright), server, "ana")
        page.open()
        page.see(".text.context")
        for _ in found:
            shown = page.shown()
            record, target = next(pair for pair in found if pair[0].context == shown)
            worker = KeyWorker(page)
            keyed = worker.correct(target, document_of(record))
            # The next record may have come before anybody looks: nothing is pressed until it stands there.
            begun = time.perf_counter()
            page.press("a")
            _wait_for_another(page, page_text=target.context)
            keyed.seconds += time.perf_counter() - begun
            keyed.presses, keyed.strokes = keyed.presses + 1, keyed.strokes + 1
            keyed.done["accepted"] += 1
            took[record.id] = keyed
        page.context.close()
        assert server.stop()[0] == 0
    stored = documents_in(path)
    return took, [record.id for record, target in found if not _equals(stored[record.id, "ana"], target)]


def _wait_for_another(page: AppPage, page_text: str) -> None:
    done = page.page.get_by_text("Nothing left to do")
    other = page.page.locator(".editor[aria-busy=false] .text.context").filter(has_not_text=page_text.strip()[-40:])
    sync_api.expect(done.or_(other).first).to_be_visible(timeout=PATIENCE_MS)


def _equals(stored: AnnotationDocument, target: EditedDocument) -> bool:
    state = stored.state["document"]
    wanted = [(target.context[mark.start : mark.end], mark.entity_type, mark.relevance) for mark in target.marks]
    return labels(stored) == wanted and (state["context"], state["question"]) == (target.context, target.question)


def report(took: dict[str, Keyed], unlike: list[str]) -> None:
    """Print a line for each record, and one for all."""
    print("| record | what was done | presses | of these typed text | app s | fingers s (KLM) |\n|---|---|---|---|---|---|")
    for name, keyed in took.items():
        done = ", ".join(f"{count} {what}" for what, count in keyed.done.items())
        print(f"| {name} | {done} | {keyed.presses} | {keyed.letters} | {keyed.seconds:.2f} | {fingers(keyed):.1f} |")
    all_done = sum((keyed.done for keyed in took.values()), Counter[str]())
    presses = [keyed.presses - keyed.letters for keyed in took.values()]
    app, hands = [keyed.seconds for keyed in took.values()], [fingers(keyed) for keyed in took.values()]
    bare = [fingers(keyed, typed=False) for keyed in took.values()]
    print(f"\n{len(took)} records; unlike the validated row at the end: {unlike or 'none'}; done: {dict(all_done)}")
    print(f"of the spans added, {sum(keyed.found for keyed in took.values())} were found by their letters")
    print(f"presses without typed text: {sum(presses)}, {sum(presses) / len(took):.1f} a record, median {median(presses)}")
    print(f"typed text: {sum(keyed.letters for keyed in took.values())} letters")
    print(f"app: {sum(app):.1f} s, {sum(app) / len(took):.2f} s a record, median {median(app):.2f}")
    print(f"fingers (KLM): {sum(hands) / len(took):.1f} s a record, median {median(hands):.1f}")
    print(f"fingers without typed text: {sum(bare) / len(took):.1f} s a record, median {median(bare):.1f}")


def fingers(keyed: Keyed, *, typed: bool = True) -> float:
    """Seconds by the keystroke-level model."""
    strokes = keyed.strokes if typed else keyed.strokes - keyed.letters
    return strokes * STROKE_S + keyed.done.total() * PREPARATION_S


if __name__ == "__main__":
    main()
