"""Attack a file or a release, and write the figures to a folder: ``reidentification.json``, ``reidentification.md`` and the plot."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from pydantic import ValidationInfo, field_validator, model_validator

from piiloom.corpus.formats.base import Json, ReadOptions, ReadTally, RowReject
from piiloom.corpus.formats.masked import masked_row
from piiloom.corpus.formats.native_rows import RowFault, numbered_lines, parse_object
from piiloom.corpus.formats.registry import READABLE, get_readable_format
from piiloom.corpus.record import Record
from piiloom.corpus.releases.manifest import types_beside
from piiloom.corpus.store import StoreSettings
from piiloom.corpus.store.opening import open_to_read
from piiloom.corpus.store.releases import count_members, get_release, iter_release_records, types_of
from piiloom.evaluation.inputs.documents import AnnotatedDocument, AnnotatedMention
from piiloom.evaluation.inputs.opening import PairSettings, open_pairs
from piiloom.evaluation.pages.parts import ReportTable, count, with_share
from piiloom.evaluation.reidentification.attack import (
    NAME_TYPES,
    POLICIES,
    RARE,
    SMALL,
    Attack,
    AttackFigures,
    MaskPolicy,
    Subject,
    text_key,
)
from piiloom.evaluation.report.sources import Tell, first_object, native_or_capid
from piiloom.foundation.errors import DataError, UsageError, how_to_install
from piiloom.foundation.noop import noop
from piiloom.foundation.settings import Converted, OptionalPath, OptionalWords, Words, setting
from piiloom.foundation.whole_files import check_folder, write_folder
from piiloom.foundation.words import counted, escaped
from piiloom.taxonomy.entity_types import Taxonomy
from piiloom.taxonomy.own_types import extended

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from piiloom.evaluation.plots import Plot


MASKED: Final = "masked"
_MASKED_KEYS: Final = {"masked", "typed", "surrogates", "spans"}  # of a row of a masked export
_PLACEHOLDER_ENDS: Final = {"[": "]", "<": ">", "{": "}", "(": ")"}
# Counts of what was left out of a file: ``refused_rows``, that are no records, and ``values_without_place``, that are not in their text.
LeftOut = dict[str, int]


def subjects_of_release(store: Path, name: str, *, surrogates: bool = False, tell: Tell | None = None) -> Iterator[Subject]:
    """Yield the records of a release, split by split; with *surrogates*, those that ``piiloom export --format masked`` would write."""
    with open_to_read(store, tell=tell) as opened:
        release = get_release(opened, name)
        taxonomy = extended(types_of(opened))
        for split in count_members(opened, release):
            for record in iter_release_records(opened, release, split):
                yield _subject(record, taxonomy, surrogates=surrogates)


def subjects_of_file(path: Path, reading: LeftOut, format_name: str | None = None, *, surrogates: bool = False) -> Iterator[Subject]:
    """Yield the records of a file in a readable format, or the rows of a masked export; *surrogates* as in ``subjects_of_release``.

    Without *format_name* it is masked, native or CAPID, as its first row decides. Rows that are no records are counted in *reading*. Raises
    ``DataError`` if the file cannot be read.
    """
    if format_name == MASKED or (format_name is None and first_object(path).keys() >= _MASKED_KEYS):
        yield from _masked_rows(path)
        return
    taxonomy = extended(types_beside(path))
    for record in _records(path, format_name, reading):
        yield _subject(record, taxonomy, surrogates=surrogates)


def subjects_masked_by(
    gold: Path, predictions: Path, reading: LeftOut, format_name: str | None = None, found_format: str | None = None
) -> Iterator[Subject]:
    """Yield the documents of *gold*, each with its prediction: files of any format that ``piiloom evaluate`` reads, paired as it does.

    Values of *gold* that are not in their text are left out, and counted in *reading*. Raises ``DataError`` for what ``open_pairs`` says.
    """
    settings = PairSettings(gold_format=format_name, predictions_format=found_format, skip_values=True)
    pairs, summary = open_pairs(gold, predictions, settings, types_matter=False)
    for pair in pairs:
        yield Subject(document=pair.gold, found=pair.found)
    reading["values_without_place"] = summary.gold.skipped


def subjects_with_vault(records: Path, vault: Path, format_name: str | None = None) -> Iterator[Subject]:
    """Yield the documents that ``piiloom surrogate run`` replaced: their own text and values from its *records* and *vault*.

    The vault is held in memory. Where it has a placeholder ("[NAME_1]"), the original is not known. Raises ``DataError`` if the vault
    cannot be read, or is of another run.
    """
    stood = _vault(vault)
    for record in _records(records, format_name):
        source = (record.source.id if record.source else None) or record.id
        pieces: list[str] = []
        mentions: list[AnnotatedMention] = []
        at = 0
        for span in record.spans:
            known = stood.get(text_key(source, str(span.start)))
            if known is None:
                missing = f"there is nothing for the place [{span.start}, {span.end}) of record {record.id}"
                raise DataError(missing, where=vault.name, remedy="Name the vault of the run that wrote the records")
            text, original = known
            pieces += (record.context[at : span.start], text)
            at = span.end
            mentions.append(AnnotatedMention(text=original, entity_type=span.entity_type, subtype=span.subtype, relevance=span.relevance))
        before = "".join((*pieces, record.context[at:]))
        document = AnnotatedDocument(where=records.name, id=record.id, text=before, locale=record.locale, mentions=tuple(mentions))
        yield Subject(document=document, surrogates=tuple(span.text_in(record.context) for span in record.spans))


def _records(path: Path, format_name: str | None, reading: LeftOut | None = None) -> Iterator[Record]:
    """Yield the records of a file. The first row that is none raises ``DataError``; with *reading*, only if there is no record at all."""
    if not path.exists():
        raise DataError("there is no such file", where=str(path), remedy="Check the path")
    file_format = get_readable_format(format_name) if format_name is not None else native_or_capid(path)
    tally = ReadTally()
    refused: RowReject | None = None
    records = 0
    options = ReadOptions(taxonomy=extended(types_beside(path)), skip_values=True, blank_contexts=True)
    for row in file_format.read(path, options, tally):
        if isinstance(row, Record):
            records += 1
            yield row
            continue
        refused = refused or row
        if reading is None:
            break
        reading["refused_rows"] += 1
    if refused is not None and (reading is None or not records):
        remedy = f"It was read as {file_format.name}; correct the row, or name another format"
        raise DataError(refused.reason, where=f"{path.name}:{refused.line}", remedy=remedy)
    if reading is not None:
        reading["values_without_place"] = len(tally.skipped_values)


def _subject(record: Record, taxonomy: Taxonomy, *, surrogates: bool) -> Subject:
    if not surrogates:
        return Subject(document=_document(record))
    replaced: Any = masked_row(record, taxonomy)[0]["surrogates"]
    return Subject(document=_document(record), surrogates=tuple(span["text"] for span in replaced["spans"]))


def _document(record: Record) -> AnnotatedDocument:
    mentions = tuple(
        AnnotatedMention(
            text=span.text_in(record.context),
            entity_type=span.entity_type,
            start=span.start,
            end=span.end,
            relevance=span.relevance,
            subtype=span.subtype,
        )
        for span in record.spans
    )
    return AnnotatedDocument(
        where=record.id, id=record.id, text=record.context, question=record.question, locale=record.locale, mentions=mentions
    )


def _masked_rows(path: Path) -> Iterator[Subject]:
    for number, line in numbered_lines(path):
        try:
            row = parse_object(line)
            yield _masked_subject(row)
        except RowFault as fault:
            raise DataError(str(fault), where=f"{path.name}:{number}", remedy="Give a file of `piiloom export --format masked`") from fault
        except (KeyError, TypeError, ValueError) as error:
            remedy = "Give a file of `piiloom export --format masked`"
            raise DataError("the row is not one of a masked export", where=f"{path.name}:{number}", remedy=remedy) from error


def _masked_subject(row: Json) -> Subject:
    spans: Any = row["spans"]
    replaced: Any = row["surrogates"]
    text, surrogates = row["text"], tuple(str(span["text"]) for span in replaced["spans"])
    if not isinstance(text, str) or len(surrogates) != len(spans):
        raise RowFault("surrogates: not one for each span of the text")
    places = ((span, int(span["start"]), int(span["end"])) for span in spans)
    mentions = tuple(
        AnnotatedMention(text=str(span["text"]), entity_type=str(span["type"]), start=start, end=end, relevance=span["relevance"])
        for span, start, end in places
    )
    document = AnnotatedDocument(where=str(row["id"]), id=str(row["id"]), text=text, mentions=mentions)
    return Subject(document=document, surrogates=surrogates)


def _vault(path: Path) -> dict[int, tuple[str, str]]:
    """Return what stood in a text and the value that it stood for, by document and place in the output; "" for a value not known."""
    found: dict[int, tuple[str, str]] = {}
    for number, line in numbered_lines(path):
        try:
            row = parse_object(line)
            if row.keys() & {"key", "raw", "sha256"}:
                continue  # the key of the run, the source of a text, or a digest of a file, by which the run can be reversed
            text = str(row["text"])
            original = str(row["original"]) if "original" in row else _unless_placeholder(text)
            found[text_key(str(row["id"]), str(row["new_start"]))] = text, original
        except (RowFault, KeyError) as error:
            remedy = "Give the file that `piiloom surrogate run --vault` wrote"
            raise DataError("the row is not one of a vault", where=f"{path.name}:{number}", remedy=remedy) from error
    return found


def _unless_placeholder(text: str) -> str:
    bare = text.strip()
    return "" if bare and _PLACEHOLDER_ENDS.get(bare[0]) == bare[-1] else text


_BY: Final = {1: "… by one value", 2: "… by two at most", 3: "… by three at most"}
_NOTE: Final = (
    "k: how many documents of the corpus have all values that are left in one; unique: k is 1. Alone: no other document has just these "
    "values left. Linked: they share a value left in both that at most {rare} documents have."
)
_NAMES_NOTE: Final = "Whoever has the originals tells true pairs from the others; whoever has the corpus alone sees linked pairs only."
_EVERY: Final = 500
FIGURES_FILE, TABLES_FILE = "reidentification.json", "reidentification.md"


def attack_tables(figures: AttackFigures) -> list[ReportTable]:
    """Return the table of the policies and, where names were replaced, that of their surrogates."""
    of = figures.documents
    each = figures.policies.values()
    rows: list[tuple[str, ...]] = [
        ("distinct values left", *(count(one.values) for one in each)),
        ("documents with any", *(_share(one.holding, of) for one in each)),
        ("unique documents", *(_share(one.unique, of) for one in each)),
        *((_BY[size], *(_share(one.unique_by[size], of) for one in each)) for size in _BY),
        ("alone in what is left", *(_share(one.alone, of) for one in each)),
        (f"documents of k < {SMALL}", *(_share(one.small, of) for one in each)),
        ("least k", *(count(one.least_k) for one in each)),
        ("median k", *(count(one.median_k) for one in each)),
        ("linked documents", *(_share(one.linked["documents"], of) for one in each)),
        ("… most of them together", *(count(one.linked["largest_group"]) for one in each)),
    ]
    title = f"what is left of {counted(of, 'document')}, by what is masked"
    note = _NOTE.format(rare=figures.rare) + _in_part(figures)
    tables = [
        ReportTable(title=title, columns=("", *(policy.replace("-", " ") for policy in figures.policies)), rows=tuple(rows), note=note)
    ]
    if figures.surrogate_names is not None:
        tables.append(_names_table(figures.surrogate_names))
    return tables


def _share(number: int, of: int) -> str:
    return with_share(number, number / of)


def _in_part(figures: AttackFigures) -> str:
    most = max((one.in_part for one in figures.policies.values()), default=0)
    return f" In up to {counted(most, 'document')} only the rarest values were combined." if most else ""


def _names_table(links: Mapping[str, int]) -> ReportTable:
    told = {name: count(number) for name, number in links.items()}
    return ReportTable(
        title="surrogates of names",
        columns=("what", "number"),
        rows=(
            ("documents with surrogates of names", told["documents"]),
            ("surrogates / originals that are known", f"{told['surrogates']} / {told['originals']}"),
            ("surrogates in several documents", told["surrogates_in_several_documents"]),
            ("… documents that they link", told["linked_documents"]),
            ("… pairs of documents / true pairs", f"{told['linked_pairs']} / {told['truly_linked_pairs']}"),
            ("originals with one surrogate in several documents", told["originals_with_one_surrogate_in_several_documents"]),
            ("surrogates that are an original of their document", told["surrogates_that_are_an_original_of_their_document"]),
            ("surrogates that are an original of another document", told["surrogates_that_are_an_original_of_another_document"]),
            ("surrogates of several originals", told["surrogates_of_several_originals"]),
        ),
        note=_NAMES_NOTE,
    )


class AttackSettings(StoreSettings):
    """Settings of an attack. Raises ``UsageError`` for settings that contradict each other."""

    file: OptionalPath = setting(None, "The annotated corpus, with its true values.", argument=True, metavar="FILE")
    release: str | None = setting(None, "Attack this release of the store instead of a FILE.", metavar="NAME")
    input_format: str | None = setting(
        None, f"Format of FILE ({', '.join((*READABLE, MASKED))}); recognized by the first row when not given.", metavar="FORMAT"
    )
    mask: Converted[tuple[MaskPolicy, ...], Sequence[MaskPolicy]] = setting(
        (),
        "Values that are masked: none; relevance-aware (all but those of high relevance); surrogates (all are replaced); all; predictions "
        "(with --masked-by). Repeatable; all that the data allow when not given.",
    )
    masked_by: OptionalPath = setting(None, "Predictions for the same texts: all other values of FILE are left.", metavar="PRED")
    masked_by_format: str | None = setting(None, "Format of PRED, if it is not --input-format.", metavar="FORMAT")
    vault: OptionalPath = setting(
        None, "Vault of the surrogates, where FILE is the records.jsonl of piiloom surrogate run.", metavar="FILE"
    )
    only_types: OptionalWords = setting(None, "Types that the attacker uses; all when not given.", metavar="TYPE,…", kind=str)
    name_types: Words = setting(NAME_TYPES, "Types whose surrogates are compared with originals.", metavar="TYPE,…", kind=str)
    rare: int = setting(RARE, "Documents that share a remaining value are linked, if at most N have it.", metavar="N")
    out: OptionalPath = setting(None, "New or empty folder for reidentification.json and .md and a plot.", flags="--out -o", metavar="DIR")
    force: bool = setting(False, "Write into a folder that is not empty.")

    @field_validator("only_types", "name_types", mode="before")
    @classmethod
    def _whole(cls, given: object, info: ValidationInfo) -> object:
        if isinstance(given, str) and not all(part.strip() for part in given.split(",")):
            option = f"--{(info.field_name or '').replace('_', '-')}"
            raise UsageError("not a list of types", where=option, remedy=f"Write for example {option} name,location")
        return given

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if (self.file is None) == (self.release is None):
            raise UsageError("give a FILE or a --release, one of the two", remedy="For example: piiloom reidentify --release v1")
        if self.file is not None and "store" in self.model_fields_set:
            raise UsageError("a file has no use for --store", where="--store", remedy="Leave one out")
        for option, value in (("--input-format", self.input_format), ("--masked-by", self.masked_by), ("--vault", self.vault)):
            if value is not None and self.file is None:
                raise UsageError("this goes with a FILE only", where=option, remedy="Export the release to a file, or leave it out")
        if self.masked_by is not None and self.vault is not None:
            raise UsageError("values are either found or replaced", where="--vault", remedy="Leave out --masked-by or --vault")
        if self.masked_by_format is not None and self.masked_by is None:
            raise UsageError("there are no predictions to read", where="--masked-by-format", remedy="Name them with --masked-by")
        return self

    @property
    def title(self) -> str:
        """The bare name of the attacked file or store, and the release."""
        return f"release {self.release} of {self.store.name}" if self.file is None else self.file.name

    def subjects(self, reading: LeftOut, tell: Tell | None) -> Iterator[Subject]:
        """Read the attacked documents; *reading* counts those left out."""
        surrogates = "surrogates" in self.mask
        if self.file is None:
            return subjects_of_release(self.store, self.release or "", surrogates=surrogates, tell=tell)
        if self.masked_by is not None:
            found_format = self.masked_by_format or self.input_format
            return subjects_masked_by(self.file, self.masked_by, reading, self.input_format, found_format)
        if self.vault is not None:
            return subjects_with_vault(self.file, self.vault, self.input_format)
        return subjects_of_file(self.file, reading, self.input_format, surrogates=surrogates)


@dataclass(frozen=True, slots=True, kw_only=True)
class AttackReport:
    """The figures of an attack, the names of written files, and the remedy if the plot could not be drawn."""

    title: str
    reading: LeftOut
    figures: AttackFigures
    files: tuple[str, ...] = ()
    install: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the content of ``reidentification.json``."""
        return {"source": self.title, "reading": self.reading, **self.figures.to_json()}


