"""The work behind ``piiloom train verifier-data``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from piiloom.cli.agreeing import agree_to_send
from piiloom.cli.asking_line import asking
from piiloom.cli.run_summary import dollars
from piiloom.cli.settings_from import settings_of
from piiloom.cli.terminal import say, say_json
from piiloom.cli.train_options import VerifierCommand
from piiloom.cli.train_reading import read_and_tell, training_choice
from piiloom.corpus.formats.base import LossEntry
from piiloom.corpus.formats.verifier import BLANK, COUNTS, NO_TWIN
from piiloom.corpus.split_names import TRAIN, VALIDATION
from piiloom.detection.asking.model_settings import ModelSettings
from piiloom.detection.training.training_data import TrainingData
from piiloom.detection.verifying.reasoned_files import DEFAULTS, check_place, counted_rows, kept_rows, write_counts, write_split
from piiloom.detection.verifying.reasoning_run import Written, write_reasonings
from piiloom.detection.verifying.reasonings import Case, cases_of
from piiloom.foundation.errors import DataError, UsageError
from piiloom.foundation.words import counted


def make_and_report(asked: VerifierCommand) -> None:
    """Have the reasonings written, write the files and say what came of it; what is wrong is found before anything is sent."""
    model = _model(asked)
    if asked.default not in DEFAULTS:
        raise UsageError(f"{asked.default!r} is no default", where="--default", remedy=f"Choose one of {', '.join(DEFAULTS)}")
    check_place(asked.out, force=asked.force)
    data = _data(asked)
    lost: dict[str, list[LossEntry]] = {TRAIN: [], VALIDATION: []}
    cases = {split: list(cases_of(records, lost[split], data.taxonomy)) for split, records in _splits(data).items()}
    total = sum(map(len, cases.values()))
    if not total:
        raise DataError("no span has a wrong candidate beside it", where=str(asked.out), remedy="Give records with longer texts")
    _agree(asked, model, total)
    with asking(asked.store) as watch:
        written = write_reasonings([one for split in cases.values() for one in split], model, digest=data.digest, watch=watch)
    files, counts = _write(asked, cases, lost, written)
    counts["data"] = dict(data.about)
    files.append(str(write_counts(asked.out, counts)))
    _report(asked, counts, files, written)


def _model(asked: VerifierCommand) -> ModelSettings:
    model = settings_of(ModelSettings, asked)
    model.spec()
    return model


def _data(asked: VerifierCommand) -> TrainingData:
    choice = training_choice(asked, asked.seed)
    return read_and_tell(choice, asked.store)


def _splits(data: TrainingData) -> dict[str, Sequence[Any]]:
    return {TRAIN: data.train, VALIDATION: data.validation} if data.validation else {TRAIN: data.train}


def _agree(asked: VerifierCommand, model: ModelSettings, total: int) -> None:
    place = f" at {model.base_url}" if model.base_url else ""
    words = f"the texts of {counted(total, 'candidate')} would be sent to {model.provider}{place}, model {model.name}"
    agree_to_send(f"{words}; replies are kept in {model.store}", yes=asked.yes)


def _write(
    asked: VerifierCommand, cases: Mapping[str, Sequence[Case]], lost: Mapping[str, Sequence[LossEntry]], written: Written
) -> tuple[list[str], dict[str, Any]]:
    """Write the rows of each split; return the files and the counts."""
    files: list[str] = []
    counts: dict[str, Any] = {"by": f"{asked.provider} {_model(asked).name}", "default": asked.default, "splits": {}}
    at = 0
    # Without this file the folder is not complete, and one of an earlier run would say that it is.
    (asked.out / COUNTS).unlink(missing_ok=True)
    for split, own in cases.items():
        made = written.rows[at : at + len(own)]
        at += len(own)
        kept = kept_rows(made, asked.default)
        files += map(str, write_split(asked.out, split, kept))
        counts["splits"][split] = counted_rows(kept, made, sum(one.reason in {NO_TWIN, BLANK} for one in lost[split]))
    return files, counts


def _report(asked: VerifierCommand, counts: Mapping[str, Any], files: Sequence[str], written: Written) -> None:
    totals = written.totals
    cost = {"run": written.run_id, "usd": None if totals.unpriced else totals.spent_usd}
    if asked.as_json:
        say_json(
            {"out": str(asked.out), **counts, "cost": {**cost, "answered": totals.answered, "replayed": totals.replayed}, "files": files}
        )
        return
    for split, told in counts["splits"].items():
        say(f"{split}: {counted(told['rows'], 'row')} in each set, {told['T']:,} T and {told['F']:,} F")
        say(f"  reasonings: {', '.join(f'{name} {count:,}' for name, count in told['reasonings'].items())}")
        say(f"  right at try: {', '.join(f'{number}: {count:,}' for number, count in told['right at try'].items()) or 'none'}")
        if told["wrong candidates taken for right"]:
            fate = "dropped" if asked.default == "drop" else "answered T"
            say(f"  wrong candidates that the model always took for right: {told['wrong candidates taken for right']:,}, {fate}")
        if told["spans without rows"]:
            say(f"  spans without rows (no wrong candidate beside them): {told['spans without rows']:,}")
    price = "unknown" if totals.unpriced else dollars(totals.spent_usd)
    say(
        f"cost: {price} for {counted(totals.answered, 'reply')}, {totals.replayed:,} more from the store; "
        f"piiloom cost --run {written.run_id} --store {asked.store}"
    )
    for name in files:
        say(name)
