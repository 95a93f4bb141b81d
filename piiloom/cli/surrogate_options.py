"""The options of ``piiloom surrogate``, declared once. Imports nothing heavy: help must be quick."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, Literal

import typer

_INPUT, _TAGS, _PEOPLE, _MODEL, _WORK = "What is read", "Placeholders", "Surrogates", "Values by a model", "Running"
# Values with an old spelling that goes on working: option -> old spelling -> new one.
RENAMED: Final[Mapping[str, Mapping[str, str]]] = {"groups": {"exact": "balanced"}, "values": {"code": "local"}}


def warning_of_old_value(option: str, value: object) -> str | None:
    """Return what to write instead of *value*, if that is an old spelling for the option called *option*; else None."""
    new = RENAMED.get(option, {}).get(value) if isinstance(value, str) else None
    return None if new is None else f"--{option} {value} is an old spelling: write --{option} {new}"


def _one_of(option: str, *values: str) -> Callable[[str], str]:
    """Return a parser of one of *values*, which also takes the old spellings, with a warning."""

    def parse(value: str) -> str:
        warning = warning_of_old_value(option, value)
        if warning is not None:
            from piiloom.cli.terminal import say_aside

            say_aside(f"warning: {warning}")
            return RENAMED[option][value]
        if value not in values:
            raise typer.BadParameter(f"{value!r} is not one of {', '.join(values)}.", param_hint=f"--{option}")
        return value

    return parse


PlaceholdersOption = Annotated[
    str,
    typer.Option(
        "--placeholders",
        metavar="auto|FILE",
        rich_help_panel=_TAGS,
        help="auto learns the tags of the input; or a mapping that survey wrote.",
    ),
]
LocaleOption = Annotated[str, typer.Option("--locale", rich_help_panel=_PEOPLE, help="Language and country of the texts, as in nl_NL.")]
KeepOption = Annotated[
    float,
    typer.Option("--keep", min=0.0, max=1.0, rich_help_panel=_PEOPLE, help="Markov: how likely the next mention keeps the surrogate."),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class InputOptions:
    """How the input is read; each field is an option (``source`` the argument)."""

    source: Annotated[
        Path,
        typer.Argument(
            metavar="INPUT",
            help="A .txt (may have BRAT's .ann beside it), .jsonl, .json, .csv, .tsv, .parquet, .arrow, .xml, .docx, .conll "
            "or .zip file, or a folder of these.",
        ),
    ]
    text_field: Annotated[
        list[str] | None,
        typer.Option(
            "--text-field",
            metavar="NAME",
            rich_help_panel=_INPUT,
            help="Field or column of the text (may be repeated; note.text goes deeper; columns also by number).",
        ),
    ] = None
    id_field: Annotated[
        str | None, typer.Option("--id-field", metavar="NAME", rich_help_panel=_INPUT, help="Field of the id (default id).")
    ] = None
    question_field: Annotated[
        str | None,
        typer.Option(
            "--question-field",
            metavar="NAME",
            rich_help_panel=_INPUT,
            help="Field of a question about the text: it is filled with the same people and values, and is the record's question.",
        ),
    ] = None
    file_format: Annotated[
        str | None,
        typer.Option(
            "--format",
            rich_help_panel=_INPUT,
            help="txt, jsonl, json, csv, tsv, parquet, arrow, xml, docx, conll or zip, for files without such a suffix "
            "(conll: also for .txt and .tsv).",
        ),
    ] = None
    encoding: Annotated[
        str | None, typer.Option("--encoding", rich_help_panel=_INPUT, help="Encoding of files that are not UTF-8 (cp1252, latin-1 …).")
    ] = None
    header: Annotated[
        bool, typer.Option("--header/--no-header", rich_help_panel=_INPUT, help="Whether the first row of a table names its columns.")
    ] = True
    delimiter: Annotated[
        str | None,
        typer.Option("--delimiter", rich_help_panel=_INPUT, help="What separates the columns of a table (detected when not given)."),
    ] = None
    quoting: Annotated[
        Literal["auto", "csv", "none"], typer.Option("--quoting", rich_help_panel=_INPUT, help="Whether fields of tables are quoted.")
    ] = "auto"
    max_unpacked: Annotated[
        int, typer.Option("--max-unpacked", metavar="MB", min=1, rich_help_panel=_INPUT, help="The most that zip files may unpack to.")
    ] = 4096
    skip_bad_rows: Annotated[
        bool,
        typer.Option(
            "--skip-bad-rows",
            rich_help_panel=_INPUT,
            help="Set rows that cannot be read aside, with line and reason, and go on; otherwise the first one stops the run.",
        ),
    ] = False
    spans: Annotated[
        bool,
        typer.Option(
            "--spans", rich_help_panel=_INPUT, help="Rows have spans (start, end, type): replace what they mark instead of placeholders."
        ),
    ] = False
    spans_field: Annotated[
        str | None, typer.Option("--spans-field", metavar="NAME", rich_help_panel=_INPUT, help="Field of the spans (default spans).")
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """What is put in, how, and where; each field is an option of ``piiloom surrogate run``."""

    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="The folder to make: records.jsonl, mirror/, map.jsonl, report.json.")]
    placeholders: PlaceholdersOption = "auto"
    on_unknown: Annotated[
        Literal["keep", "error", "generic"],
        typer.Option(
            "--on-unknown",
            rich_help_panel=_TAGS,
            help="What to do with a placeholder of unknown meaning: keep and report it, stop, or put in a neutral value.",
        ),
    ] = "keep"
    locale: LocaleOption = "en_US"
    language_words: Annotated[
        Literal["auto", "none"],
        typer.Option(
            "--language-words",
            rich_help_panel=_TAGS,
            help="none: also take a locale of whose language no words are known; its tags are only listed.",
        ),
    ] = "auto"
    seed: Annotated[
        int | None,
        typer.Option(
            "--seed",
            rich_help_panel=_PEOPLE,
            help="Same seed and input, same bytes. Whoever knows it can recover dates and predict names; without it a secret random "
            "key decides.",
        ),
    ] = None
    scope: Annotated[
        Literal["document", "corpus"],
        typer.Option("--scope", rich_help_panel=_PEOPLE, help="Whether numbered people and roles are the same ones in all documents."),
    ] = "document"
    same_value: Annotated[
        Literal["document", "corpus", "off"],
        typer.Option(
            "--same-value",
            rich_help_panel=_PEOPLE,
            help="With --spans: replace a value that a span marks also where none marks it, in its document, in the corpus, or nowhere.",
        ),
    ] = "document"
    strategy: Annotated[
        Literal["consistent", "per-mention", "markov"],
        typer.Option("--strategy", rich_help_panel=_PEOPLE, help="Whether a person keeps one surrogate."),
    ] = "consistent"
    keep: KeepOption = 0.5
    groups: Annotated[
        Literal["balanced", "weights", "cue"],
        typer.Option(
            "--groups",
            metavar="balanced|weights|cue",
            parser=_one_of("groups", "balanced", "weights", "cue"),
            rich_help_panel=_PEOPLE,
            help="People of each role balanced over gender and UN region, by --weights, or with names of the texts' own country (cue).",
        ),
    ] = "balanced"
    weights: Annotated[
        str,
        typer.Option(
            "--weights", metavar="NAME=N,…", rich_help_panel=_PEOPLE, help="For --groups weights: female=2,Africa=3; others weigh 1."
        ),
    ] = ""
    person_groups: Annotated[
        bool,
        typer.Option(
            "--person-groups", rich_help_panel=_PEOPLE, help="State each person's group in records.jsonl, for evaluate --by <role>."
        ),
    ] = False
    english_only: Annotated[
        bool, typer.Option("--english-only", rich_help_panel=_PEOPLE, help="Only names that are also in use in English-speaking countries.")
    ] = False
    script: Annotated[
        Literal["latin", "native"],
        typer.Option(
            "--script",
            rich_help_panel=_PEOPLE,
            help="native: names of the texts' own country in its own script (zh_CN, ko_KR, ru_RU, ar_EG …).",
        ),
    ] = "latin"
    names: Annotated[
        Path | None, typer.Option("--names", metavar="FILE", rich_help_panel=_PEOPLE, help="A names index that piiloom names build made.")
    ] = None
    link: Annotated[
        list[str] | None,
        typer.Option(
            "--link",
            metavar="TAG=TAG",
            rich_help_panel=_TAGS,
            help='Two tags that are one person in every document, as in "[de man]=[appellant]" (may be repeated).',
        ),
    ] = None
    keep_weekdays: Annotated[
        bool, typer.Option("--keep-weekdays", rich_help_panel=_PEOPLE, help="Shift known dates by whole weeks, so that weekdays stay.")
    ] = False
    values: Annotated[
        Literal["local", "llm"],
        typer.Option(
            "--values",
            metavar="local|llm",
            parser=_one_of("values", "local", "llm"),
            rich_help_panel=_MODEL,
            help="Where organisations, courses, occupations and the like come from: local (no model, nothing leaves the machine) or llm.",
        ),
    ] = "local"
    provider: Annotated[str | None, typer.Option("--provider", rich_help_panel=_MODEL, help="openai, anthropic or compatible.")] = None
    model: Annotated[
        str | None, typer.Option("--model", rich_help_panel=_MODEL, help="The provider's model, as the provider spells it.")
    ] = None
    base_url: Annotated[
        str | None, typer.Option("--base-url", metavar="URL", rich_help_panel=_MODEL, help="Where a compatible server listens.")
    ] = None
    concurrency: Annotated[
        int, typer.Option("--concurrency", min=1, rich_help_panel=_MODEL, help="Calls in flight at once; never changes a value.")
    ] = 16
    budget_usd: Annotated[
        float | None, typer.Option("--budget-usd", min=0.0, rich_help_panel=_MODEL, help="Stop calling the model when this much is spent.")
    ] = None
    price: Annotated[
        str | None,
        typer.Option("--price", metavar="IN,OUT", rich_help_panel=_MODEL, help="USD per million tokens, for models of unknown price."),
    ] = None
    unpriced: Annotated[bool, typer.Option("--unpriced", rich_help_panel=_MODEL, help="Go on although the model's price is unknown.")] = (
        False
    )
    store: Annotated[
        Path,
        typer.Option("--store", metavar="FILE", rich_help_panel=_MODEL, help="Where replies are kept, so that none is paid for twice."),
    ] = Path("outputs/surrogates.duckdb")
    yes: Annotated[
        bool, typer.Option("--yes", rich_help_panel=_MODEL, help="Confirm in advance that sentences may be sent to the provider.")
    ] = False
    leakage: Annotated[
        str,
        typer.Option(
            "--leakage",
            metavar="RATE,…",
            rich_help_panel=_WORK,
            help="Estimate for these miss rates how often a document leaks recognisably.",
        ),
    ] = ""
    scan: Annotated[
        bool, typer.Option("--scan/--no-scan", rich_help_panel=_WORK, help="Look for personal information that is not a surrogate.")
    ] = True
    workers: Annotated[
        str,
        typer.Option(
            "--workers",
            metavar="N|auto|ray",
            rich_help_panel=_WORK,
            help="Processes (auto: one for every 8 MB, and no more than cores), or Ray for a cluster.",
        ),
    ] = "auto"
    vault: Annotated[
        Path | None,
        typer.Option(
            "--vault",
            metavar="FILE",
            rich_help_panel=_WORK,
            help="Also write what was replaced, so that the run can be reversed. Keep this file apart.",
        ),
    ] = None
    force: Annotated[bool, typer.Option("--force", rich_help_panel=_WORK, help="Replace a folder that an earlier run made.")] = False
