"""The registry of formats by name, the native format, and JSON.

The native format is JSON Lines. It is lossless: a record that is written and read again is equal. Reading verifies that every span's
``text`` equals ``context[start:end]``; ``piiloom.corpus.formats.row_reading`` has the rules.

The format ``json`` is an array of native rows. Read are also JSON lines, the rows of other tools, and objects of any shape with
``ReadOptions.columns``; ``piiloom.corpus.formats.columns`` has the shapes. spaCy's ``[text, {"entities": [[start, end, label]]}]`` is one.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from piiloom.corpus.formats.base import Format, Json, ReadableFormat, ReadOptions, ReadTally, RowReject
from piiloom.corpus.formats.brat import BratFormat
from piiloom.corpus.formats.capid import CapidAlpacaFormat, CapidFormat
from piiloom.corpus.formats.columns import ALL_FIELDS, Columns
from piiloom.corpus.formats.foreign_formats import ArgillaFormat, I2b2Format, PresidioFormat, TabFormat
from piiloom.corpus.formats.instruction_tuning import AlpacaFormat, ChatFormat, OpenAIFineTuningFormat
from piiloom.corpus.formats.label_studio import LabelStudioFormat
from piiloom.corpus.formats.lossless import CommaSeparatedFormat, HuggingFaceFormat, ParquetFormat
from piiloom.corpus.formats.masked import MaskedFormat
from piiloom.corpus.formats.native_rows import (
    RowFault,
    array_or_lines,
    parse_value,
)
from piiloom.corpus.formats.row_reading import JsonRowFormat, Made, MakeRow
from piiloom.corpus.formats.token_formats import BioFormat, ConllFormat, DocBinFormat, GlinerFormat
from piiloom.corpus.formats.verifier import VerifierFormat
from piiloom.foundation.errors import UsageError


class NativeFormat(JsonRowFormat):
    """The native format; see the module docstring."""

    name = "native"
    suffix = ".jsonl"
    column_fields = ALL_FIELDS

    def read_with(self, path: Path, options: ReadOptions, tally: ReadTally, make: MakeRow[Made]) -> Iterator[Made | RowReject]:
        """Yield the rows of *path*, see ``NativeShapedFormat``; a row without ``id`` gets a digest of its content."""
        if options.columns:
            return JsonFormat().read_with(path, options, tally, make)
        return super().read_with(path, options, tally, make)


class JsonFormat(JsonRowFormat):
    """The JSON format; see the module docstring."""

    name = "json"
    suffix = ".json"
    column_fields = ALL_FIELDS

    def read_with(self, path: Path, options: ReadOptions, tally: ReadTally, make: MakeRow[Made]) -> Iterator[Made | RowReject]:
        """Yield the rows of *path*, see ``NativeShapedFormat``; in an array, which is read as a whole, an object's number is its line."""
        return Columns(path, options, tally).read(array_or_lines(path), object_in, make)


def object_in(text: str) -> Json:
    """Return the object in *text*, or what spaCy's pair of a text and an object of annotations is as one."""
    match parse_value(text):
        case dict(row):
            return row
        case [str(words), dict(annotations)]:
            return {**annotations, "text": words}
    raise RowFault("not a JSON object")


_ALL: tuple[Format, ...] = (
    NativeFormat(),
    CapidFormat(),
    CommaSeparatedFormat(),
    ParquetFormat(),
    JsonFormat(),
    HuggingFaceFormat(),
    AlpacaFormat(),
    CapidAlpacaFormat(),
    ChatFormat(),
    OpenAIFineTuningFormat(),
    VerifierFormat(),
    BioFormat(),
    ConllFormat(),
    DocBinFormat(),
    GlinerFormat(),
    BratFormat(),
    LabelStudioFormat(),
    PresidioFormat(),
    ArgillaFormat(),
    MaskedFormat(),
)
# The formats that can be written, and those that can be read.
FORMATS: dict[str, Format] = {file_format.name: file_format for file_format in _ALL}
READABLE: dict[str, ReadableFormat] = {one.name: one for one in (*_ALL, TabFormat(), I2b2Format()) if isinstance(one, ReadableFormat)}

# Names under which files of a format go, with that format.
_CALLED = {
    **dict.fromkeys(("doccano", "prodigy", "spacy-json", "jsonl", "json-lines", "ndjson"), "json"),
    **dict.fromkeys(("hf", "datasets", "hugging-face", "hf-datasets"), "huggingface (Parquet) or json"),
    **dict.fromkeys(("iob", "iob1", "iob2", "bilou", "bioes", "conll2003", "conll-2003", "conll03"), "conll"),
    **dict.fromkeys(("crapii", "kaggle", "tokens", "ner-tags"), "bio"),
    **dict.fromkeys(("labelstudio", "ls"), "label-studio"),
    **dict.fromkeys(("n2c2", "i2b2-2014"), "i2b2"),
    **dict.fromkeys(("docbin", "spacy-docbin"), "spacy"),
}


def get_format(name: str) -> Format:
    """Return the format called *name*; raises ``UsageError``, listing the known ones, if there is none that can be written."""
    if name in FORMATS:
        return FORMATS[name]
    fault = f"the format {name!r} cannot be written" if name in READABLE else f"unknown format {name!r}"
    raise UsageError(fault, remedy=f"Known formats: {', '.join(FORMATS)}")


def get_readable_format(name: str) -> ReadableFormat:
    """Return the format called *name*; raises ``UsageError``, listing the known ones, if there is none that can be read."""
    if name in READABLE:
        return READABLE[name]
    fault = f"the format {name!r} cannot be read" if name in FORMATS else f"unknown format {name!r}"
    raise UsageError(fault, remedy=f"{meant(name)}Known formats: {', '.join(READABLE)}")


def meant(name: str) -> str:
    """Return a sentence that names the format of the tool *name*, with a blank behind it; "" if no such tool is known."""
    called = _CALLED.get("-".join(name.lower().replace("_", " ").split()))
    return f"Its files are read with {called}. " if called else ""
