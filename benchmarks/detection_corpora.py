"""Detectors on real labelled corpora of ../shared/data: ours without a model beside Presidio, patterns only and with a model of spaCy.

    python -m benchmarks.detection_corpora --make-peers     # once: an environment for Presidio and the model
    python -m benchmarks.detection_corpora

capid: 200 validated posts (15 types; ages, occupations, ailments …). presidio_research: 100 synthetic sentences. obi: four clinical notes,
spans from their placeholder form. sgd: user turns of task dialogues (names, places, times). mts_dialog has no labels: findings per 1,000
words, nearly all of them false. Types are brought to the 15; overlapping predictions are cut to the longer ones. Figures of a scheme: exact
range and type, exact range, any overlap. Figures: benchmarks/README.md.
"""

from __future__ import annotations

import csv
import json
import re
import tempfile
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchmarks.peers.contestants import OURS, contestants_of
from benchmarks.peers.harness import arguments, driven, prepared
from piiloom.corpus.formats.base import ReadOptions, ReadTally, RowReject
from piiloom.corpus.formats.capid import CapidFormat
from piiloom.taxonomy.entity_types import shipped_taxonomy
from piiloom.taxonomy.label_maps import label_map

_KINDS = ("typed", "exact", "overlap")

Spans = list[tuple[int, int, str]]
Corpus = list[tuple[str, Spans]]

_SHARED = Path("../shared/data")
_OBI_TAG = re.compile(r"<<([A-Z]+):(.*?)>>", re.DOTALL)
_OBI = {
    **dict.fromkeys(("PATIENT", "STAFF"), "name"),
    **dict.fromkeys(("LOCATION",), "location"),
    **dict.fromkeys(("HOSPITAL",), "organization"),
    **dict.fromkeys(("DATE",), "datetime"),
    **dict.fromkeys(("AGE",), "age"),
    **dict.fromkeys(("PHONE", "ID", "EMAIL", "OTHERPHI"), "code"),
}
_SGD = {
    **dict.fromkeys(("receiver", "contact_name"), "name"),
    **dict.fromkeys(
        "city from to location origin_airport destination destination_airport where_to from_city to_city area property_name".split(),
        "location",
    ),
    **dict.fromkeys(
        "end_date pickup_time start_date departure_date date_of_journey date new_alarm_time visit_date return_date check_out_date "
        "check_in_date show_time show_date appointment_date appointment_time".split(),
        "datetime",
    ),
    "amount": "finance",
}


def capid() -> Corpus:
    """The validated sample of CAPID."""
    rows = CapidFormat().read(
        _SHARED / "capid" / "validated_sample.jsonl", ReadOptions(skip_values=True, taxonomy=shipped_taxonomy()), ReadTally()
    )
    return [(row.context, [(s.start, s.end, s.entity_type) for s in row.spans]) for row in rows if not isinstance(row, RowReject)]


def presidio_research() -> Corpus:
    """The labelled sentences of presidio-research."""
    labels = label_map("presidio", taxonomy=shipped_taxonomy())
    rows = json.loads((_SHARED / "presidio_research" / "generated_small.json").read_text(encoding="utf-8"))
    found = []
    for row in rows:
        spans = ((s["start_position"], s["end_position"], labels.get(s["entity_type"])) for s in row["spans"])
        found.append((row["full_text"], sorted((start, end, label.partition("/")[0]) for start, end, label in spans if label)))
    return found


def obi() -> Corpus:
    """The notes of obi, from their placeholder form."""
    found = []
    for line in (_SHARED / "obi_ehr_notes" / "deid.jsonl").read_text(encoding="utf-8").splitlines():
        text, spans, at = "", [], 0
        marked = json.loads(line)["deid_text"]
        for tag in _OBI_TAG.finditer(marked):
            text += marked[at : tag.start()]
            spans.append((len(text), len(text) + len(tag[2]), _OBI.get(tag[1], "code")))
            text += tag[2]
            at = tag.end()
        found.append((text + marked[at:], spans))
    return found


