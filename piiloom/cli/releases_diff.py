"""The work behind ``piiloom releases diff``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from piiloom.cli.paging import counted
from piiloom.cli.reading import seen_store, sight_to_json
from piiloom.cli.terminal import harmless, say, say_json
from piiloom.corpus.formats.base import quoted
from piiloom.corpus.releases.comparing import RecordChange, ReleaseDiff, compare_releases


def print_diff(path: Path, before: str, after: str, *, limit: int, as_json: bool) -> None:
    """Print what leads from release *before* to release *after*, naming *limit* records of each kind (0: all)."""
    with seen_store(path) as (store, sight):
        diff = compare_releases(store, before, after)
    if as_json:
        say_json({"store": str(path), "read": sight_to_json(sight), **diff.to_json()})
        return
    say(f"from release {before} to release {after}: {_summary(diff)}")
    for name, one, other in diff.settings:
        say(f"  setting   {name.replace('_', ' ')}: {_said(one)} → {_said(other)}")
    _say_first("added", [f"{record_id} ({split})" for record_id, split in diff.added], limit)
    _say_first("removed", [f"{record_id} ({split})" for record_id, split in diff.removed], limit)
    _say_first("moved", [f"{record_id} ({one} → {other})" for record_id, one, other in diff.moved], limit)
    _say_first("changed", [f"{one.record_id}: {'; '.join(_differences(one))}" for one in diff.changed], limit)


def _summary(diff: ReleaseDiff) -> str:
    if diff.same_content:
        return "the same content"
    parts = [
        f"{count:,} {what}"
        for what, count in (
            ("added", len(diff.added)),
            ("removed", len(diff.removed)),
            ("moved", len(diff.moved)),
            ("changed", len(diff.changed)),
        )
    ]
    kinds = ", ".join(f"{kind} {count:,}" for kind, count in diff.kinds().items())
    return ", ".join(parts) + (f" ({kinds})" if kinds else "")


def _say_first(what: str, lines: Sequence[str], limit: int) -> None:
    if not lines:
        return
    say(f"\n{what}: {counted(len(lines), 'record')}")
    shown = lines[:limit] if limit else lines
    for line in shown:
        say(f"  {harmless(line)}")
    if len(shown) < len(lines):
        say(f"  … {len(lines) - len(shown):,} more (--limit 0 names all)")


def _differences(change: RecordChange) -> Iterator[str]:
    if change.context:
        yield "another context"
    if change.question:
        yield "another question"
    for label in change.labels:
        yield " ".join([label.kind, " → ".join(quoted(text) for text in (label.before, label.after) if text is not None)])


def _said(value: object) -> str:
    if isinstance(value, list):
        return " ".join(map(str, value)) or "none"
    return "none" if value is None else str(value)