def attack_corpus(settings: AttackSettings, *, watch: Callable[[str], None] = noop, tell: Tell | None = None) -> AttackReport:
    """Attack a file or a release, and write the folder if one is named; *watch* is called with steps in words.

    Raises ``UsageError``, ``DataError``, ``StoreError``, ``ReleaseError`` and ``OutputError``.
    """
    if settings.out is not None:
        check_folder(settings.out, force=settings.force)
    chosen = tuple(policy for policy in POLICIES if policy in settings.mask)
    attacker = Attack(policies=chosen or None, types=settings.only_types, name_types=settings.name_types, rare=settings.rare)
    reading = {"refused_rows": 0, "values_without_place": 0}
    for number, subject in enumerate(settings.subjects(reading, tell), start=1):
        attacker.add(subject)
        if number % _EVERY == 0:
            watch(f"reading: {counted(number, 'document')} …")
    watch("combining the values …")
    report = AttackReport(title=settings.title, reading=reading, figures=attacker.figures())
    if settings.out is None:
        return report
    files, install = write_attack(settings.out, report)
    return replace(report, files=files, install=install)


def write_attack(out: Path, report: AttackReport) -> tuple[tuple[str, ...], str | None]:
    """Write the folder; return the names of its files, and the remedy if the plot could not be drawn. Raises ``OutputError``.

    Files of these names are replaced. The JSON file comes last.
    """
    figures = report.figures
    plots: list[Plot] = []
    with suppress(ImportError):
        plots = [_k_plot(figures)]
    pictured = [f"![{plot.caption}]({plot.name}.png)" for plot in plots]
    parts = [f"# Re-identification: {escaped(report.title)}", *(table.markdown() for table in attack_tables(figures)), *pictured]
    texts = {TABLES_FILE: "\n\n".join(parts) + "\n", FIGURES_FILE: json.dumps(report.to_json(), ensure_ascii=False, indent=2) + "\n"}
    images = {name: image for plot in plots for name, image in plot.files().items()}
    contents = images | {name: text.encode("utf-8", "replace") for name, text in texts.items()}
    write_folder(out, contents)
    return tuple(contents), None if plots else how_to_install("report")


def _k_plot(figures: AttackFigures) -> Plot:
    """Return the share of documents by k, a panel a policy; the bar of k = 1 (unique) stands out. Needs matplotlib."""
    from piiloom.evaluation.plots import BLUE, ORANGE, draw_plot

    def fill(figure: Figure) -> None:
        panels = figure.subplots(len(figures.policies), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
        for panel, (policy, one) in zip(panels, figures.policies.items(), strict=True):
            shares = [100 * number / figures.documents for number in one.histogram.values()]
            bars = panel.bar(range(len(shares)), shares, color=[ORANGE, *[BLUE] * (len(shares) - 1)], width=0.9)
            panel.bar_label(bars, [f"{share:.0f}%" if share >= 0.5 else "" for share in shares], padding=2, fontsize=8)
            panel.set_title(f"masked: {policy}", fontsize=10)
            panel.set_xticks(range(len(shares)), [name.replace("-", "–") for name in one.histogram])
        panels[0].set_ylim(0, 112)
        panels[-1].set_xlabel("k")
        figure.supylabel("% of documents", fontsize=10)

    height = 0.8 + 1.5 * len(figures.policies)
    return draw_plot("k", "Documents by k: how many documents have all values that are left", height, fill)
