"""The formats by name."""

from __future__ import annotations

from piiloom.corpus.formats.alpaca import AlpacaFormat
from piiloom.corpus.formats.argilla import ArgillaFormat
from piiloom.corpus.formats.base import Format, ReadableFormat
from piiloom.corpus.formats.bio import BioFormat
from piiloom.corpus.formats.brat import BratFormat
from piiloom.corpus.formats.capid import CapidFormat
from piiloom.corpus.formats.chat import ChatFormat
from piiloom.corpus.formats.comma_separated import CommaSeparatedFormat
from piiloom.corpus.formats.conll import ConllFormat
from piiloom.corpus.formats.docbin import DocBinFormat
from piiloom.corpus.formats.gliner_rows import GlinerFormat
from piiloom.corpus.formats.huggingface import HuggingFaceFormat
from piiloom.corpus.formats.json_objects import JsonFormat
from piiloom.corpus.formats.label_studio import LabelStudioFormat
from piiloom.corpus.formats.masked import MaskedFormat
from piiloom.corpus.formats.native import NativeFormat
from piiloom.corpus.formats.openai_finetuning import OpenAIFineTuningFormat
from piiloom.corpus.formats.parquet import ParquetFormat
from piiloom.corpus.formats.presidio import PresidioFormat
from piiloom.corpus.formats.verifier import VerifierFormat
from piiloom.foundation.errors import UsageError

_ALL: tuple[Format, ...] = (
    NativeFormat(),
    CapidFormat(),
    CommaSeparatedFormat(),
    ParquetFormat(),
    JsonFormat(),
    HuggingFaceFormat(),
    AlpacaFormat(),
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
FORMATS: dict[str, Format] = {file_format.name: file_format for file_format in _ALL}


def get_format(name: str) -> Format:
    """Return the format called *name*; raises ``UsageError``, listing the known ones, if there is none."""
    try:
        return FORMATS[name]
    except KeyError:
        raise UsageError(f"unknown format {name!r}", remedy=f"Known formats: {', '.join(FORMATS)}") from None


def get_readable_format(name: str) -> ReadableFormat:
    """Return the format called *name*; raises ``UsageError`` if there is none or piiloom cannot read it."""
    found = get_format(name)
    if not isinstance(found, ReadableFormat):
        known = ", ".join(known for known, each in FORMATS.items() if isinstance(each, ReadableFormat))
        raise UsageError(f"the format {name!r} cannot be read", remedy=f"Formats that can: {known}")
    return found
