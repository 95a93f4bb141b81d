"""What ``piiloom names`` does: builds the index with progress, classifies names, lists the most frequent ones."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

from piiloom.cli.terminal import error_console, in_columns, say, say_aside, say_json
from piiloom.foundation.errors import DataError, UsageError
from piiloom.foundation.words import counted
from piiloom.pii_values.names.building import PEAK_MB, Step, Watch, build_index
from piiloom.pii_values.names.classifying import Classifier, NameFacts
from piiloom.pii_values.names.index import open_names, user_file

_LINE_EVERY_S = 5.0
# How much of the time each step takes.
_PARTS = {("first", "reading"): (0.0, 0.3), ("first", "packing"): (0.3, 0.15), ("last", "reading"): (0.45, 0.3)}
_PARTS |= {("last", "packing"): (0.75, 0.2), ("writing", "writing"): (0.95, 0.05)}


def build_names(out: Path | None, countries: str | None, *, quiet: bool, as_json: bool) -> None:
    """Build the large index and say where it is."""
    path = out or user_file()
    wanted = None if countries is None else [code.strip().upper() for code in countries.split(",") if code.strip()]
    if wanted == []:
        raise UsageError("no country is given", remedy="Write --countries NL,BE or leave the option out.")
    if not quiet:
        say_aside(f"reading names-dataset; this takes up to {PEAK_MB:,} MB of memory")
    started = time.monotonic()
    with _shown(wanted=not quiet) as watch:
        size = build_index(path, countries=wanted, watch=watch)
    took = time.monotonic() - started
    index = open_names(path)
    if as_json:
        say_json({"file": str(path), "bytes": size, "first_names": len(index.first), "last_names": len(index.last), "source": index.source})
        return
    say(
        f"{path}: {len(index.first):,} first and {len(index.last):,} last names "
        f"of {counted(len(index.countries()), 'country')}, {counted(size, 'byte')}"
    )
    say(f"built in {took:.0f} s from {index.source}; for use on this machine, see docs/names.md")


@contextmanager
def _shown(*, wanted: bool) -> Iterator[Watch]:
    """A bar on a terminal, a line every few seconds elsewhere."""
    console = error_console()
    said = time.monotonic()

    def line(step: Step, doing: str, share: float) -> None:
        nonlocal said
        now = time.monotonic()
        if wanted and now - said >= _LINE_EVERY_S:
            said = now
            say_aside(f"names: {_described(step, doing)}, {100 * _total(step, doing, share):.0f}%")

    if not wanted or not console.is_terminal:
        yield line
        return
    columns = (TextColumn("{task.description}", markup=False), BarColumn(bar_width=None), TaskProgressColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("names", total=1.0)

        def watch(step: Step, doing: str, share: float) -> None:
            bar.update(task, description=_described(step, doing), completed=_total(step, doing, share))

        yield watch


def _described(step: Step, doing: str) -> str:
    return "writing" if step == "writing" else f"{doing} {step} names"


def _total(step: Step, doing: str, share: float) -> float:
    start, part = _PARTS[step, doing]
    return start + part * share


def classify_names(names: Sequence[str], file: Path | None, index: Path | None, *, as_json: bool) -> None:
    """Classify the names given, or those of a file, and print what they tell."""
    if bool(names) == (file is not None):
        raise UsageError("give names or --file, one of the two")
    wanted = _read(file) if file is not None else list(names)
    classifier = Classifier(open_names(index))
    found = [classifier.classify(name) for name in wanted]
    if as_json:
        say_json({"index": classifier.source, "names": [facts.as_json() for facts in found]})
        return
    rows = [("name", "gender", "region", "countries", "known"), *(_row(facts) for facts in found)]
    say("\n".join(in_columns(rows, left=range(5))))


def _row(facts: NameFacts) -> tuple[str, str, str, str, str]:
    countries = ", ".join(f"{code} {_per_cent(share)}" for code, share in facts.countries)
    gender = f"{facts.gender} {_per_cent(facts.gender_share)}" if facts.gender else "unknown"
    region = f"{facts.region} {_per_cent(facts.region_share)}" if facts.region else "unknown"
    return facts.name, gender, region, countries or "unknown", facts.known


def _per_cent(share: float | None) -> str:
    return f"{100 * (share or 0.0):.0f}%"


def _read(file: Path) -> list[str]:
    try:
        text = file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror or 'not a file'}", where=str(file), remedy="Check the path.") from error
    except UnicodeDecodeError as error:
        raise DataError("is not UTF-8 text", where=str(file), remedy="Save the file as UTF-8.") from error
    names = [line.strip() for line in text.splitlines() if line.strip()]
    if not names:
        raise DataError("holds no name", where=str(file), remedy="Write one name a line.")
    return names


def print_top(country: str, gender: str | None, number: int, index: Path | None, *, family: bool, as_json: bool) -> None:
    """Print the most frequent names of a country."""
    opened = open_names(index)
    code = country.upper()
    if code not in opened.countries():
        raise UsageError(f"the index has no names of {country!r}", remedy=f"It has {', '.join(opened.countries())}.")
    found = opened.top_names(number, not family, code, gender)[code]
    if as_json:
        say_json({"index": opened.source, "country": code, "names": found})
        return
    columns = {"family": found} if family else {{"F": "female", "M": "male"}[of]: names for of, names in sorted(found.items())}
    lines = max(map(len, columns.values()), default=0)
    rows = [("rank", *columns)]
    rows += [(str(at + 1), *(names[at] if at < len(names) else "" for names in columns.values())) for at in range(lines)]
    say("\n".join(in_columns(rows, left=range(1, len(columns) + 1))))
