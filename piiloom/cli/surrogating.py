"""The work behind ``piiloom surrogate``: requests checked, runs watched, reports printed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, Self

from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.table import Table

from piiloom.cli.surrogate_checks import (
    PlaceholderKeys,
    check_places,
    checked_locale,
    miss_rates,
    warning_of_language,
    worker_count,
    written_whole,
)
from piiloom.cli.surrogate_reading import Reading
from piiloom.cli.surrogate_values import Asked, values_by_model
from piiloom.cli.terminal import console, error_console, harmless, say, say_aside, say_json
from piiloom.foundation.counting import counted
from piiloom.foundation.errors import OutputError, UsageError
from piiloom.surrogates.by_model.rejects import REJECTS
from piiloom.surrogates.casting.groups import Weights
from piiloom.surrogates.inputs.json_rows import SPANS
from piiloom.surrogates.inputs.settings import InputSettings
from piiloom.surrogates.inputs.source import iter_documents
from piiloom.surrogates.kinds.span_kinds import kind_of_span
from piiloom.surrogates.outputs.checking import verify_folder
from piiloom.surrogates.placeholders.mapping import Mapping as TagMapping
from piiloom.surrogates.placeholders.mapping_file import dump_mapping, load_mapping
from piiloom.surrogates.placeholders.survey import Survey
from piiloom.surrogates.running import run_surrogates
from piiloom.surrogates.running_progress import Progress as RunProgress
from piiloom.surrogates.running_progress import RunReport
from piiloom.surrogates.settings import Settings
from piiloom.surrogates.work import WorkFactory

_SHOWN: Final = 12
_SURVEYED: Final = 64 * 2**20  # code points that "auto" learns from; tags beyond are still read by the vocabulary


def input_settings(reading: Reading) -> InputSettings:
    """*reading* as ``surrogates`` takes it; raises ``UsageError`` for what cannot be."""
    use_spans = reading.spans or bool(reading.spans_field)
    return InputSettings(
        path=reading.source,
        format=reading.file_format,
        text_fields=tuple(reading.text_field or ()),
        id_field=reading.id_field,
        encoding=reading.encoding,
        header=reading.header,
        delimiter={"\\t": "\t", "tab": "\t"}.get(reading.delimiter or "", reading.delimiter),
        spans_field=reading.spans_field or (SPANS if use_spans else None),  # asked for, so that [] means: nothing to replace
        use_spans=use_spans,
        kind_of=kind_of_span if use_spans else None,
        quoting=reading.quoting,
        max_unpacked=reading.max_unpacked * 2**20,
    )


def run_and_report(reading: Reading, options: Mapping[str, Any]) -> None:
    """Run as *reading* and the other *options* of the command say, with a progress bar on standard error, and print what was done."""
    if options["weights"] and options["groups"] != "weights":
        raise UsageError("weights are used with --groups weights only", where="--weights", remedy="Add --groups weights.")
    settings = _settings(options)
    out, vault, placeholders = options["out"], options["vault"], options["placeholders"]
    count, rates = worker_count(options["workers"]), miss_rates(options["leakage"], "--leakage")
    inputs = input_settings(reading)
    check_places(out, reading.source, vault, force=options["force"])
    mapping = None if inputs.use_spans else tag_mapping(placeholders, inputs)
    if mapping is not None:
        inputs = replace(inputs, look_at_key=PlaceholderKeys(mapping))
    factory = WorkFactory(settings=settings, mapping=mapping, on_unknown=options["on_unknown"], scan=options["scan"], miss_rates=rates)
    if (warning := warning_of_language(settings.locale)) is not None:
        say_aside(f"warning: {warning}")
    if vault is not None:
        say_aside(f"warning: {vault} will hold what was redacted, where it is known; keep it apart from the corpus")
    about = {
        "placeholders": "spans" if mapping is None else "auto" if placeholders == "auto" else Path(placeholders).name,
        **settings.to_json(),
    }
    with values_by_model(Asked.of(options), inputs, factory, out) as (working, drawn), _Bar() as bar:
        report = run_surrogates(
            inputs,
            out,
            working,
            seed=settings.seed,
            locale=settings.locale,
            workers=count,
            progress=bar.show,
            force=options["force"],
            vault=vault,
            about=about,
            beside=drawn.put_rejects if drawn is not None else None,
        )
    if (out / REJECTS).exists():
        say_aside(f"values that the model could not give, with reasons: {out / REJECTS}")
    if options["as_json"]:
        say_json({"out": str(out), **report.report})
    else:
        _print(report)


def survey_and_report(reading: Reading, out: Path | None, *, force: bool, as_json: bool) -> None:
    """Survey the input; write or print the mapping."""
    if out is not None and out.exists() and not force:
        raise OutputError("the file exists", where=str(out), remedy="Name another one, or use --force")
    documents, mapping = _learnt(input_settings(reading), limit=None)
    text = dump_mapping(mapping)
    if out is not None:
        with written_whole(out) as draft:
            draft.write_text(text, encoding="utf-8")
    if as_json:
        rules = [
            {"pattern": r.name, "kind": r.kind, "role": r.role, "same": r.same, "use": r.use, "confidence": r.confidence, "count": r.count}
            for r in mapping.rules
        ]
        unknown = [{"tag": one.tag, "count": one.count} for one in mapping.unknown]
        left = [{"tag": one.tag, "count": one.count} for one in mapping.left_alone]
        say_json({"documents": documents, "rules": rules, "unknown": unknown, "left_alone": left, "file": str(out) if out else None})
        return
    if out is None:
        say(text.rstrip("\n"))
        return
    table = Table(title=f"placeholders of {harmless(reading.source.name)}: {counted(documents, 'document')}")
    for name, right in (("pattern", False), ("kind", False), ("role", False), ("same", False), ("count", True), ("sure", True)):
        table.add_column(name, justify="right" if right else "left")
    for rule in sorted(mapping.rules, key=lambda r: -r.count)[: 2 * _SHOWN]:
        sure = f"{rule.confidence:.2f}" if rule.use else f"{rule.confidence:.2f}, not used"
        table.add_row(harmless(rule.name), rule.kind, harmless(rule.role), rule.same, f"{rule.count:,}", sure)
    console().print(table)
    others = f"{counted(len(mapping.unknown), 'unknown tag')}, {len(mapping.left_alone):,} kinds of brackets left alone"
    say(f"{counted(len(mapping.rules), 'rule')}, {others}: {out}")


def check_and_report(folder: Path, source: Path, *, as_json: bool) -> None:
    """Hold a run's folder against its input."""
    checked = verify_folder(folder, source)
    if as_json:
        say_json({"documents": checked.documents, "ranges": checked.ranges, "same": checked.same})
        return
    say(
        f"{counted(checked.documents, 'document')}, {counted(checked.ranges, 'replaced range')}; "
        f"{checked.same:,} code points outside of them are identical"
    )


