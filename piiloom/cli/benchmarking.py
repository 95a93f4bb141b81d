"""The work behind ``piiloom benchmark``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar, cast

from rich.progress import Progress

from piiloom.cli.terminal import error_console, say, say_json
from piiloom.corpus.formats.base import ReadOptions, read_records
from piiloom.corpus.formats.native_rows import row_of
from piiloom.corpus.formats.registry import NativeFormat
from piiloom.detection.benchmark.benchmark_folder import ROWS, read_about, write_benchmark
from piiloom.detection.benchmark.carriers import LENGTHS
from piiloom.detection.benchmark.making import BenchmarkCounts, BenchmarkOptions, make_benchmark
from piiloom.detection.benchmark.own_carriers import OwnCarriers, read_own_carriers
from piiloom.detection.benchmark.perturbing import PERTURBATIONS
from piiloom.foundation.errors import UsageError
from piiloom.foundation.noop import noop
from piiloom.foundation.words import counted
from piiloom.taxonomy.entities.entity import DOMAINS
from piiloom.taxonomy.entities.entity_catalogue import LOCALES
from piiloom.taxonomy.entity_types import shipped_taxonomy
from piiloom.taxonomy.locales import resolve_locale

_MOST_SHOWN = 40

Name = TypeVar("Name", bound=str)


def options_of(
    locales: Sequence[str], domains: Sequence[str], lengths: Sequence[str], documents: int | None, perturbations: Sequence[str], seed: int
) -> BenchmarkOptions:
    """The options as ``detection.benchmark`` takes them; raises ``UsageError`` for an unknown name."""
    return BenchmarkOptions(
        locales=tuple(dict.fromkeys(resolve_locale(code, LOCALES) for code in locales)) or tuple(LOCALES),
        domains=_known("--domain", domains, DOMAINS),
        lengths=_known("--length", lengths, tuple(LENGTHS)),
        documents=documents,
        perturbations=_known("--perturb", perturbations, tuple(PERTURBATIONS)) if perturbations else (),
        seed=seed,
    )


def _known(option: str, given: Sequence[str], known: Sequence[Name]) -> tuple[Name, ...]:
    for name in given:
        if name not in known:
            raise UsageError(f"unknown name {name!r}", where=option, remedy=f"Known: {', '.join(known)}")
    return tuple(dict.fromkeys(cast("Sequence[Name]", given))) or tuple(known)


def with_own_carriers(
    options: BenchmarkOptions, folder: Path | None, locales: Sequence[str], domains: Sequence[str], lengths: Sequence[str], *, both: bool
) -> tuple[BenchmarkOptions, OwnCarriers | None]:
    """The carriers of *folder*, and *options* for them: what is not given by name is all that they have.

    Raises ``UsageError`` if a name that is given has no carrier.
    """
    if folder is None:
        if both:
            raise UsageError("there are no other carriers", where="--with-shipped", remedy="Add --carriers DIR, or leave it out")
        return options, None
    own = read_own_carriers(folder, with_shipped=both, locales=options.locales)
    options = options if locales else replace(options, locales=tuple(own.by_locale))
    own.require(options.locales, options.domains if domains else (), options.lengths if lengths else ())
    return options, own


def make_folder(out: Path, options: BenchmarkOptions, own: OwnCarriers | None = None, *, force: bool, quiet: bool, as_json: bool) -> None:
    """Make the benchmark, of the carriers that ship or of *own* ones, and say what it holds."""
    counts, told = BenchmarkCounts(), own.to_json() if own else None
    with _progress(wanted=not (quiet or as_json)) as watch:
        made = make_benchmark(options, counts, watch, own.by_locale if own else None)
        write_benchmark(out, made, options, counts, force=force, carriers=told)
    if as_json:
        say_json({"out": str(out), **counts.to_json()} | ({"carriers": told} if told else {}))
    else:
        _say_counts(counts.to_json(), out, told)


@contextmanager
def _progress(*, wanted: bool) -> Iterator[Callable[[int, int], object]]:
    console = error_console()
    if not wanted or not console.is_terminal:
        yield noop
        return
    with Progress(console=console, transient=True) as bar:
        task = bar.add_task("documents", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def show_folder(folder: Path, *, as_json: bool) -> None:
    """Say what the benchmark in *folder* holds."""
    about = read_about(folder)
    if as_json:
        say_json(about)
    else:
        _say_counts(about["counts"], folder, about.get("carriers"))


def _say_counts(counts: dict[str, Any], folder: Path, carriers: dict[str, Any] | None) -> None:
    documents, values = sum(counts["documents"].values()), sum(counts["entities"].values())
    look_alikes = sum(counts["look_alikes"].values())
    holds = f"{counted(values, 'value')} of {counted(len(counts['entities']), 'entity')}, {counted(look_alikes, 'look-alike')}"
    say(f"{counted(documents, 'document')}, {counted(counts['words'], 'word')}, {holds}")
    for name in ("documents", "domains", "lengths", "forms", "perturbations"):
        if counts[name]:
            listed = sorted(counts[name].items(), key=lambda one: (-one[1], one[0]))
            say(f"{name:<13} " + ", ".join(f"{key} {count:,}" for key, count in listed[:_MOST_SHOWN]))
    if counts["lost_values"]:
        say(f"nothing is left of {counted(counts['lost_values'], 'value')} after the perturbation")
    if carriers and carriers["written_by"]:
        say(f"carrier texts were written by {', '.join(carriers['written_by'])}")
    if carriers is None or carriers["unchecked"]:
        some = "the" if carriers is None or carriers["unchecked"] == carriers["carriers"] else f"{carriers['unchecked']:,} of the"
        say(f"no native speaker has checked {some} carrier texts")
    say(str(folder / ROWS))


def show_document(folder: Path, wanted: str, *, as_json: bool) -> None:
    """Print one document with its values in marks."""
    read_about(folder)
    options = ReadOptions(taxonomy=shipped_taxonomy(), blank_contexts=True)  # the documents have types that ship
    record = next((one for one in read_records(NativeFormat(), folder / ROWS, options) if one.id == wanted), None)
    if record is None:
        raise UsageError(f"there is no document {wanted!r}", where=str(folder / ROWS), remedy="Its lines begin with their ids")
    if as_json:
        say_json(row_of(record))
        return
    marked, at = "", 0
    for span in record.spans:
        marked += record.context[at : span.start] + f"[{span.text_in(record.context)}|{span.subtype}]"
        at = span.end
    say(marked + record.context[at:])
