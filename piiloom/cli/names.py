"""``piiloom names``: the names index is built and looked up."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

import typer

from piiloom.cli.options import json_setting
from piiloom.cli.progress import shown
from piiloom.cli.terminal import examples, say, say_aside, say_json
from piiloom.foundation.command_line import takes
from piiloom.foundation.errors import UsageError
from piiloom.foundation.settings import Settings, setting
from piiloom.foundation.words import counted

if TYPE_CHECKING:
    from piiloom.pii_values.names.building import Step
    from piiloom.pii_values.names.classifying import NameFacts

_BUILD = ("piiloom names build", "piiloom names build --out names.idx --country NL,BE,DE")
_CLASSIFY = ('piiloom names classify "Adaeze Okafor" "Md. Rahman"', "piiloom names classify --file names.txt --json")
_TOP = ("piiloom names top --country NL --gender female -n 20", "piiloom names top --country KR --family")
# The share of the time that each step takes: its beginning, and its length.
_PARTS: Final = {
    ("first", "reading"): (0.0, 0.3),
    ("first", "packing"): (0.3, 0.15),
    ("last", "reading"): (0.45, 0.3),
    ("last", "packing"): (0.75, 0.2),
    ("writing", "writing"): (0.95, 0.05),
}

names_app = typer.Typer(
    help="Look up names in the names index, and build the large one.",
    epilog=examples(*_BUILD, *_CLASSIFY, *_TOP),
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


class _Index(Settings):
    names_index: Path | None = setting(
        None, "The names index (default: $PIILOOM_NAMES, else the one that was built, else the built-in one).", metavar="FILE"
    )


class Build(Settings):
    """The options of ``piiloom names build``."""

    out: Path | None = setting(None, "The file to write; in your data folder when not given.", flags="--out -o", metavar="FILE")
    country: str | None = setting(None, "Only these countries, as ISO codes with commas between (default: all 105).", metavar="CODES")
    as_json: bool = json_setting()


class Classify(_Index):
    """The options of ``piiloom names classify``."""

    names: tuple[str, ...] = setting((), "Full names, each in quotes.", metavar="NAME...", argument=True)
    file: Path | None = setting(None, "A text file with one name a line (UTF-8).", metavar="FILE")
    as_json: bool = json_setting()


class Top(_Index):
    """The options of ``piiloom names top``."""

    country: str = setting(..., "ISO 3166 alpha-2 code of the country: NL.", metavar="CODE")
    gender: str | None = setting(None, "female or male; both when not given.")
    limit: int = setting(20, "Number of names.", flags="--limit -n", ge=1)
    family: bool = setting(False, "Family names instead of given names.")
    as_json: bool = json_setting()


@names_app.command("build", epilog=examples(*_BUILD))
@takes(Build)
def build(asked: Build) -> None:
    """Build the large names index from the package names-dataset: once, for yourself, in about half a minute.

    It needs about 1.4 GB of memory while it runs and 85 MB of disk. docs/names.md names the sources of the package;
    do not pass the index on.
    """
    from piiloom.pii_values.names.building import PEAK_MB, build_index
    from piiloom.pii_values.names.index import open_names, user_file

    path = asked.out or user_file()
    wanted = None if asked.country is None else [code.strip().upper() for code in asked.country.split(",") if code.strip()]
    if wanted == []:
        raise UsageError("no country is given", remedy="Write --country NL,BE or leave the option out.")
    say_aside(f"reading names-dataset; this takes up to {PEAK_MB:,} MB of memory")
    started = time.monotonic()
    with shown(_described, wanted=not asked.as_json, label="names", share=lambda step: (_total(step), 1.0)) as watch:
        size = build_index(path, countries=wanted, watch=lambda *step: watch(step))
    took = time.monotonic() - started
    index = open_names(path)
    if asked.as_json:
        say_json({"file": str(path), "bytes": size, "first_names": len(index.first), "last_names": len(index.last), "source": index.source})
        return
    say(
        f"{path}: {len(index.first):,} first and {len(index.last):,} last names "
        f"of {counted(len(index.countries()), 'country')}, {counted(size, 'byte')}"
    )
    say(f"built in {took:.0f} s from {index.source}; for use on this machine, see docs/names.md")


def _described(progress: tuple[Step, str, float], now: float) -> str:
    del now
    step, doing, _ = progress
    return f"{'writing' if step == 'writing' else f'{doing} {step} names'}, {100 * _total(progress):.0f}%"


def _total(progress: tuple[Step, str, float]) -> float:
    step, doing, share = progress
    start, part = _PARTS[step, doing]
    return start + part * share


@names_app.command("classify", epilog=examples(*_CLASSIFY))
@takes(Classify)
def classify(asked: Classify) -> None:
    """Estimate gender, country and UN region of names, with probabilities. A guess about names, never a fact about a person."""
    from piiloom.cli.terminal import in_columns
    from piiloom.pii_values.names.classifying import Classifier, read_name_list
    from piiloom.pii_values.names.index import open_names

    if bool(asked.names) == (asked.file is not None):
        raise UsageError("give names or --file, one of the two")
    wanted = asked.names if asked.file is None else read_name_list(asked.file)
    classifier = Classifier(open_names(asked.names_index))
    found = [classifier.classify(name) for name in wanted]
    if asked.as_json:
        say_json({"index": classifier.source, "names": [facts.as_json() for facts in found]})
        return
    rows = [("name", "gender", "region", "countries", "known"), *map(_row, found)]
    say("\n".join(in_columns(rows, left=range(5))))


def _row(facts: NameFacts) -> tuple[str, str, str, str, str]:
    countries = ", ".join(f"{code} {_per_cent(share)}" for code, share in facts.countries)
    gender = f"{facts.gender} {_per_cent(facts.gender_share)}" if facts.gender else "unknown"
    region = f"{facts.region} {_per_cent(facts.region_share)}" if facts.region else "unknown"
    return facts.name, gender, region, countries or "unknown", facts.known


def _per_cent(share: float | None) -> str:
    return f"{100 * (share or 0.0):.0f}%"


@names_app.command("top", epilog=examples(*_TOP))
@takes(Top)
def top(asked: Top) -> None:
    """List the most frequent names of a country, most frequent first."""
    from piiloom.cli.terminal import in_columns
    from piiloom.pii_values.names.index import open_names

    index, country = open_names(asked.names_index), asked.country.upper()
    found = index.most_frequent(country, asked.limit, family=asked.family, gender=asked.gender)
    if asked.as_json:
        say_json({"index": index.source, "country": country, "names": found})
        return
    columns = {"family": found} if asked.family else {{"F": "female", "M": "male"}[of]: names for of, names in sorted(found.items())}
    lines = max(map(len, columns.values()), default=0)
    rows = [("rank", *columns)]
    rows += [(str(at + 1), *(names[at] if at < len(names) else "" for names in columns.values())) for at in range(lines)]
    say("\n".join(in_columns(rows, left=range(1, len(columns) + 1))))
