"""``piiloom doctor``: checks of the installation, the keys and servers, the store, and banks and types of your own."""

from __future__ import annotations

import os
import platform
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, metadata, requires, version
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, Literal

import typer
from packaging.requirements import Requirement
from rich.table import Table

from piiloom.cli.options import StoreOptions
from piiloom.cli.terminal import examples, harmless, say, say_json, say_table
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.reading import open_to_read
from piiloom.corpus.store.records import count_records
from piiloom.corpus.store.runs import list_runs
from piiloom.foundation.command_line import takes
from piiloom.foundation.counting import counted
from piiloom.foundation.errors import PiiloomError
from piiloom.foundation.seeding import derive_rng
from piiloom.foundation.settings import OptionalPath, setting
from piiloom.foundation.version import __version__
from piiloom.generation.composer.story_lint import lint_bank
from piiloom.generation.running.preflight import PING_TIMEOUT_S, ping, probe
from piiloom.pii_values.kinds import draw_own
from piiloom.providers.factory import KINDS, make_provider
from piiloom.taxonomy.bank_lint import Finding
from piiloom.taxonomy.bank_loading import bank_languages, load_bank
from piiloom.taxonomy.entity_types import Pair, Taxonomy, load_taxonomy
from piiloom.taxonomy.own_type_asides import fits_an_aside
from piiloom.taxonomy.own_types import OwnSubtype, OwnType, OwnTypes, extended, types_in_force
from piiloom.taxonomy.own_types_file import has_bank, read_types_file
from piiloom.taxonomy.story_bank import StoryBank

EPILOG = examples(
    "piiloom doctor",
    "piiloom doctor --base-url http://localhost:11434/v1",
    "piiloom doctor --base-url http://localhost:8080/v1 --model qwen3",
    "piiloom doctor --store other.duckdb --json",
    "piiloom doctor --bank my_bank",
    "piiloom doctor --types my_types.yaml --bank my_bank",
)


# A ping needs the name of a model; a compatible server is asked for its models, so any name will do.
_ANY_MODEL = "any"
_COLOURS = {"ok": "green", "note": "cyan", "warning": "yellow", "failed": "bold red"}
# The number of values that are drawn of an own type, and the number below which a value will soon be in many records.
_DRAWN = 5
_FEW = 50


class DoctorOptions(StoreOptions):
    """The options of ``piiloom doctor``."""

    base_url: str | None = setting(None, "Address of a compatible server: http://localhost:11434/v1.", metavar="URL")
    model: str | None = setting(None, "A model of that server; tiny calls find out which response formats it takes.")
    bank: OptionalPath = setting(None, "Your own scenarios and sentences to check: a bank file, or a folder of them.", metavar="DIR")
    types: OptionalPath = setting(None, "Your own entity types to check (docs/own-types.md).", metavar="YAML")