def sgd() -> Corpus:
    """The turns of SGD; slots that are no personal information are left out."""
    found = []
    for line in (_SHARED / "sgd" / "turns.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        named = ((s["start"], s["end"], _SGD.get(s["slot"].split(".")[1])) for s in row["slots"])
        found.append((row["text"], sorted((start, end, kind) for start, end, kind in named if kind)))
    return found


def mts_dialog() -> Corpus:
    """The dialogues of MTS; nothing is labeled."""
    with (_SHARED / "mts_dialog" / "MTS_Dataset_TrainingSet.csv").open(encoding="utf-8", newline="") as rows:
        return [(row["dialogue"], []) for row in csv.DictReader(rows)]


CORPORA: dict[str, Callable[[], Corpus]] = {
    "capid": capid,
    "presidio_research": presidio_research,
    "obi": obi,
    "sgd": sgd,
    "mts_dialog": mts_dialog,
}
# Detector: contestant, and what its ``measure`` is told.
DETECTORS = {
    "piiloom patterns": (OURS, "patterns"),
    "piiloom hybrid-offline": (OURS, "hybrid-offline"),
    "Presidio, patterns": ("presidio", "patterns"),
    "Presidio, en_core_web_sm": ("presidio", "model"),
}


def disjoint(spans: Sequence[tuple[int, int, str]]) -> Spans:
    """The longest spans first, then those that do not overlap them."""
    kept: Spans = []
    for start, end, kind in sorted(spans, key=lambda one: (one[0] - one[1], one[0])):
        if all(end <= first or last <= start for first, last, _ in kept):
            kept.append((start, end, kind))
    kept.sort()
    assert all(one[1] <= other[0] for one, other in pairwise(kept))
    return kept


def scored(gold: Sequence[Spans], found: Sequence[Spans]) -> dict[str, float]:
    """Precision, recall and F1 of exact range with type, exact range, and any overlap, over all texts."""
    counts = dict.fromkeys(("typed", "exact", "overlap_gold", "overlap_found"), 0)
    for here, there in zip(gold, found, strict=True):
        counts["typed"] += len(set(here) & set(there))
        ranges, theirs = {one[:2] for one in here}, {one[:2] for one in there}
        counts["exact"] += len(ranges & theirs)
        counts["overlap_gold"] += sum(any(a < d and c < b for c, d in theirs) for a, b in ranges)
        counts["overlap_found"] += sum(any(a < d and c < b for c, d in ranges) for a, b in theirs)
    total, told = sum(map(len, gold)), sum(map(len, found))
    figures: dict[str, float] = {}
    for name, hit, right in (
        ("typed", counts["typed"], counts["typed"]),
        ("exact", counts["exact"], counts["exact"]),
        ("overlap", counts["overlap_gold"], counts["overlap_found"]),
    ):
        recall, precision = hit / total if total else 0.0, right / told if told else 0.0
        figures |= {f"{name}_p": precision, f"{name}_r": recall}
        figures[f"{name}_f1"] = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return figures


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--corpora", default=",".join(CORPORA), help="separated by commas (%(default)s)")
    given = parser.parse_args()
    contestants, versions = prepared("detection_corpora", contestants_of("detection_corpora"), given)
    by_name = {one.name: one for one in contestants}
    labels = {name: (label or "").partition("/")[0] for name, label in label_map("presidio", taxonomy=shipped_taxonomy()).items()}
    results: dict[str, Any] = {"versions": versions}
    for corpus in given.corpora.split(","):
        texts, gold = zip(*CORPORA[corpus](), strict=True)
        words = sum(len(text.split()) for text in texts)
        print(f"\n{corpus}: {len(texts):,} texts, {words:,} words, {sum(map(len, gold)):,} spans")
        heads = "".join(f"{one} P / R / F1".rjust(22) for one in _KINDS)
        print(f"{'':26}{heads}{'found':>8}{'/1000 words':>12}{'texts/s':>9}")
        for title, (name, detector) in DETECTORS.items():
            if name not in by_name:
                continue
            with tempfile.TemporaryDirectory() as folder:
                file = Path(folder) / "texts.json"
                file.write_text(json.dumps(texts), encoding="utf-8")
                told = driven(by_name[name], given.peers, {"texts": str(file), "detector": detector})
            found = [disjoint([(a, b, labels.get(kind, kind)) for a, b, kind in spans]) for spans in told["spans"]]
            figures = scored(gold, found)
            count = sum(map(len, found))
            results.setdefault(corpus, {})[title] = {**figures, "found": count, "texts_per_s": len(texts) / told["seconds"]}
            cells = "".join(
                f"{figures[f'{one}_p']:.2f} / {figures[f'{one}_r']:.2f} / {figures[f'{one}_f1']:.2f}".rjust(22) for one in _KINDS
            )
            print(f"{title:26}{cells}{count:8,}{count / words * 1000:12.1f}{len(texts) / told['seconds']:9,.0f}")
    if given.out:
        given.out.write_text(json.dumps(results, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