def tag_mapping(placeholders: str, inputs: InputSettings) -> TagMapping:
    """The mapping that *placeholders* asks for: "auto", or a file's."""
    if placeholders != "auto":
        return load_mapping(Path(placeholders))
    return _learnt(inputs, limit=_SURVEYED)[1]


def _learnt(inputs: InputSettings, *, limit: int | None) -> tuple[int, TagMapping]:
    survey, seen, documents = Survey(), 0, 0
    for document in iter_documents(inputs):
        survey.add(document.text)
        documents += 1
        seen += len(document.text)
        if limit is not None and seen > limit:
            break
    return documents, survey.mapping()


def _settings(options: Mapping[str, Any]) -> Settings:
    return Settings(
        seed=options["seed"],
        locale=checked_locale(options["locale"]),
        scope=options["scope"],
        strategy=options["strategy"],
        keep=options["keep"],
        balance=options["groups"],
        weights=Weights.parse(options["weights"]),
        english_only=options["english_only"],
        script=options["script"],
        names=str(options["names"]) if options["names"] else None,
        keep_weekdays=options["keep_weekdays"],
    )


class _Bar:
    """The progress of a run on standard error, where that is a terminal."""

    def __init__(self) -> None:
        screen = error_console()
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            TextColumn("{task.fields[detail]}"),
            TimeRemainingColumn(),
        )
        self._progress = Progress(*columns, console=screen, transient=True, disable=not screen.is_terminal)
        self._task = self._progress.add_task("preparing", total=None, detail="")
        self._phase = ""

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def show(self, now: RunProgress) -> None:
        """Take over how far the run is."""
        if now.phase != self._phase:
            self._phase = now.phase
            self._progress.reset(self._task, total=now.total or None)
        detail = f"{counted(now.replaced, 'surrogate')}" if now.replaced else ""
        self._progress.update(self._task, description=now.phase, completed=now.done, total=now.total or None, detail=detail)


def _print(report: RunReport) -> None:
    told = report.report
    table = Table(title=f"surrogates in {harmless(str(report.out))}", show_header=False)
    table.add_column("what")
    table.add_column("number", justify="right")
    table.add_column("of these")
    table.add_row("documents", f"{report.documents:,}", "")
    kinds = ", ".join(f"{kind} {count:,}" for kind, count in list(told["replaced"]["by_kind"].items())[:_SHOWN])
    table.add_row("surrogates", f"{report.replaced:,}", kinds)
    people = told["engine"]["people"]
    table.add_row("people", f"{people['people']:,}", _groups(people))
    for key, name in (("unknown", "unknown tags"), ("left_alone", "brackets left alone")):
        found = told[key]
        listed = next(value for value in found.values() if isinstance(value, dict))
        table.add_row(name, f"{found['total']:,}", harmless(", ".join(f"{tag} {count:,}" for tag, count in list(listed.items())[:_SHOWN])))
    residual = told["engine"].get("looks_like_personal_information_still")
    if residual is not None:
        table.add_row(
            "looks personal still", f"{sum(residual.values()):,}", ", ".join(f"{why} {count:,}" for why, count in residual.items())
        )
    console().print(table)
    for row in told["engine"].get("leakage", ()):
        shares = ", ".join(f"{name} {row[name]:.1%}" for name in ("consistent", "per-mention", "markov"))
        say(f"at {row['miss_rate']:.1%} misses a document leaks recognisably: {shares}")
    for warning in report.warnings:
        say_aside(f"warning: {warning}")
    say(f"records, mirror, offset map and report: {report.out}")


def _groups(people: Mapping[str, Any]) -> str:
    counts = sorted(set(people["groups"].values()))
    each = f"{counts[0]:,}" if len(counts) == 1 else f"{counts[0]:,} to {counts[-1]:,}"
    gender = people["gender_told_by_text"]
    return f"{each} in each of {len(people['groups'])} groups; the text tells the gender of {people['people'] - gender.get('open', 0):,}"
