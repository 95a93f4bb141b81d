"""``piiloom benchmark``: the benchmark of detectors: made, shown, and more texts for it written by a model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Final

from piiloom.cli.options import json_setting
from piiloom.cli.progress import asking, shown
from piiloom.cli.terminal import command_group, cost_line, examples, say, say_json, say_result
from piiloom.detection.benchmark.benchmark_options import BenchmarkOptions, WritingOptions
from piiloom.detection.detector_settings import LOCAL_MODELS
from piiloom.foundation.command_line import takes
from piiloom.foundation.settings import OptionalPath, Settings, setting
from piiloom.foundation.words import counted
from piiloom.providers.model_calls import CALLS, MODEL, MONEY

_MAKE = (
    "piiloom benchmark make --out outputs/benchmark",
    "piiloom benchmark make --out outputs/pl --locale pl_PL --documents 500 --seed 3",
    "piiloom benchmark make --out outputs/noisy --perturb ocr --perturb spacing",
    "piiloom benchmark make --out outputs/fresh --carriers outputs/carriers --with-shipped --locale pl_PL",
)
_SHOW = ("piiloom benchmark show outputs/benchmark", "piiloom benchmark show outputs/benchmark --document pl_PL-Finance-short-00006")
_WRITE = (
    "piiloom benchmark write --locale pl_PL --provider openai --budget-usd 2 --out outputs/carriers",
    (
        "piiloom benchmark write --locale fi_FI --domain IT --length short --documents 12 --provider compatible --model qwen3 "
        "--base-url http://localhost:11434/v1 --unpriced --out outputs/carriers"
    ),
)
_NAMES_SHOWN: Final = 40

benchmark_app = command_group(
    "Make the benchmark of detectors: documents of 13 locales and six domains with exact spans, and look-alikes that are none.",
    *(*_MAKE, *_SHOW, *_WRITE),
)


class Make(BenchmarkOptions):
    """The options of ``piiloom benchmark make``."""

    out: Path = setting(..., "The folder to write.", flags="--out -o", metavar="DIR")
    carriers: OptionalPath = setting(
        None, "Carrier texts of this folder, as benchmark write makes one, instead of those that ship.", metavar="DIR"
    )
    with_shipped: bool = setting(False, "Use the carrier texts that ship besides those of --carriers.")
    force: bool = setting(False, "Replace a benchmark that is there already.")
    as_json: bool = json_setting()


class Write(WritingOptions):
    """The options of ``piiloom benchmark write``."""

    panels: ClassVar[tuple[str, ...]] = (MODEL, LOCAL_MODELS, CALLS, MONEY)

    out: Path = setting(..., "The folder of carriers: a folder a locale, a YAML file a domain.", flags="--out -o", metavar="DIR")
    force: bool = setting(False, "Replace the carriers that are there already.")
    as_json: bool = json_setting()


class Show(Settings):
    """The options of ``piiloom benchmark show``."""

    folder: Path = setting(..., "The folder of a benchmark.", metavar="DIR", argument=True)
    document: str | None = setting(None, "Show this document with its values marked.", metavar="ID")
    as_json: bool = json_setting()


@benchmark_app.command("make", epilog=examples(*_MAKE))
@takes(Make)
def make(asked: Make) -> None:
    """Make a benchmark: benchmark.jsonl (native rows), look_alikes.jsonl (texts that must not be found) and benchmark.json (counts).

    Templates of everyday documents are filled with drawn values. No native speaker has checked the templates; benchmark.json says so.
    """
    from piiloom.detection.benchmark.making import make_folder

    def described(progress: tuple[int, int]) -> str:
        return f"{progress[0]:,} of {counted(progress[1], 'document')}"

    with shown(described, wanted=not asked.as_json, share=lambda progress: progress) as watch:
        counts = make_folder(asked.out, asked, carriers=asked.carriers, with_shipped=asked.with_shipped, force=asked.force, watch=watch)
    say_result({"out": str(asked.out), **counts}, *_count_lines(counts, asked.out, counts.get("carriers")), as_json=asked.as_json)


@benchmark_app.command("write", epilog=examples(*_WRITE))
@takes(Write)
def write(asked: Write) -> None:
    """Have a model write carrier texts: documents with slots, into which benchmark make --carriers puts values.

    A reply with unknown slots, anything personal written out, another length or language, or a copy of another is asked again
    with its fault named, then set aside in rejects.jsonl. Nothing personal is sent. No native speaker has checked the texts.
    """
    from piiloom.detection.benchmark.carrier_writing import have_written

    watching = partial(asking, asked.replies, wanted=not asked.as_json)
    written, paths = have_written(asked.out, asked, force=asked.force, watching=watching)
    if asked.as_json:
        say_json({"out": str(asked.out), **written.to_json(), "files": [str(path.relative_to(asked.out)) for path in paths]})
        return
    author, rejected = " ".join(written.author), written.rejected
    say(f"{counted(written.kept, 'carrier')} written by {author}, with {written.template[0]}; no native speaker has checked them")
    if rejected:
        reasons = ", ".join(f"{code} {count:,}" for code, count in rejected.most_common())
        say(f"{rejected.total():,} rejected ({reasons}): rejects.jsonl has the last reply to each")
    totals = written.totals
    say(cost_line(None if totals.unpriced else totals.spent_usd, totals.answered, totals.replayed, run=written.run_id, store=asked.replies))
    for line in (*paths, f"next: piiloom benchmark make --carriers {asked.out} --out DIR"):
        say(str(line))


@benchmark_app.command("show", epilog=examples(*_SHOW))
@takes(Show)
def show(asked: Show) -> None:
    """Show the contents of a benchmark: documents by locale, domain and length, entities and look-alikes."""
    from piiloom.detection.benchmark.making import read_benchmark

    if asked.document is not None:
        _show_document(asked.folder, asked.document, as_json=asked.as_json)
        return
    about = read_benchmark(asked.folder)
    say_result(about, *_count_lines(about["counts"], asked.folder, about.get("carriers")), as_json=asked.as_json)


def _count_lines(counts: Mapping[str, Any], folder: Path, carriers: Mapping[str, Any] | None) -> Iterator[str]:
    from piiloom.detection.benchmark.making import ROWS

    documents, values = sum(counts["documents"].values()), sum(counts["entities"].values())
    look_alikes = sum(counts["look_alikes"].values())
    rest = f"{counted(values, 'value')} of {counted(len(counts['entities']), 'entity')}, {counted(look_alikes, 'look-alike')}"
    yield f"{counted(documents, 'document')}, {counted(counts['words'], 'word')}, {rest}"
    for name in ("documents", "domains", "lengths", "forms", "perturbations"):
        if counts[name]:
            listed = sorted(counts[name].items(), key=lambda one: (-one[1], one[0]))
            yield f"{name:<13} " + ", ".join(f"{key} {count:,}" for key, count in listed[:_NAMES_SHOWN])
    if counts["lost_values"]:
        yield f"nothing is left of {counted(counts['lost_values'], 'value')} after the perturbation"
    if carriers and carriers["written_by"]:
        yield f"carrier texts were written by {', '.join(carriers['written_by'])}"
    if carriers is None or carriers["unchecked"]:
        some = "the" if carriers is None or carriers["unchecked"] == carriers["carriers"] else f"{carriers['unchecked']:,} of the"
        yield f"no native speaker has checked {some} carrier texts"
    yield str(folder / ROWS)


def _show_document(folder: Path, document_id: str, *, as_json: bool) -> None:
    from piiloom.corpus.formats.native_rows import row_of
    from piiloom.detection.benchmark.making import benchmark_document

    record = benchmark_document(folder, document_id)
    marked, at = "", 0
    for span in record.spans:
        marked += record.context[at : span.start] + f"[{span.text_in(record.context)}|{span.subtype}]"
        at = span.end
    say_result(row_of(record), marked + record.context[at:], as_json=as_json)
