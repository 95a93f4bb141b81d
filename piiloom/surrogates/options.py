"""The options of surrogates, each declared once: those of reading an input, of a run, and of an estimate of leakage."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Final, Literal

from pydantic import field_validator

from piiloom.foundation.errors import UsageError
from piiloom.foundation.settings import AnyPath, Converted, OptionalPath, Settings, count_or_auto, setting
from piiloom.providers.model_calls import CALLS, MODEL, MONEY, ModelCalls

INPUT: Final = "Input"
TAGS: Final = "Placeholders"
PEOPLE: Final = "Surrogates"
RUN: Final = "Run"

Names = Converted[tuple[str, ...], Sequence[str]]
Rates = Converted[tuple[float, ...], "str | Sequence[float]"]


class InputOptions(Settings):
    """The fields, the format and the encoding of an input."""

    text_field: Names = setting(
        (),
        "Field or column of the text; repeatable. note.text is a nested field, a number the column of a table.",
        metavar="NAME",
        panel=INPUT,
    )
    id_field: str | None = setting(None, "Field of the id (default id).", metavar="NAME", panel=INPUT)
    question_field: str | None = setting(
        None,
        "Field of a question about the text. It gets the same people and values, and is the record's question.",
        metavar="NAME",
        panel=INPUT,
    )
    group_by: str | None = setting(
        None,
        "Column of a table in which the rows of one document are equal: lesson. file: all rows of a table are one document.",
        metavar="NAME|file",
        panel=INPUT,
    )
    speaker_field: str | None = setting(
        None, "With --group-by: column of the speakers. Each row is then a line speaker: text.", metavar="NAME", panel=INPUT
    )
    input_format: str | None = setting(
        None,
        "Format of files without a known suffix: txt, jsonl, json, csv, tsv, parquet, arrow, xml, docx, conll, zip.",
        metavar="FORMAT",
        panel=INPUT,
    )
    encoding: str | None = setting(None, "Encoding of files that are not UTF-8: cp1252, latin-1 …", panel=INPUT, advanced=True)
    header: bool = setting(True, "The first row of a table has the names of its columns.", flags="--header/--no-header", panel=INPUT)
    delimiter: str | None = setting(
        None, "Separator of the columns of a table; detected when not given.", metavar="SIGN", panel=INPUT, advanced=True
    )
    quoting: Literal["auto", "csv", "none"] = setting("auto", "Quotes around the fields of a table.", panel=INPUT, advanced=True)
    max_unpacked: int = setting(4096, "Limit of the size to which zip files unpack.", metavar="MB", panel=INPUT, ge=1, advanced=True)
    skip_bad_rows: bool = setting(
        False, "Set aside rows that cannot be read, with line and reason; otherwise the first one stops the run.", panel=INPUT
    )


class SpanOptions(Settings):
    """The spans of an input, which are replaced instead of placeholders."""

    spans: bool = setting(False, "Replace the spans of the rows (start, end, type) instead of placeholders.", panel=INPUT)
    spans_field: str | None = setting(None, "Field of the spans (default spans).", metavar="NAME", panel=INPUT)


class CorpusOptions(SpanOptions, InputOptions):
    """The options of each command that plans the people of a corpus."""

    placeholders: str = setting(
        "auto", "auto learns the tags of the input; or a mapping that survey wrote.", metavar="auto|FILE", panel=TAGS
    )
    locale: str = setting("en_US", "Language and country of the texts: nl_NL.", panel=PEOPLE)
    keep_probability: float = setting(
        0.5,
        "Strategy markov: probability that the next mention has the same surrogate.",
        metavar="P",
        panel=PEOPLE,
        ge=0.0,
        le=1.0,
        advanced=True,
    )
    names_index: OptionalPath = setting(None, "A names index that piiloom names build made.", metavar="FILE", panel=PEOPLE)


class SurrogateOptions(ModelCalls, CorpusOptions):
    """The options of a run of surrogates. A model is asked with ``values="llm"`` and a provider only."""

    panels: ClassVar[tuple[str, ...]] = (INPUT, TAGS, PEOPLE, MODEL, CALLS, MONEY, RUN)

    on_unknown: Literal["keep", "error", "generic"] = setting(
        "keep", "A placeholder of unknown meaning: keep and report it, stop, or replace it by a neutral value.", panel=TAGS
    )
    language_words: Literal["auto", "none"] = setting(
        "auto", "none: accept a locale of a language without known words; its tags are only listed.", panel=TAGS, advanced=True
    )
    link: Names = setting((), "Two tags that name one person in every document; repeatable.", metavar="TAG=TAG", panel=TAGS)
    seed: int | None = setting(
        None,
        "Same seed and input, same bytes. With a known seed, dates can be recovered and names predicted; without it the key is secret.",
        panel=PEOPLE,
    )
    scope: Literal["document", "corpus"] = setting(
        "document", "Texts in which a number or role is the same person: each document, or all of them.", panel=PEOPLE
    )
    same_value: Literal["document", "corpus", "off"] = setting(
        "document", "With --spans: texts in which the value of a span is replaced also where no span marks it.", panel=PEOPLE
    )
    strategy: Literal["consistent", "per-mention", "markov"] = setting(
        "consistent", "One surrogate per person, one per mention, or one that changes now and then (markov).", panel=PEOPLE
    )
    groups: Literal["balanced", "weights", "cue"] = setting(
        "balanced",
        "People of each role balanced over gender and UN region, by --weights, or with names of the texts' own country (cue).",
        panel=PEOPLE,
    )
    groups_by: Literal["person", "document"] = setting(
        "person", "document: all people of a document have one group, and the documents are balanced over the groups.", panel=PEOPLE
    )
    weights: str = setting("", "For --groups weights: female=2,Africa=3; others weigh 1.", metavar="NAME=N,…", panel=PEOPLE)
    person_groups: bool = setting(
        False, "State each person's group in records.jsonl, for evaluate --by <role>.", panel=PEOPLE, advanced=True
    )
    english_only: bool = setting(False, "Only names that are also in use in English-speaking countries.", panel=PEOPLE, advanced=True)
    script: Literal["latin", "native"] = setting(
        "latin", "native: names of the texts' own country in its own script (zh_CN, ko_KR, ru_RU, ar_EG …).", panel=PEOPLE
    )
    keep_weekdays: bool = setting(False, "Shift known dates by whole weeks, so that weekdays stay.", panel=PEOPLE, advanced=True)
    values: Literal["code", "llm"] = setting(
        "code", "Source of organisations, courses, occupations and the like: code (nothing leaves the machine) or llm.", panel=MODEL
    )
    replies: AnyPath = setting(
        Path("outputs/surrogates.duckdb"), "The DuckDB file in which paid replies are kept.", metavar="FILE", panel=CALLS
    )
    yes: bool = setting(False, "Confirm in advance that sentences may be sent to the provider.", flags="--yes -y", panel=MODEL)
    leakage: Rates = setting(
        (), "Estimate for these miss rates how often a document leaks recognisably.", metavar="RATE,…", panel=RUN, kind=str
    )
    scan: bool = setting(True, "Look for personal information that is not a surrogate.", flags="--scan/--no-scan", panel=RUN, advanced=True)
    workers: Converted[int | Literal["auto"], int | str] = setting(
        "auto", "Processes; auto: one for every 8 MB, and no more than cores.", metavar="N|auto", panel=RUN, kind=str
    )
    ray: bool = setting(False, "Work with Ray workers (extra ray), auto: one for each CPU of the cluster.", panel=RUN, advanced=True)
    ray_address: str | None = setting(None, "With --ray: address of the cluster.", metavar="HOST:PORT", panel=RUN, advanced=True)
    vault: OptionalPath = setting(
        None, "Also write the originals to this file, so that the run can be reversed. Keep it apart.", metavar="FILE", panel=RUN
    )
    force: bool = setting(False, "Replace a folder that an earlier run made.", panel=RUN)

    @field_validator("leakage", mode="before")
    @classmethod
    def _rates(cls, rates: Any) -> Any:
        return miss_rates(rates, "--leakage")

    @field_validator("workers", mode="before")
    @classmethod
    def _count(cls, workers: Any) -> Any:
        return count_or_auto(workers)


class LeakageOptions(CorpusOptions):
    """The options of an estimate of leakage."""

    panels: ClassVar[tuple[str, ...]] = (INPUT, TAGS, PEOPLE)

    miss: Rates = setting(
        (0.001, 0.005, 0.01, 0.02, 0.05, 0.1), "Shares of mentions that de-identification misses.", metavar="RATE,…", kind=str
    )
    out: OptionalPath = setting(None, "Also write leakage.json and a plot (extra report) to this folder.", flags="--out -o", metavar="DIR")

    @field_validator("miss", mode="before")
    @classmethod
    def _rates(cls, rates: Any) -> Any:
        found = miss_rates(rates, "--miss")
        if not found:
            raise UsageError("no miss rate is given", where="--miss", remedy="Give shares between 0 and 1: 0.01,0.05.")
        return found


def miss_rates(rates: str | Sequence[float], option: str) -> tuple[float, ...]:
    """Return the *rates*, which may be words ("0.01,0.05"). Raises ``UsageError`` for a rate that is no share between 0 and 1."""
    parts = filter(None, (piece.strip() for piece in rates.split(","))) if isinstance(rates, str) else rates
    found = []
    for part in parts:
        try:
            rate = float(part)
        except ValueError:
            rate = -1.0
        if not 0 < rate < 1:
            raise UsageError(f"{part!r} is not a miss rate", where=option, remedy="Give shares between 0 and 1: 0.01,0.05.")
        found.append(rate)
    return tuple(found)
