"""Run detectors for ``piiloom compare``, each in a process of its own, so that its memory is its own."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple

from piiloom.detection.families import FAMILIES
from piiloom.evaluation.comparison.measured import Measured
from piiloom.foundation.errors import DataError, UsageError
from piiloom.foundation.whole_files import output_errors

_OURS: Final = ("--out", "--json", "--format", "--mask", "--to", "--resume", "--force")
_UNSAFE: Final = re.compile(r"[^\w.+-]+")


class AskedDetector(NamedTuple):
    """One ``--detector``: how its column is called, the detector, and its options as ``piiloom detect`` takes them."""

    name: str
    detector: str
    options: tuple[str, ...]


def asked_detectors(given: Sequence[str], taken: Sequence[str] = ()) -> list[AskedDetector]:
    """Read ``[NAME=]DETECTOR [options]``; names that are *taken* are refused. Raises ``UsageError``."""
    found: list[AskedDetector] = []
    names = set(taken)
    for words in given:
        called, equals, rest = words.partition("=")
        named = bool(equals) and "--" not in called
        try:
            detector, *options = shlex.split(rest if named else words) or [""]
        except ValueError:
            raise UsageError("not a detector and its options", where=f"--detector {words}", remedy="Quote it as in a shell") from None
        if detector not in FAMILIES:
            raise UsageError(f"there is no detector {detector!r}", where="--detector", remedy=f"Known: {', '.join(FAMILIES)}")
        if ours := next((one for one in options if one.partition("=")[0] in _OURS), None):
            raise UsageError(f"{ours} is set by the comparison", where="--detector", remedy="Leave it out")
        name = called if named else detector
        if not name.strip() or name in names:
            raise UsageError(f"two systems are called {name!r}", where="--detector", remedy="Name them apart: NAME=DETECTOR")
        names.add(name)
        found.append(AskedDetector(name, detector, tuple(options)))
    return found


@contextmanager
def detector_folder(keep: Path | None) -> Iterator[Path]:
    """Give *keep*, which is made, or a folder that is removed again."""
    if keep is None:
        with TemporaryDirectory(prefix="piiloom-compare-") as folder:
            yield Path(folder)
        return
    with output_errors(keep):
        keep.mkdir(parents=True, exist_ok=True)
    yield keep


def run_detectors(
    asked: Sequence[AskedDetector], gold: Path, folder: Path, reading: Mapping[str, str | None]
) -> tuple[dict[str, Path], dict[str, Measured]]:
    """Have each of *asked* detect in *gold*; return its predictions, in *folder*, and what it took, by name.

    *reading* are options of ``piiloom detect`` by which *gold* is read, where a detector's own do not say it.

    Raises ``DataError`` if one fails, whose own words stand on standard error then.
    """
    files: dict[str, Path] = {}
    measured: dict[str, Measured] = {}
    for number, one in enumerate(asked, start=1):
        out = folder / f"{number}-{_UNSAFE.sub('-', one.name)}.jsonl"
        out.unlink(missing_ok=True)  # else it would be refused, as a file of somebody's
        told = _run(one, gold, out, [word for pair in reading.items() if pair[1] and pair[0] not in one.options for word in pair])
        if told["failed"]:
            _append_failed(out)
        files[one.name] = out
        measured[one.name] = _measured(told)
    return files, measured


def _run(one: AskedDetector, gold: Path, out: Path, reading: Sequence[Any]) -> dict[str, Any]:
    command = [sys.executable, "-m", "piiloom", "detect", str(gold), "--detector", one.detector, *one.options, *reading]
    child = subprocess.run([*command, "--out", str(out), "--json", "--force"], stdout=subprocess.PIPE, check=False)  # noqa: S603 - ourselves
    if child.returncode:
        raise DataError(
            f"the detector {one.name!r} failed (exit code {child.returncode})",
            where=f"--detector {one.detector}",
            remedy="What it says stands above; try it alone with piiloom detect",
        )
    told: dict[str, Any] = json.loads(child.stdout)
    return told


def _measured(told: Mapping[str, Any]) -> Measured:
    model = told["model"]
    usd = 0.0 if model is None else None if model.get("unpriced") else model["cost_usd"] + model["charged_usd"]
    documents = told["documents"] + told["failed"]
    return Measured(documents=documents, failed=told["failed"], seconds=told["seconds"], peak_bytes=told["peak_bytes"], usd=usd)


def _append_failed(out: Path) -> None:
    """Give documents that failed a row without spans: in a comparison, all that is in them was missed."""
    with out.with_name(f"{out.stem}.detect-rejects.jsonl").open(encoding="utf-8") as rejects, out.open("a", encoding="utf-8") as rows:
        for line in rejects:
            told = json.loads(line)
            if "id" in told:
                rows.write(json.dumps({"id": told["id"], "context": told["row"], "spans": []}, ensure_ascii=False) + "\n")
