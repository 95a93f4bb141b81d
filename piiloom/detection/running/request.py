"""The settings of a detection: its input, its work and its output; its progress, and its report.

This module imports nothing heavy, so that ``--help`` is quick.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Final, Literal, Self

from pydantic import field_validator, model_validator

from piiloom.detection.detector_settings import FINDING, LOCAL_MODELS, DetectorSettings
from piiloom.foundation.errors import UsageError
from piiloom.foundation.frames import Framed
from piiloom.foundation.seeding import digest
from piiloom.foundation.settings import Converted, OptionalPath, Settings, count_or_auto, setting
from piiloom.providers.model_calls import CALLS, MODEL, MONEY

READING: Final = "What is read"


class InputFields(Settings):
    """The form of an input, and its fields: keys of JSON objects ("note.text" goes deeper) or columns of tables.

    Without ``locale`` and ``locale_field``, rows name the locale. Raises ``UsageError`` for an unknown locale.
    """

    locale: str | None = setting(
        None,
        "Locale of all texts, or of rows that name none, such as nl_NL; piiloom locales list shows all.",
        metavar="CODE",
        panel=READING,
    )
    locale_field: str | None = setting(None, "Field of a row's locale (else locale).", metavar="NAME", panel=READING)
    text_field: str | None = setting(None, "Field of the text (else text or context).", metavar="NAME", panel=READING)
    id_field: str | None = setting(None, "Field of a row's id (else id).", metavar="NAME", panel=READING)
    question_field: str | None = setting(None, "Field of the question (else question).", metavar="NAME", panel=READING)
    input_format: str | None = setting(None, "Format of INPUT, if its suffix does not tell.", metavar="FORMAT", panel=READING)
    lines: bool = setting(False, "Read each line of a text file as a document.", panel=READING)

    @model_validator(mode="after")
    def _known_locale(self) -> Self:
        if self.locale is not None:
            try:
                vars(self)["locale"] = self.checked_locale(self.locale)
            except UsageError as error:
                raise UsageError(error.message, where="--locale", remedy=error.remedy) from None
        return self

    @property
    def any_locale(self) -> bool:
        """Whether locales that have no catalogue are taken, too."""
        return False

    def checked_locale(self, name: str) -> str:
        """Return the locale that *name* means, see ``detection_locale``."""
        return detection_locale(name, any_locale=self.any_locale)

    @property
    def named_fields(self) -> dict[str, str]:
        """The fields that were named, by option."""
        given = {
            "--text-field": self.text_field,
            "--id-field": self.id_field,
            "--question-field": self.question_field,
            "--locale-field": self.locale_field,
        }
        return {option: field for option, field in given.items() if field is not None}


class DetectionInput(InputFields):
    """An input: a file, or a folder of files of one format."""

    source: OptionalPath = setting(
        None,
        "A .txt, .jsonl, .json, .csv, .tsv or .parquet file, one that piiloom import reads, or a folder of .txt files. "
        "With --to annotation none: the records of --store are read.",
        metavar="INPUT",
        argument=True,
    )

    @property
    def path(self) -> Path:
        """The input. Raises ``UsageError`` if none is named."""
        if self.source is None:
            raise UsageError("no INPUT is named", remedy="Name a file or a folder; or add --to annotation to look through a store")
        return self.source

    @property
    def input_identity(self) -> dict[str, Any]:
        """The settings that decide which documents there are, beside the content of the files."""
        return {
            "input": self.path.resolve().name,
            "format": self.input_format,
            "lines": self.lines,
            "fields": self.named_fields,
            "locale": self.locale,
        }


def detection_locale(name: str, *, any_locale: bool) -> str:
    """Return the locale that *name* means: one of the catalogue, or with *any_locale* any other, also a language alone.

    Raises ``UsageError`` for an unknown locale.
    """
    from piiloom.taxonomy.entities.entity_catalogue import known_locale
    from piiloom.taxonomy.locales import locale_codes, resolve_locale

    if not any_locale:
        return known_locale(name)
    try:
        return resolve_locale(name)
    except UsageError:
        if (language := name.strip().lower()) in locale_codes().languages:
            return language
        raise


@dataclass(frozen=True, slots=True, kw_only=True)
class DetectionProgress:
    """``done`` of ``total`` lines, rows or files of the input are finished (``total`` None: unknown).

    ``kept`` of the ``documents`` were done by earlier sessions. ``spent_usd`` is what a model has cost, in all sessions of its run.
    """

    documents: int
    spans: int
    refused: int
    done: int
    total: int | None
    kept: int = 0
    spent_usd: float | None = None


DetectionWatch = Callable[[DetectionProgress], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class DetectionReport(Framed):
    """What a run did.

    ``figures`` are the counts (``documents``, ``spans``, ``types``, ``subtypes`` …), equal for equal inputs and settings. ``files`` were
    written. ``kept`` documents were done by earlier sessions; ``seconds`` and ``documents_per_second`` are of this session,
    ``model`` what a model was asked and has cost.
    """

    out: Path
    figures: Mapping[str, Any]
    files: tuple[Path, ...]
    kept: int
    seconds: float
    model: Mapping[str, Any] | None = None

    @property
    def documents_per_second(self) -> float | None:
        """How many documents this session did in a second; None if there were none to be done."""
        done = self.figures["documents"] + self.figures["failed"] - self.kept
        return done / self.seconds if done > 0 and self.seconds > 0 else None

    def to_json(self) -> dict[str, Any]:
        """Return all of it as JSON values."""
        rate = self.documents_per_second
        return {
            "out": str(self.out),
            **self.figures,
            "files": [str(path) for path in self.files],
            "model": None if self.model is None else dict(self.model),
            "kept": self.kept,
            "seconds": round(self.seconds, 3),
            "documents_per_second": None if rate is None else round(rate, 1),
        }


_SCHEMA: Final = 1
_WORK: Final = "Running"
BLOCK: Final = "█"
WRITING: Final = "What is written"
_FORMATS: Final = (
    "native, capid, csv, parquet, json, huggingface, alpaca, capid-alpaca, chat, openai, verifier, bio, conll, spacy, gliner, brat, "
    "label-studio, presidio, argilla or masked"
)


class WorkSettings(DetectorSettings):
    """The settings of a worker: those of the detector, and of masked texts. Pickles."""

    mask: Literal["type", "subtype", "numbered", "char"] | None = setting(
        None,
        "Write masked texts, too, to FILE.masked.jsonl beside the output: type (<NAME>), subtype (<IBAN>), numbered ([NAME_1]) or char "
        "(same length).",
        panel=WRITING,
    )
    mask_char: str | None = setting(None, "Character of --mask char (else █).", metavar="C", panel=WRITING, advanced=True)

    @model_validator(mode="after")
    def _maskable(self) -> Self:
        if self.mask_char is not None and self.mask is None:
            raise UsageError("nothing is masked", where="--mask-char", remedy="Add --mask char, or leave it out")
        if self.mask_char is not None and self.mask != "char":
            raise UsageError(f"--mask {self.mask} uses no character", where="--mask-char", remedy="Use --mask char, or leave it out")
        if len(self.mask_character) != 1 or not self.mask_character.isprintable():
            raise UsageError("this is not one printable character", where="--mask-char", remedy="Give one, such as X")
        return self

    @property
    def mask_character(self) -> str:
        """The character that masks others."""
        return BLOCK if self.mask_char is None else self.mask_char


class DetectionSettings(InputFields, WorkSettings):
    """The settings of a detection besides the places of input and output."""

    panels: ClassVar[tuple[str, ...]] = (READING, FINDING, WRITING, LOCAL_MODELS, MODEL, CALLS, MONEY, _WORK)

    format: str | None = setting(None, f"Format of a folder as output: {_FORMATS}.", metavar="FORMAT", panel=WRITING)
    tokenizer: str = setting("whitespace", "Tokenizer of formats with tokens.", metavar="NAME", panel=WRITING, advanced=True)
    force: bool = setting(False, "Replace what is there, and begin an unfinished run anew.", panel=WRITING)
    workers: Converted[int, int | str] = setting(
        1, "Processes; the output is the same for any number.", metavar="N|auto", kind=str, panel=_WORK
    )
    resume: bool = setting(False, "Continue with what a stopped or killed run has done, if there is one.", panel=_WORK)

    @field_validator("workers", mode="before")
    @classmethod
    def _number_of_workers(cls, given: object) -> int:
        count = count_or_auto(given)
        return len(os.sched_getaffinity(0)) if count == "auto" else count

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if self.waits and self.workers > 1:
            raise UsageError(
                "a detector that asks a model or a service works in one process", where="--workers", remedy="Use --concurrency"
            )
        if self.resume and self.force:
            raise UsageError("--resume goes on, and --force begins anew", where="--resume, --force", remedy="Give one of them")
        return self

    @property
    def any_locale(self) -> bool:
        """Whether the detector takes locales that have no catalogue."""
        return not self.family.catalogue


class DetectionRequest(DetectionSettings, DetectionInput):
    """A detection of ``source``. ``out`` is a file that ends in ``.jsonl``, of native rows, or a folder in ``format`` (native)."""

    out: OptionalPath = setting(None, "A .jsonl file of native rows, or a folder for any --format.", flags="--out -o", metavar="PATH")

    @model_validator(mode="after")
    def _elsewhere(self) -> Self:
        if self.source is None or self.out is None:
            return self
        if self.out.name in {"", ".."}:  # the name of what is unfinished is made of its name
            vars(self)["out"] = self.out.resolve()
        source, out = self.source.resolve(), self.out.resolve()
        if out == source or source.is_relative_to(out):
            raise UsageError("the output would replace the input", where="--out", remedy="Name another place")
        if source.is_dir() and out.is_relative_to(source):
            raise UsageError("the output lies inside the input folder", where="--out", remedy="Name a place outside of it")
        return self

    @property
    def place(self) -> Path:
        """The output. Raises ``UsageError`` if no input or no output is named."""
        _ = self.path
        if self.out is None:
            raise UsageError("nothing says where to write", where="--out", remedy="Name a .jsonl file, or a folder")
        return self.out

    @property
    def about(self) -> dict[str, Any]:
        """The settings that decide the result beside the texts."""
        from piiloom.corpus.releases.manifest import OWN_TYPES
        from piiloom.foundation.version import __version__
        from piiloom.taxonomy.own_types import to_json

        own = self.own_types
        about: dict[str, Any] = {
            "schema": _SCHEMA,
            "tool": "piiloom detect",
            "piiloom": __version__,
            "input": self.input_identity,
            "detector": self.identity,
            "mask": None if self.mask is None else {"style": self.mask, "character": self.mask_character},
        }
        return about | {OWN_TYPES: to_json(own)} if own else about

    def named_after(self, files: Sequence[tuple[str, int]]) -> DetectionRequest:
        """Return this request with a name made of names and sizes of *files*, by which sessions that ask a model share a budget."""
        if self.asked is None or self.run:
            return self
        name = digest(self.input_identity, files)[:16]
        return self.model_copy(update={"run": name})
