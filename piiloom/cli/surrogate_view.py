"""What ``piiloom surrogate`` shows on a terminal: the progress of a run, and what came of run, survey and check."""

from __future__ import annotations

import sys
from collections.abc import Callable
from collections.abc import Mapping as AnyMapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from rich.table import Table

from piiloom.cli.surrogate_checks import checked_locale, written_whole
from piiloom.cli.surrogate_options import InputOptions
from piiloom.cli.surrogate_running import Observer, input_settings, learnt_mapping
from piiloom.cli.surrogate_values import agreement
from piiloom.cli.terminal import error_console, harmless, say, say_aside, say_json, say_table
from piiloom.foundation.errors import OutputError
from piiloom.foundation.noop import noop
from piiloom.foundation.words import counted
from piiloom.surrogates.outputs.checking import verify_folder
from piiloom.surrogates.outputs.folder import REJECTS
from piiloom.surrogates.placeholders.mapping import Mapping, dump_mapping, survey_cautions
from piiloom.surrogates.progress import Progress as RunProgress
from piiloom.surrogates.progress import RunReport

if TYPE_CHECKING:
    from piiloom.surrogates.by_model.drawing import AskProgress

_SHOWN: Final = 12
_RULE_KEYS: Final = {"pattern": "name"} | {
    name: name for name in ("kind", "role", "same", "use", "confidence", "count", "language", "runner_up")
}


def terminal_observer(*, yes: bool) -> Observer:
    """Follow a run on this terminal. *yes*: what leaves the machine was agreed to beforehand."""
    there = yes or sys.stdin.isatty()
    return Observer(
        agree=agreement(yes) if there else None,
        tell=lambda warning: say_aside(f"warning: {warning}"),
        asking=_asking_line,
        running=_bar,
    )


def _bar() -> AbstractContextManager[Callable[[RunProgress], None]]:
    """Show the progress of a run on standard error, where that is a terminal."""
    screen = error_console()
    if not screen.is_terminal:
        return nullcontext(noop)
    from piiloom.cli.surrogate_bar import Bar  # noqa: PLC0415 - takes 5 ms

    return Bar(screen)


def _asking_line() -> AbstractContextManager[Callable[[AskProgress], None]]:
    from piiloom.cli.asking_line import AskingLine  # noqa: PLC0415 - loads what asks models; most runs ask none

    return AskingLine()


def print_report(report: RunReport, *, as_json: bool) -> None:
    """Print what a run did."""
    rejects = report.out / REJECTS
    if rejects.exists():
        say_aside(f"values that the model could not give, with reasons: {rejects}")
    if as_json:
        say_json({"out": str(report.out), **report.report})
    else:
        _print(report)


def survey_and_report(inputs: InputOptions, out: Path | None, locale: str | None, *, force: bool, as_json: bool) -> None:
    """Survey the input; write or print the mapping."""
    if out is not None and out.exists() and not force:
        raise OutputError("the file exists", where=str(out), remedy="Name another one, or use --force")
    survey, mapping = learnt_mapping(input_settings(inputs), checked_locale(locale) if locale else None, limit=None)
    documents, cautions = survey.documents, survey_cautions(mapping)
    text = dump_mapping(mapping)
    if out is not None:
        with written_whole(out) as draft:
            draft.write_text(text, encoding="utf-8")
    if as_json:
        rules = [{name: getattr(rule, key) for name, key in _RULE_KEYS.items()} for rule in mapping.rules]
        unknown = [{"tag": one.tag, "count": one.count} for one in mapping.unknown]
        left = [{"tag": one.tag, "count": one.count} for one in mapping.left_alone]
        found = {"rules": rules, "unknown": unknown, "left_alone": left, "warnings": list(cautions)}
        say_json({"documents": documents, "languages": list(mapping.languages), **found, "file": str(out) if out else None})
        return
    if out is None:
        say(text.rstrip("\n"))
    else:
        _show_survey(inputs, documents, mapping)
        others = f"{counted(len(mapping.unknown), 'unknown tag')}, {len(mapping.left_alone):,} kinds of brackets left alone"
        say(f"{counted(len(mapping.rules), 'rule')}, {others}: {out}")
    for caution in cautions:
        say_aside(f"warning: {harmless(caution)}")


def _show_survey(inputs: InputOptions, documents: int, mapping: Mapping) -> None:
    table = Table(title=f"placeholders of {harmless(inputs.source.name)}: {counted(documents, 'document')}")
    columns = (("pattern", False), ("kind", False), ("role", False), ("same", False), ("count", True), ("sure", True), ("or", False))
    for name, right in columns:
        table.add_column(name, justify="right" if right else "left")
    for rule in sorted(mapping.rules, key=lambda r: -r.count)[: 2 * _SHOWN]:
        sure = f"{rule.confidence:.2f}" if rule.use else f"{rule.confidence:.2f}, not used"
        table.add_row(harmless(rule.name), rule.kind, harmless(rule.role), rule.same, f"{rule.count:,}", sure, rule.runner_up)
    say_table(table)


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


def restore_and_report(folder: Path, vault: Path, out: Path, *, as_json: bool) -> None:
    """Reverse a run, and print what is as it was and what is not."""
    from piiloom.surrogates.outputs.restoring import restore_folder  # noqa: PLC0415 - the other commands need not load it

    restored = restore_folder(folder, vault, out)
    if as_json:
        say_json({"out": str(out), **asdict(restored)})
        return
    for names, told in (
        (restored.differing, "files that are not as the input was"),
        (restored.unknown, "files of which the vault holds no digest, so that nobody knows whether they are as the input was"),
        (restored.left_out, "files that the run did not read, and that only the input holds"),
    ):
        if names:
            more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
            say_aside(f"warning: {told}: {len(names)} ({harmless(', '.join(names[:_SHOWN]))}{more})")
    equal = restored.files - len(restored.differing) - len(restored.unknown)
    put_back = f"{counted(restored.documents, 'document')}, {counted(restored.places, 'original')} put back"
    say(f"{put_back}; {equal:,} of {restored.files:,} files are as they were: {out}")


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
            "still looks personal", f"{sum(residual.values()):,}", ", ".join(f"{why} {count:,}" for why, count in residual.items())
        )
    say_table(table)
    for row in told["engine"].get("leakage", ()):
        shares = ", ".join(f"{name} {row[name]:.1%}" for name in ("consistent", "per-mention", "markov"))
        say(f"at {row['miss_rate']:.1%} misses a document leaks recognisably: {shares}")
    for warning in report.warnings:
        say_aside(f"warning: {warning}")
    say(f"records, mirror, offset map and report: {report.out}")


def _groups(people: AnyMapping[str, Any]) -> str:
    counts = sorted(set(people["groups"].values()))
    each = f"{counts[0]:,}" if len(counts) == 1 else f"{counts[0]:,} to {counts[-1]:,}"
    gender = people["gender_told_by_text"]
    return f"{each} in each of {len(people['groups'])} groups; the text tells the gender of {people['people'] - gender.get('open', 0):,}"