@takes(DoctorOptions)
def doctor(asked: DoctorOptions) -> None:
    """Check Python, packages, provider keys (by name only), servers, the store and the scenario bank; with --bank or --types, your own.

    Servers are asked only where a key is set or --base-url is given, and never for anything that costs
    money; only --base-url with --model sends a few tiny calls to find out which response formats the server takes. Opening a store
    of an older schema upgrades it after a backup, as every command does.
    """
    if asked.types is not None:
        usable = _report_types(asked.types, asked.bank, as_json=asked.as_json)
    elif asked.bank is not None:
        usable = _report_bank(asked.bank, as_json=asked.as_json)
    else:
        checks = list(_checks(asked))
        usable = all(check.status != "failed" for check in checks)
        if asked.as_json:
            say_json({"healthy": usable, "checks": [asdict(check) for check in checks]})
        else:
            say_table(_table(checks))
    if not usable:
        raise typer.Exit(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """The result of one check. ``note`` is neither good nor bad; only ``failed`` makes the doctor fail."""

    name: str
    status: Literal["ok", "note", "warning", "failed"]
    detail: str


def _checks(asked: DoctorOptions) -> Iterator[Check]:
    """Run every check, one after the other."""
    yield _python_check()
    yield _packages_check()
    yield from _key_checks()
    yield from _server_checks(asked.base_url, asked.model)
    yield store_check(asked.store)
    for language in bank_languages():
        yield _bank_check(language)


def _python_check() -> Check:
    """Return the Python and the platform."""
    detail = f"piiloom {__version__}, {platform.python_implementation()} {platform.python_version()}, {platform.platform()}"
    tested = sys.version_info >= (3, 11) and sys.platform == "linux"
    return Check(name="python", status="ok" if tested else "warning", detail=detail if tested else f"{detail}: not a tested platform")


def _packages_check() -> Check:
    """Compare the installed packages with what piiloom declares. A package of an extra may be missing."""
    found: list[str] = []
    faults: list[str] = []
    notes: list[str] = []
    for requirement, needed in _requirements():
        try:
            installed = version(requirement.name)
        except PackageNotFoundError:
            if needed:
                faults.append(f"{requirement.name} is missing")
            continue
        if requirement.specifier.contains(installed, prereleases=True):
            found += [f"{requirement.name} {installed}"] if needed else []
        elif needed:
            faults.append(f"{requirement.name} {installed} is installed, but {requirement.specifier} is needed")
        else:
            notes.append(f"{requirement.name} {installed} is installed, but an extra needs {requirement.specifier}")
    if faults:
        return Check(name="packages", status="failed", detail=f"{'; '.join(faults + notes)}; install piiloom again")
    return Check(name="packages", status="warning" if notes else "ok", detail="; ".join([*notes, ", ".join(sorted(found))]))


def _requirements() -> Iterator[tuple[Requirement, bool]]:
    """Yield what piiloom's metadata declares for this platform, and whether it is needed without any extra."""
    try:
        declared = requires("piiloom") or []
        extras = metadata("piiloom").get_all("Provides-Extra") or []
    except PackageNotFoundError:  # run from a bare checkout
        declared, extras = ["piiloom"], []
    for requirement in map(Requirement, declared):
        marker = requirement.marker
        if marker is None or marker.evaluate({"extra": ""}):
            yield requirement, True
        elif any(marker.evaluate({"extra": extra}) for extra in extras):
            yield requirement, False


def _key_checks() -> Iterator[Check]:
    """Return which providers' keys are set; by the variable's name, never by its value."""
    for name, kind in KINDS.items():
        state = "set" if _has_key(kind.key_variable) else "not set" if kind.key_needed else "not set (optional)"
        yield Check(name=f"key for {name}", status="note", detail=f"{kind.key_variable} is {state}")


def _server_checks(base_url: str | None, model: str | None) -> Iterator[Check]:
    """Ping the servers that have a key, and the one at *base_url*."""
    for name, kind in KINDS.items():
        if kind.key_needed and _has_key(kind.key_variable):
            yield _server_check(name, None, None)
    if base_url:
        check = _server_check("compatible", base_url, model)
        yield check
        if check.status != "failed":
            yield _format_check(base_url, model)


def _server_check(name: str, base_url: str | None, model: str | None) -> Check:
    asked = model or (_ANY_MODEL if base_url else None)
    try:
        found = ping(make_provider(name, model=asked, base_url=base_url, timeout_s=PING_TIMEOUT_S))
    except PiiloomError as error:
        return Check(name=f"server of {name}", status="failed", detail=str(error))
    reached = f"{found.endpoint} answers in {found.latency_s * 1000:.0f} ms"
    if asked == _ANY_MODEL or found.model_known is None:
        return Check(name=f"server of {name}", status="ok", detail=reached)
    if found.model_known:
        return Check(name=f"server of {name}", status="ok", detail=f"{reached} and has the model {found.model}")
    return Check(name=f"server of {name}", status="warning", detail=f"{reached} but does not list the model {found.model}")


def _format_check(base_url: str, model: str | None) -> Check:
    """Return the response formats that the server at *base_url* takes, by tiny calls; only if a model is named."""
    name = "replies of compatible"
    if model is None:
        return Check(name=name, status="note", detail="with --model, tiny calls find out which --response-format the server takes")
    try:
        found = probe(make_provider("compatible", model=model, base_url=base_url), every=True)
    except PiiloomError as error:
        return Check(name=name, status="failed", detail=str(error))
    kept = found is not None and found.chosen is not None and found.chosen.outcome == "kept"
    return Check(name=name, status="ok" if kept else "warning", detail=str(found))


def store_check(path: Path) -> Check:
    """Open the store, or return the reason against it: another process, too new, no store, no permission."""
    try:
        if not path.exists():
            folder = next(parent for parent in (path.parent, *path.absolute().parents) if parent.exists())
            refusal = _write_refusal(folder)
            detail = f"{path}: none yet; generate or import makes it" + (f", but {folder} cannot be written ({refusal})" if refusal else "")
            return Check(name="store", status="failed" if refusal else "note", detail=detail)
        refusal = _write_refusal(path.parent) or (None if os.access(path, os.W_OK) else "no permission to write the file")
        with open_to_read(path) if refusal else Store.open(path, create=False) as store:
            runs, records = list_runs(store), count_records(store)
    except PiiloomError as error:
        return Check(name="store", status="failed", detail=str(error))
    except OSError as error:
        return Check(name="store", status="failed", detail=f"{path}: {error.strerror}")
    unfinished = [run.id for run in runs if run.status != "finished"]
    detail = f"{path}: {counted(len(runs), 'run')}, {counted(records, 'record')}"
    detail += f"; unfinished: {', '.join(unfinished[-5:])}" if unfinished else ""
    detail += f"; it can be read, but not written ({refusal}): copy it elsewhere to go on with it" if refusal else ""
    return Check(name="store", status="warning" if refusal else "ok", detail=detail)


def _write_refusal(folder: Path) -> str | None:
    """Return the reason why *folder* cannot be written, None if it can. Permissions do not show it: a file without a name is written."""
    try:
        with TemporaryFile(dir=folder, buffering=0) as file:
            file.write(bytes(4096))
    except OSError as error:
        return error.strerror or "no reason given"
    return None


def _bank_check(language: str) -> Check:
    """Load the composer's scenario bank of *language*, or return its fault (its sentences are linted by the tests)."""
    name = f"scenario bank {language}"
    try:
        bank = load_bank(language)
    except PiiloomError as error:
        return Check(name=name, status="failed", detail=f"{error}; install piiloom again")
    scenarios, frames = counted(len(bank.scenarios), "scenario"), counted(len(bank.frames), "frame")
    return Check(name=name, status="ok", detail=f"{scenarios} for {len(bank.pairs)} of {len(load_taxonomy().pairs)} pairs, {frames}")


def _has_key(variable: str) -> bool:
    return bool(os.environ.get(variable, "").strip())


def _table(checks: Sequence[Check]) -> Table:
    table = Table(show_lines=False)
    table.add_column("check")
    table.add_column("status")
    table.add_column("what was found")
    for check in checks:
        table.add_row(check.name, f"{check.status}", harmless(check.detail), style=_COLOURS[check.status])
    return table


def _report_bank(path: Path, *, as_json: bool) -> bool:
    """Print the faults of the bank at *path* by file and line; return whether the composer can use it.

    Raises ``UsageError`` when there is no such file or folder and ``ConfigError`` when the folder has no bank file.
    """
    findings, usable = lint_bank(path)
    if as_json:
        say_json({"usable": usable, "findings": [asdict(finding) for finding in findings]})
    elif findings:
        say_table(_findings_table(findings))
    else:
        say("no findings: the composer can use this bank")
    return usable


def _findings_table(findings: Sequence[Finding]) -> Table:
    """Return a table with a row for each finding."""
    table = Table(title=f"{len(findings)} findings")
    for column in ("where", "entry", "rule", "what"):
        table.add_column(column)
    for finding in findings:
        place = finding.file if finding.line is None else f"{finding.file}:{finding.line}"
        table.add_row(*(harmless(text) for text in (place, finding.entry, finding.rule, finding.message)))
    return table


def _report_types(path: Path, bank: Path | None, *, as_json: bool) -> bool:
    """Print the types of the file at *path*, and the faults of *bank* under them; return whether both can be used.

    Raises ``ConfigError`` (file, line, key) for a types file that cannot be used.
    """
    own = read_types_file(path)
    bank = path if bank is None and has_bank(path) else bank
    taxonomy = extended(own)
    with types_in_force(own):
        findings, usable = ([], True) if bank is None else lint_bank(bank)
        stories = Counter(story.pair for story in StoryBank("en", bank).own) if usable else Counter()
    told = [_told(one, taxonomy, stories) for one in own]
    if as_json:
        say_json({"usable": usable, "types": told, "findings": [asdict(finding) for finding in findings]})
        return usable
    say_table(_types_table(told))
    for line in _notes(own, told):
        say(line)
    if findings:
        say_table(_findings_table(findings))
    elif bank is not None:
        say(f"no findings in {harmless(str(bank))}")
    return usable


def _told(one: OwnType, taxonomy: Taxonomy, stories: Counter[Pair]) -> dict[str, Any]:
    pairs = [(min(one.name, mate), max(one.name, mate)) for mate in taxonomy.mates(one.name)]
    return {
        "name": one.name,
        "definition": one.definition,
        "aliases": list(one.aliases),
        "pairs": {"+".join(pair): stories[pair] for pair in pairs},
        "subtypes": [
            {
                "name": subtype.name,
                "slot": f"{{{one.name.replace(' ', '_')}.{subtype.name}}}",
                "form": subtype.form,
                "generator": subtype.generator.kind,
                "values": subtype.generator.count(),
                "drawn": _drawn(subtype),
            }
            for subtype in one.subtypes
        ],
    }


def _drawn(subtype: OwnSubtype) -> list[str]:
    if subtype.generator.kind == "model":
        return []
    rng = derive_rng("doctor", subtype.name)
    return list(dict.fromkeys(draw_own(subtype.generator, "en_US", rng) for _ in range(_DRAWN)))


def _types_table(told: list[dict[str, Any]]) -> Table:
    table = Table(title="types that this file adds", show_lines=True)
    for column in ("type", "slot in asides", "values", "as drawn", "pairs (stories in the bank)"):
        table.add_column(column)
    for one in told:
        pairs = ", ".join(f"{pair} ({count})" for pair, count in one["pairs"].items()) or "none: asides only"
        for place, subtype in enumerate(one["subtypes"]):
            number = "" if subtype["values"] is None else f", {subtype['values']:,}"
            drawn = "; ".join(subtype["drawn"]) or "asked of the model"
            first = (one["name"], pairs) if place == 0 else ("", "")
            row = (first[0], subtype["slot"], f"{subtype['generator']}{number}", drawn, first[1])
            table.add_row(*(harmless(text) for text in row))
    return table


def _notes(own: OwnTypes, told: list[dict[str, Any]]) -> Iterator[str]:
    for one, about in zip(own, told, strict=True):
        for subtype in one.subtypes:
            number = subtype.generator.count()
            if number is not None and number < _FEW:
                yield f"note: {one.name}.{subtype.name} has {number} values: each will stand in many records"
        if one.asks_model():
            yield f"note: values of {one.name} are asked of the model, so the composer cannot write about it"
        lacking = [pair for pair, count in about["pairs"].items() if not count]
        if lacking and fits_an_aside(one) and len(lacking) == len(about["pairs"]):
            yield f"note: no story is about {one.name}: the composer mentions its values beside the stories, with low relevance"
        elif lacking and not one.asks_model():
            yield f"note: the composer needs a story in a --bank of your own for {', '.join(lacking)}; a model needs none"
