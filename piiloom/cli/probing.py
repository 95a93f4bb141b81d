"""The work behind ``piiloom probe``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from piiloom.cli.probe_progress import shown_steps
from piiloom.cli.probe_tables import print_result, print_saved
from piiloom.cli.terminal import say, say_json
from piiloom.evaluation.probe.as_json import result_json, saved_json
from piiloom.evaluation.probe.files import Saving, probe_files
from piiloom.foundation.errors import UsageError
from piiloom.foundation.words import counted


@dataclass(frozen=True, slots=True, kw_only=True)
class Keeping:
    """The options about saving."""

    save: Path | None
    calibrate: Path | None
    force: bool

    def asked(self) -> Saving | None:
        """What they ask for. Raises ``UsageError`` for those that need ``--save``."""
        if self.save is not None:
            return Saving(folder=self.save, calibrate=self.calibrate, force=self.force)
        if self.calibrate is not None or self.force:
            raise UsageError("only what is saved is calibrated or replaced", where="--calibrate, --force", remedy="Add --save DIR")
        return None


def probe_and_report(
    train: Path,
    tests: Sequence[Path],
    *,
    file_format: str | None,
    sizes: str | None,
    limit: int | None,
    by_type: bool,
    errors: Path | None,
    seed: int,
    keeping: Keeping,
    as_json: bool,
) -> None:
    """Probe and print the figures; what is wrong with the request or the files comes out before the training."""
    wanted, saving = _sizes(sizes, limit), keeping.asked()
    if not tests and saving is None:
        raise UsageError("there is nothing to test on", where="TEST", remedy="Name a file, or keep what is trained with --save DIR")
    with shown_steps(wanted=not as_json) as watch:
        result, written, saved = probe_files(
            train, tests, sizes=wanted, errors=errors, seed=seed, watch=watch, file_format=file_format, saving=saving
        )
    if as_json:
        beside = {"errors_file": None if errors is None else str(errors)} | ({} if saved is None else {"saved": saved_json(saved)})
        say_json(result_json(result, by_type=by_type) | beside)
        return
    print_result(result, by_type=by_type)
    if written is not None:
        kinds = ", ".join(f"{kind.replace('_', ' ')} {count:,}" for kind, count in written.most_common())
        say(f"errors when trained on {counted(result.trainings[-1].records, 'record')}: {kinds or 'none'}; in {errors}")
    if saved is not None:
        print_saved(saved)


def _sizes(sizes: str | None, limit: int | None) -> list[int] | None:
    if sizes is None:
        return None if limit is None else [limit]
    if limit is not None:
        raise UsageError("--limit and --sizes both say how much to train on", remedy="Give one of them")
    parts = [part.strip() for part in sizes.split(",")]
    if not all(re.fullmatch(r"[1-9][0-9]{0,8}", part) for part in parts):
        raise UsageError("not a list of numbers of records", where="--sizes", remedy="Write for example --sizes 250,500,1000")
    return [int(part) for part in parts]
