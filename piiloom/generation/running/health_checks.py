"""Checks of the installation, of keys and servers, of a store and of the scenario banks. They change nothing but an outdated store."""

from __future__ import annotations

import os
import platform
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, metadata, requires, version
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, Literal

from packaging.requirements import Requirement

from piiloom.corpus.store.database import Store
from piiloom.corpus.store.opening import open_to_read
from piiloom.corpus.store.records import count_records
from piiloom.corpus.store.runs import list_runs
from piiloom.foundation.errors import PiiloomError
from piiloom.foundation.seeding import derive_rng
from piiloom.foundation.version import __version__
from piiloom.foundation.words import counted
from piiloom.generation.running.opening import PING_TIMEOUT_S, ping, probe_format
from piiloom.pii_values.kinds import draw_own
from piiloom.providers.factory import KINDS, make_provider
from piiloom.taxonomy.bank_loading import bank_languages, load_bank
from piiloom.taxonomy.entity_types import Pair, Taxonomy, shipped_taxonomy
from piiloom.taxonomy.own_types import OwnSubtype, OwnType

# A ping needs the name of a model; a compatible server is asked for its models, so any name will do.
_ANY_MODEL = "any"

_DRAWN = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """The result of one check. ``note`` is neither good nor bad; only ``failed`` makes the doctor fail."""

    name: str
    status: Literal["ok", "note", "warning", "failed"]
    detail: str


def health_checks(store: Path, *, base_url: str | None = None, model: str | None = None) -> Iterator[Check]:
    """Run every check, one after the other."""
    yield _python_check()
    yield _packages_check()
    yield from _key_checks()
    yield from _server_checks(base_url, model)
    yield store_check(store)
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
        found = probe_format(make_provider("compatible", model=model, base_url=base_url), every=True)
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
        bank = load_bank(language, None, shipped_taxonomy())
    except PiiloomError as error:
        return Check(name=name, status="failed", detail=f"{error}; install piiloom again")
    scenarios, frames = counted(len(bank.scenarios), "scenario"), counted(len(bank.frames), "frame")
    return Check(name=name, status="ok", detail=f"{scenarios} for {len(bank.pairs)} of {len(shipped_taxonomy().pairs)} pairs, {frames}")


def _has_key(variable: str) -> bool:
    return bool(os.environ.get(variable, "").strip())


def described_type(one: OwnType, taxonomy: Taxonomy, stories: Counter[Pair]) -> dict[str, Any]:
    """Return an own type as JSON values: its pairs with their numbers of *stories*, and its subtypes with drawn examples."""
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
