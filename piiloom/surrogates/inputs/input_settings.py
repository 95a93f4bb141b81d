"""Settings for reading an input: formats, fields, encoding, spans, limits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from piiloom.foundation.errors import UsageError

if TYPE_CHECKING:
    from piiloom.surrogates.options import InputOptions, SpanOptions

Quoting = Literal["auto", "csv", "none"]
KindOf = Callable[[str, str | None], str]

FORMATS: Final[Mapping[str, str]] = {
    ".txt": "txt",
    ".text": "txt",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".docx": "docx",
    ".conll": "conll",
    ".bio": "conll",
    ".iob": "conll",
    ".iob2": "conll",
    ".arrow": "arrow",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".xml": "xml",
    ".zip": "zip",
}
SPANS: Final = "spans"
DEFAULT_CHUNK: Final = 2**20
DEFAULT_MAX_UNPACKED: Final = 4 * 2**30


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceSettings:
    """Settings for reading an input. ``path`` is a file or a folder; ``format`` is for files with an unknown suffix.

    ``text_fields`` are names (dotted in JSON: "note.text") or, in tables, 1-based numbers; the default is ``text``, else ``context``.
    ``id_field`` defaults to ``id``. ``encoding`` is for files without a byte-order mark; the default is what XML declares, else UTF-8.
    ``delimiter`` None: by suffix and first line. ``quoting`` "auto": fields may be quoted, except in a tab-separated file whose quotes
    do not pair.

    With ``question_field``, a row's question is part of its document (``text_cells``). With ``group_by`` several rows of a table are one
    document, each a line that begins with its ``speaker_field`` if there is one.

    Rows may bring spans, in ``spans_field`` (default: ``spans``, if it looks like spans). With ``kind_of`` (entity type, subtype → kind)
    they become the document's mentions.
    ``look_at_key`` tells whether a JSON key looks like a placeholder. Both must be picklable. ``skip_bad_rows``: a row that cannot be
    read is set aside; otherwise it is an error. At most ``max_unpacked`` bytes are unpacked from zip files; a chunk has about
    ``chunk_bytes`` bytes. Raises ``UsageError`` for invalid values.
    """

    path: Path
    format: str | None = None
    text_fields: tuple[str, ...] = ()
    id_field: str | None = None
    header: bool = True
    delimiter: str | None = None
    quoting: Quoting = "auto"
    encoding: str | None = None
    question_field: str | None = None
    group_by: str | None = None
    speaker_field: str | None = None
    spans_field: str | None = None
    use_spans: bool = True
    kind_of: KindOf | None = None
    look_at_key: Callable[[str], bool] | None = None
    max_unpacked: int = DEFAULT_MAX_UNPACKED
    chunk_bytes: int = DEFAULT_CHUNK
    skip_bad_rows: bool = False

    def __post_init__(self) -> None:
        formats, fields, one_text = sorted(set(FORMATS.values())), self.text_fields, "Name one --text-field"
        no_format = self.format is not None and self.format not in formats
        no_sign = self.delimiter is not None and (len(self.delimiter) != 1 or self.delimiter in '"\r\n' or not self.delimiter.isascii())
        two_texts = self.question_field is not None and (len(fields) > 1 or self.question_field in fields)
        not_one = self.group_by is not None and (self.question_field is not None or len(fields) > 1)
        no_group = self.speaker_field is not None and self.group_by is None
        listed = f"The formats are {', '.join(formats)}."
        for wrong, message, option, remedy in (
            (self.chunk_bytes < 1 or self.max_unpacked < 1, "a size must be at least one byte", "--max-unpacked", None),
            (no_format, f"there is no format {self.format!r}", "--input-format", listed),
            (no_sign, "a delimiter is one ASCII character, and neither a quote nor a line end", "--delimiter", None),
            (two_texts, "a question goes with one text, of another field", "--question-field", one_text),
            (not_one, "a group of rows has one text field and no question", "--group-by", one_text),
            (no_group, "speakers are those of grouped rows", "--speaker-field", "Add --group-by"),
            (len(set(fields)) != len(fields), "a field is named twice", "--text-field", None),
        ):
            if wrong:
                raise UsageError(message, where=option, remedy=remedy)

    @classmethod
    def of(cls, path: Path, options: InputOptions, spans: SpanOptions | None = None) -> SourceSettings:
        """Return the settings that *options* describe for the input at *path*; without *spans*, spans are not read."""
        use_spans = spans is not None and (spans.spans or bool(spans.spans_field))
        return cls(
            path=path,
            format=options.input_format,
            text_fields=options.text_field,
            id_field=options.id_field,
            encoding=options.encoding,
            question_field=options.question_field,
            group_by=options.group_by,
            speaker_field=options.speaker_field,
            header=options.header,
            delimiter={"\\t": "\t", "tab": "\t"}.get(options.delimiter or "", options.delimiter),
            spans_field=(spans.spans_field or SPANS) if spans is not None and use_spans else None,  # asked for, so [] means: no mentions
            use_spans=use_spans,
            kind_of=_kind_of_span() if use_spans else None,
            quoting=options.quoting,
            max_unpacked=options.max_unpacked * 2**20,
            skip_bad_rows=options.skip_bad_rows,
        )

    @property
    def takes_spans(self) -> bool:
        """Whether spans of rows become mentions. Spans belong to one text, so there may be only one text field."""
        return self.use_spans and self.kind_of is not None and len(self.text_fields) <= 1

    def to_json(self) -> dict[str, Any]:
        """Return what ``from_json`` needs to read the same documents again; no paths."""
        fields = ("format", "text_fields", "id_field", "header", "delimiter", "quoting", "encoding", "question_field", "group_by")
        saved = {name: getattr(self, name) for name in (*fields, "speaker_field", "spans_field")} | {"text_fields": list(self.text_fields)}
        return {**saved, "spans": self.takes_spans, "max_unpacked": self.max_unpacked, "skip_bad_rows": self.skip_bad_rows}

    @classmethod
    def from_json(cls, path: Path, state: Mapping[str, Any]) -> SourceSettings:
        """Return the settings that ``to_json`` saved, for the input at *path*. All spans become mentions of the kind "generic"."""
        told = {key: value for key, value in state.items() if key not in {"spans", "text_fields"}}
        kind_of = _any_kind if state["spans"] else None
        return cls(path=path, text_fields=tuple(state["text_fields"]), use_spans=bool(state["spans"]), kind_of=kind_of, **told)


def _kind_of_span() -> KindOf:
    from piiloom.surrogates.placeholders.reading import kind_of_span  # noqa: PLC0415 - most runs take no spans

    return kind_of_span


def _any_kind(entity_type: str, subtype: str | None) -> str:  # noqa: ARG001 - a KindOf
    return "generic"
