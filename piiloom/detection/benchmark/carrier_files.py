"""Files of carriers that did not ship: a folder with one folder a locale, one YAML file a domain in it, as ours has them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Final

import yaml

from piiloom.detection.benchmark.benchmark_options import WritingOptions
from piiloom.detection.benchmark.carrier_rounds import OrderOutcome, WritingProgress
from piiloom.detection.benchmark.carrier_writing import WrittenCarriers, write_carriers
from piiloom.detection.benchmark.carriers import Carrier
from piiloom.execution.calls import Lost
from piiloom.foundation.errors import DataError, OutputError
from piiloom.foundation.whole_files import output_errors, write_folder
from piiloom.taxonomy.entities.entity import DOMAINS

REJECTS: Final = "rejects.jsonl"
ABOUT: Final = "written.json"
_SCHEMA: Final = 1
_WIDTH: Final = 1 << 20  # lines of a text are its own


class _Dumper(yaml.SafeDumper):
    """Writes texts of several lines as such."""


def _represent(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _represent)


def check_carrier_place(out: Path, locales: Sequence[str], *, force: bool) -> None:
    """Raise ``OutputError`` if carriers cannot be written into *out*, or are there already (but with *force*). Leaves nothing behind."""
    for locale in locales:
        folder = out / locale
        if folder.exists() and not folder.is_dir():
            raise OutputError("this is not a folder", where=str(folder), remedy="Name another one with --out")
        if not force and any((folder / name).exists() for name in _names()):
            raise OutputError("there are carriers already", where=str(folder), remedy="Give another folder, or --force to replace them")
        missing = [one for one in (folder, *folder.parents) if not one.exists()]
        with output_errors(folder):
            folder.mkdir(parents=True, exist_ok=True)
            probe = folder / ".written.part"
            probe.touch()
            probe.unlink()
            for one in missing:
                one.rmdir()


def have_written(
    out: Path, options: WritingOptions, *, force: bool, watching: Callable[[], AbstractContextManager[Callable[[WritingProgress], None]]]
) -> tuple[WrittenCarriers, list[Path]]:
    """Have carriers written into the folder *out*; return them, and the files. *watching* makes a display of the progress.

    A wrong request raises before anything is sent: what ``check_carrier_place`` and ``write_carriers`` raise. Raises ``DataError`` if no carrier
    is usable.
    """
    check_carrier_place(out, options.locales, force=force)
    with watching() as watch:
        written = write_carriers(options, watch=watch)
    files = write_files(out, options, written)
    if not written.kept:
        reasons = ", ".join(f"{code} {count}" for code, count in written.rejected.most_common())
        raise DataError(f"no carrier was usable ({reasons})", where=str(out), remedy="rejects.jsonl has the last reply to each")
    return written, files


def write_files(out: Path, options: WritingOptions, written: WrittenCarriers) -> list[Path]:
    """Write the carriers of each locale, what was rejected, and last who wrote them; return the files. Raises ``OutputError``."""
    files: list[Path] = []
    for locale in options.locales:
        outcomes = [one for one in written.outcomes if one.order.locale == locale]
        contents = _contents(locale, outcomes)
        contents[ABOUT] = _json(_about(locale, options, written, outcomes), indent=1).encode()
        # All that an earlier run has written goes: of carriers of two runs in one folder nobody knows whose they are.
        write_folder(out / locale, contents, stale=set(_names()) - contents.keys())
        files += [out / locale / name for name in contents]
    return files


def _names() -> list[str]:
    return [*(f"{domain.lower()}.yaml" for domain in DOMAINS), REJECTS, ABOUT]


def _contents(locale: str, outcomes: Sequence[OrderOutcome]) -> dict[str, bytes]:
    contents: dict[str, bytes] = {}
    carriers = [one.result for one in outcomes if isinstance(one.result, Carrier)]
    for domain in DOMAINS:
        found = [one for one in carriers if one.domain == domain]
        if found:
            file = {
                "locale": locale,
                "domain": domain,
                "checked_by": None,
                "written_by": found[0].written_by,
                "documents": [_document(one) for one in found],
            }
            dumped = yaml.dump(file, Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=_WIDTH)
            contents[f"{domain.lower()}.yaml"] = dumped.encode()
    rejects = "".join(_json(_reject(one, one.result)) for one in outcomes if isinstance(one.result, Lost))
    return contents | ({REJECTS: rejects.encode()} if rejects else {})


def _document(carrier: Carrier) -> dict[str, Any]:
    lengths = list(carrier.lengths)
    document: dict[str, Any] = {"id": carrier.id, "form": carrier.form, "length": lengths if len(lengths) > 1 else lengths[0]}
    if not carrier.entries:
        return document | {"text": carrier.opening}
    return document | {"opening": f"{carrier.opening}\n", "entries": list(carrier.entries), "closing": carrier.closing}


def _reject(outcome: OrderOutcome, lost: Lost) -> dict[str, Any]:
    order = outcome.order
    asked = {"order": order.id, "domain": order.domain, "length": order.length, "form": order.form}
    return asked | {"reason": lost.code, "detail": lost.message, "attempts": lost.attempts, "last_reply": lost.last_reply}


def _about(locale: str, options: WritingOptions, written: WrittenCarriers, outcomes: Sequence[OrderOutcome]) -> dict[str, Any]:
    kept = [one for one in outcomes if isinstance(one.result, Carrier)]
    return {
        "schema": _SCHEMA,
        "locale": locale,
        "provider": written.author[0],
        "model": written.author[1],
        "template": written.template[0],
        "template_sha256": written.template[1],
        "seed": options.seed,
        "documents": options.documents,
        "kept": len(kept),
        "rejected": len(outcomes) - len(kept),
        "checked_by": None,
    }


def _json(value: Mapping[str, Any], indent: int | None = None) -> str:
    # A reply may hold half a surrogate pair, which no file can: such text is written with escapes.
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    return (json.dumps(value, indent=indent) if _is_broken(text) else text) + "\n"


def _is_broken(text: str) -> bool:
    return any("\ud800" <= character <= "\udfff" for character in text)
