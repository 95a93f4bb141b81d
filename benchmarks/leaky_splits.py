"""What leakage is worth: the probe trained and tested on a leaky and on a clean split of the same records.

    python -m benchmarks.leaky_splits --texts 400 --copies 0.5

To composer records (one a text) near-copies are added: of a share of the texts, another version with the same labels in which 3% of
the other words are replaced, as happens when a set is made by paraphrasing, or is merged from two. The leaky split assigns each record
by itself (``group_by=()``), the clean one keeps groups together; records and sizes are the same. "Seen" are the figures of
``measure_leakage``; the scores are those of ``piiloom probe`` on the test split. Needs the extra ``probe``.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory

from benchmarks.splitting import composed, reworded
from piiloom.corpus.formats.base import WriteOptions
from piiloom.corpus.formats.registry import NativeFormat
from piiloom.corpus.record import TEST, TRAIN, Record
from piiloom.corpus.releases.leakage import SplitLeakage, measure_leakage
from piiloom.corpus.releases.release_options import GROUP_BY, GroupBy, SplitSettings
from piiloom.corpus.releases.splits import split_records
from piiloom.evaluation.probe.data import read_corpus
from piiloom.evaluation.probe.run import run_probe
from piiloom.foundation.seeding import derive_rng
from piiloom.taxonomy.entity_types import shipped_taxonomy

SCORES = ("span_f1_exact", "span_f1_overlap", "type_acc", "rel_acc", "rel_balanced")
COPIED = 0.03
WAYS: dict[str, tuple[GroupBy, ...]] = {"leaky": (), "clean": GROUP_BY}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=int, default=400)
    parser.add_argument("--copies", type=float, default=0.5, help="share of the texts that have a near-copy (%(default)s)")
    parser.add_argument("--seeds", type=int, default=2)
    wanted = parser.parse_args()
    records = with_copies(wanted.texts, wanted.copies)
    print(f"{len(records):,} records, a test split of a fifth, mean of {wanted.seeds} seeds")
    print("| split | contexts seen | questions seen | open values seen | " + " | ".join(SCORES) + " |")
    print("|---" * (4 + len(SCORES)) + "|")
    for way, group_by in WAYS.items():
        runs = [scored(records, SplitSettings(test_size=0.2, seed=seed, group_by=group_by)) for seed in range(1, wanted.seeds + 1)]
        seen = [mean(figure(leakage) for leakage, _ in runs) for figure in (contexts, questions, values)]
        scores = [mean(found[score] for _, found in runs) for score in SCORES]
        print(f"| {way} | " + " | ".join([*(f"{share:.1%}" for share in seen), *(f"{score:.3f}" for score in scores)]) + " |", flush=True)


def with_copies(texts: int, share: float) -> list[Record]:
    """Return one record of each of *texts* composer texts, and near-copies of a *share* of them."""
    of_text = {record.context: record for record in composed({})}
    originals = list(of_text.values())[:texts]
    rng = derive_rng("leaky splits", texts)
    return [*originals, *(reworded(record, f"{record.id}c", COPIED, rng) for record in originals[: int(share * len(originals))])]


def scored(records: list[Record], settings: SplitSettings) -> tuple[SplitLeakage, dict[str, float]]:
    """Split *records*; return the leakage of the test split and the scores of a probe on it."""
    by_id = {record.id: record for record in records}
    splits = {name: [by_id[one] for one in ids] for name, ids in split_records(records, settings, taxonomy=shipped_taxonomy()).ids.items()}
    with TemporaryDirectory() as folder:
        for name, held in splits.items():
            NativeFormat().write(held, Path(folder) / f"{name}.jsonl", WriteOptions(taxonomy=shipped_taxonomy()))
        train, test = (read_corpus(Path(folder) / f"{name}.jsonl") for name in (TRAIN, TEST))
    figures = run_probe(train, [test]).trainings[0].tests[0].figures
    return measure_leakage(splits, taxonomy=shipped_taxonomy()).splits[TEST], {score: float(getattr(figures, score)) for score in SCORES}


def contexts(leakage: SplitLeakage) -> float:
    return leakage.contexts_near.share or 0.0


def questions(leakage: SplitLeakage) -> float:
    return leakage.questions_near.share or 0.0


def values(leakage: SplitLeakage) -> float:
    return leakage.open_values.share or 0.0


if __name__ == "__main__":
    main()
