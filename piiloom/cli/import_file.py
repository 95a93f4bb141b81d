"""``piiloom import``: records from a file into the store."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from piiloom.cli.options import StoreOptions
from piiloom.cli.terminal import examples, say_result, table_of
from piiloom.corpus.formats.base import fault_kinds, quoted
from piiloom.corpus.importing import ImportReport, ImportSettings, import_into
from piiloom.corpus.reading import INPUT_FORMATS, label_remedy, with_counts
from piiloom.foundation.command_line import takes
from piiloom.foundation.settings import AnyPath, setting
from piiloom.foundation.words import counted

if TYPE_CHECKING:
    from rich.table import Table

IMPORT_FILE_EXAMPLES = examples(
    "piiloom import corpus.jsonl --input-format capid",
    "piiloom import corpus.jsonl --input-format capid --skip-values",
    "piiloom import outputs/v1/train.jsonl --input-format native --store other.duckdb",
    "piiloom import corrected.jsonl --input-format native --on-conflict update",
    "piiloom import corpus.jsonl --input-format capid --locale en_GB --rejects refused.jsonl --json",
    "piiloom import corpus.jsonl --input-format native --types my_types.yaml",
    "piiloom import corpus.jsonl --input-format native --label-map my_labels.yaml",
)
_SHOWN = 8
_NOW_AND_THEN = {"seams", "as new records", "updated", "changed, skipped", "earlier revision", "skipped values", "joined texts"}
_OVERRULED = "updated, but what people have validated takes precedence over the update"
_BEGUN = "updated, but people are annotating the earlier text; what they decide will take precedence over the update"


class ImportOptions(StoreOptions, ImportSettings):
    """The options of ``piiloom import``."""

    file: AnyPath = setting(..., "The file to read, or the folder of a format of folders.", metavar="FILE", argument=True)
    input_format: str = setting(..., INPUT_FORMATS, metavar="FORMAT")


@takes(ImportOptions)
def import_file(asked: ImportOptions) -> None:
    """Import a file and report every row and value.

    A row whose values cannot all be found as whole words is refused, never silently skipped: a record with an unmarked
    value would be wrong. --skip-values keeps such rows; the values are listed beside the rejected rows.
    """
    done = import_into(asked.file, asked.part(ImportSettings), asked.store)
    beside = str(done.rejects) if done.report.rejected or done.report.skipped_values else None
    own = f"own types that the store remembers from now on: {', '.join(done.own_types)}" if done.own_types else None
    data = {**done.report.to_json(), "rejects_file": beside, "store": str(asked.store)}
    say_result(data, *_parts(done.report, asked.store, done.rejects), own, as_json=asked.as_json)


def _parts(report: ImportReport, store: Path, rejects: Path) -> Iterator[str | Table]:
    rows = [(name, f"{count:,}", meaning) for name, count, meaning in _counts(report)]
    yield table_of(f"import of {report.file}", ("what", "number", "meaning"), rows, right=(1,), header=False)
    told = {
        "types not in the taxonomy": with_counts(report.unknown_types),
        "fields that were ignored": with_counts(report.ignored_fields),
        "labels that the label map leaves out": with_counts(report.unmapped_labels),
        "": report.unknown_types and label_remedy(report.unknown_types),
        "types mapped to known types": ", ".join(f"{theirs} → {ours}" for theirs, ours in sorted(report.mapped_types.items())),
    }
    for ids, what in ((report.overruled, _OVERRULED), (report.begun, _BEGUN)):
        told[what] = f"{', '.join(ids[:_SHOWN])}{' …' if len(ids) > _SHOWN else ''}"
    yield from (f"{title}: {value}" if title else f"  {value}" for title, value in told.items() if value)
    if report.skipped_values:
        values = [(one.line, f"{quoted(one.value.text)} {one.value.reason}") for one in report.skipped_values]
        yield from _first("skipped value", values, Counter(one.value.reason for one in report.skipped_values), rejects)
    if report.rejected:
        kinds = Counter(kind for _, reason in report.rejected for kind in set(fault_kinds(reason)))
        yield from _first("rejected row", report.rejected, kinds, rejects)
    yield f"store: {store}"


def _counts(report: ImportReport) -> list[tuple[str, int, str]]:
    """Return the lines of the table; rare cases have a line only if they occur."""
    counts = [
        ("rows", report.rows, "lines that are not empty"),
        ("records", report.records, "added to the store"),
        ("as new records", report.as_new, "of these, changed rows of known ids, with ids of their own"),
        ("updated", report.updated, "known records whose text, question or labels the row changes: a new revision"),
        ("changed, skipped", report.skipped_changed, "left out, though they differ from the stored record of their id"),
        ("already stored", report.already_stored, "skipped: the store has the same record"),
        ("earlier revision", report.earlier_revision, "of these, equal to an earlier revision: the store has a newer one"),
        ("rejected", len(report.rejected), "refused rows"),
        ("spans", report.spans, "of the records that were added" + " or updated" * bool(report.updated)),
        ("values", report.values, "in all rows"),
        ("exact", report.exact, "found as whole words"),
        ("ambiguous", report.ambiguous, "of these, found more than once: every mention is a span"),
        ("inside word", report.inside_word, "found only inside a longer word: no match" + ", but for seams" * bool(report.seams)),
        ("seams", report.seams, "of these, marked: digits and letters that meet, as 29 and F in 29F"),
        ("missing", report.missing, "found nowhere"),
        ("skipped values", len(report.skipped_values), "of these two, left out of records that were kept"),
        ("joined texts", report.joined_texts, "rows of tokens alone: the text is the tokens joined by blanks"),
        ("overlapping", len(report.overlapping), "mentions left out in favour of a longer one"),
    ]
    return [row for row in counts if row[1] or row[0] not in _NOW_AND_THEN]


def _first(noun: str, lines: Sequence[tuple[int, str]], kinds: Counter[str], rejects: Path) -> Iterator[str]:
    """Yield the first *lines* with their reasons, and the *kinds* of all if there are more."""
    yield f"{counted(len(lines), noun)} with {'its reason' if len(lines) == 1 else 'their reasons'}: {rejects}"
    yield from (f"  line {line}: {reason}" for line, reason in lines[:_SHOWN])
    if len(lines) > _SHOWN:
        yield f"  … ({', '.join(f'{kind} {count:,}' for kind, count in kinds.most_common(_SHOWN))})"
