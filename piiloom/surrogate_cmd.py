"""``piiloom surrogate``: put realistic surrogates where a corpus was redacted."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from piiloom.options import JsonOption, examples

_RUN = (
    "piiloom surrogate run notes/ --out filled",
    "piiloom surrogate run chats.csv --text-field message --out filled --seed 3 --locale en_GB",
    "piiloom surrogate run rulings.zip --out filled --locale nl_NL --placeholders mapping.yaml --on-unknown error",
    "piiloom surrogate run gold.jsonl --spans --out filled --strategy markov --leakage 0.05",
    "piiloom surrogate run notes/ --out filled --values llm --provider compatible --base-url http://localhost:11434/v1 --model llama3",
)
_SURVEY = ("piiloom surrogate survey notes/ --out mapping.yaml", "piiloom surrogate survey chats.csv --text-field message --json")
_LEAKAGE = ("piiloom surrogate leakage notes/ --miss 0.001,0.01,0.05", "piiloom surrogate leakage notes/ --out leakage/ --locale nl_NL")
_CHECK = ("piiloom surrogate check filled notes/",)

surrogate_app = typer.Typer(
    help='Replace placeholders by realistic, consistent surrogates ("hidden in plain sight"), with exact offsets.',
    epilog=examples(_RUN[0], _SURVEY[0], *_CHECK, _LEAKAGE[0]),
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

_READ, _TAGS, _CAST, _MODEL, _WORK = "What is read", "Placeholders", "Surrogates", "Values by a model", "Running"

_Input = Annotated[
    Path, typer.Argument(metavar="INPUT", help="A .txt, .jsonl, .json, .csv, .tsv, .parquet, .xml or .zip file, or a folder of these.")
]
_TextField = Annotated[
    list[str] | None,
    typer.Option(
        "--text-field",
        metavar="NAME",
        rich_help_panel=_READ,
        help="Field or column of the text (may be repeated; note.text goes deeper; columns also by number).",
    ),
]
_IdField = Annotated[str | None, typer.Option("--id-field", metavar="NAME", rich_help_panel=_READ, help="Field of the id (default id).")]
_Format = Annotated[
    str | None,
    typer.Option("--format", rich_help_panel=_READ, help="txt, jsonl, json, csv, tsv, parquet, xml or zip, where the suffix tells none."),
]
_Encoding = Annotated[
    str | None, typer.Option("--encoding", rich_help_panel=_READ, help="Of files that are not UTF-8 (cp1252, latin-1 …).")
]
_Header = Annotated[
    bool, typer.Option("--header/--no-header", rich_help_panel=_READ, help="Whether the first row of a table names its columns.")
]
_Delimiter = Annotated[
    str | None, typer.Option("--delimiter", rich_help_panel=_READ, help="What separates the columns of a table (found out when not given).")
]
_MaxUnpacked = Annotated[
    int, typer.Option("--max-unpacked", metavar="MB", min=1, rich_help_panel=_READ, help="The most that zip files may unpack to.")
]
_Quoting = Annotated[
    Literal["auto", "csv", "none"], typer.Option("--quoting", rich_help_panel=_READ, help="Whether fields of tables are quoted.")
]
_Spans = Annotated[
    bool,
    typer.Option(
        "--spans", rich_help_panel=_READ, help="Rows bring spans (start, end, type): replace what they mark instead of placeholders."
    ),
]
_SpansField = Annotated[
    str | None, typer.Option("--spans-field", metavar="NAME", rich_help_panel=_READ, help="Field of the spans (default spans).")
]
_Placeholders = Annotated[
    str,
    typer.Option(
        "--placeholders",
        metavar="auto|FILE",
        rich_help_panel=_TAGS,
        help="auto learns the tags of the input; or a mapping that survey wrote.",
    ),
]
_Locale = Annotated[str, typer.Option("--locale", rich_help_panel=_CAST, help="Language and country of the texts, as in nl_NL.")]
_Keep = Annotated[
    float, typer.Option("--keep", min=0.0, max=1.0, rich_help_panel=_CAST, help="Markov: how likely the next mention keeps the surrogate.")
]


@surrogate_app.command("run", epilog=examples(*_RUN))
def run(
    source: _Input,
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="The folder to make: records.jsonl, mirror/, map.jsonl, report.json.")],
    text_field: _TextField = None,
    id_field: _IdField = None,
    file_format: _Format = None,
    encoding: _Encoding = None,
    header: _Header = True,
    delimiter: _Delimiter = None,
    quoting: _Quoting = "auto",
    max_unpacked: _MaxUnpacked = 4096,
    spans: _Spans = False,
    spans_field: _SpansField = None,
    placeholders: _Placeholders = "auto",
    on_unknown: Annotated[
        Literal["keep", "error", "generic"],
        typer.Option(
            "--on-unknown",
            rich_help_panel=_TAGS,
            help="What looks like a placeholder of no known meaning: keep and report it, stop, or a neutral value.",
        ),
    ] = "keep",
    locale: _Locale = "en_US",
    seed: Annotated[
        int, typer.Option("--seed", rich_help_panel=_CAST, help="Same seed and input, same bytes, for any number of workers.")
    ] = 7,
    scope: Annotated[
        Literal["document", "corpus"],
        typer.Option("--scope", rich_help_panel=_CAST, help="Whether numbered people and roles are the same ones in all documents."),
    ] = "document",
    strategy: Annotated[
        Literal["consistent", "per-mention", "markov"],
        typer.Option("--strategy", rich_help_panel=_CAST, help="Whether a person keeps one surrogate."),
    ] = "consistent",
    keep: _Keep = 0.5,
    groups: Annotated[
        Literal["exact", "weights", "cue"],
        typer.Option(
            "--groups",
            rich_help_panel=_CAST,
            help="People in equal groups of gender and UN region, by --weights, or with names of the texts' own country (cue).",
        ),
    ] = "exact",
    weights: Annotated[
        str,
        typer.Option(
            "--weights", metavar="NAME=N,…", rich_help_panel=_CAST, help="For --groups weights: female=2,Africa=3; others weigh 1."
        ),
    ] = "",
    english_only: Annotated[
        bool, typer.Option("--english-only", rich_help_panel=_CAST, help="Only names that are also in use in English-speaking countries.")
    ] = False,
    names: Annotated[
        Path | None, typer.Option("--names", metavar="FILE", rich_help_panel=_CAST, help="A names index that piiloom names build made.")
    ] = None,
    keep_weekdays: Annotated[bool, typer.Option("--keep-weekdays", rich_help_panel=_CAST, help="Known dates move by whole weeks.")] = False,
    values: Annotated[
        Literal["code", "llm"],
        typer.Option("--values", rich_help_panel=_MODEL, help="Who words organisations, courses, occupations and the like."),
    ] = "code",
    provider: Annotated[str | None, typer.Option("--provider", rich_help_panel=_MODEL, help="openai, anthropic or compatible.")] = None,
    model: Annotated[
        str | None, typer.Option("--model", rich_help_panel=_MODEL, help="The provider's model, as the provider spells it.")
    ] = None,
    base_url: Annotated[
        str | None, typer.Option("--base-url", metavar="URL", rich_help_panel=_MODEL, help="Where a compatible server listens.")
    ] = None,
    concurrency: Annotated[
        int, typer.Option("--concurrency", min=1, rich_help_panel=_MODEL, help="Calls in flight at once; never changes a value.")
    ] = 16,
    budget_usd: Annotated[
        float | None, typer.Option("--budget-usd", min=0.0, rich_help_panel=_MODEL, help="Stop asking when this much is spent.")
    ] = None,
    price: Annotated[
        str | None,
        typer.Option("--price", metavar="IN,OUT", rich_help_panel=_MODEL, help="USD per million tokens, for models we know no price of."),
    ] = None,
    unpriced: Annotated[
        bool, typer.Option("--unpriced", rich_help_panel=_MODEL, help="Go on although the model's price is unknown.")
    ] = False,
    store: Annotated[
        Path,
        typer.Option("--store", metavar="FILE", rich_help_panel=_MODEL, help="Where replies are kept, so that none is paid for twice."),
    ] = Path("outputs/surrogates.duckdb"),
    yes: Annotated[bool, typer.Option("--yes", rich_help_panel=_MODEL, help="Agree beforehand to send what leaves the machine.")] = False,
    leakage: Annotated[
        str,
        typer.Option(
            "--leakage",
            metavar="RATE,…",
            rich_help_panel=_WORK,
            help="Estimate for these miss rates how often a document leaks recognisably.",
        ),
    ] = "",
    scan: Annotated[
        bool, typer.Option("--scan/--no-scan", rich_help_panel=_WORK, help="Look for personal information that nobody put in.")
    ] = True,
    workers: Annotated[
        str, typer.Option("--workers", metavar="N|auto|ray", rich_help_panel=_WORK, help="Processes, or Ray for a cluster.")
    ] = "auto",
    vault: Annotated[
        Path | None,
        typer.Option(
            "--vault",
            metavar="FILE",
            rich_help_panel=_WORK,
            help="Also write what stood where, so that the run can be reversed. Keep it apart.",
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", rich_help_panel=_WORK, help="Replace a folder that an earlier run made.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Fill a redacted corpus with surrogates: one person for each role and number, groups in balance, every offset exact.

    DIR appears when everything is there; a run that is stopped leaves nothing.
    """
    from piiloom.surrogate_values import Asked
    from piiloom.surrogating import Reading, run_and_report

    reading = Reading(
        source,
        text_field or [],
        id_field,
        file_format,
        encoding,
        header,
        delimiter,
        quoting,
        max_unpacked,
        spans or bool(spans_field),
        spans_field,
    )
    run_and_report(
        reading,
        out,
        placeholders=placeholders,
        on_unknown=on_unknown,
        told={
            "locale": locale,
            "seed": seed,
            "scope": scope,
            "strategy": strategy,
            "keep": keep,
            "balance": groups,
            "english_only": english_only,
            "names": str(names) if names else None,
            "keep_weekdays": keep_weekdays,
        },
        asked=Asked(values, provider, model, base_url, concurrency, budget_usd, price, unpriced, store, yes),
        weights=weights,
        leakage=leakage,
        scan=scan,
        workers=workers,
        vault=vault,
        force=force,
        as_json=as_json,
    )


@surrogate_app.command("survey", epilog=examples(*_SURVEY))
def survey(
    source: _Input,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Write the mapping here, to be edited; on standard output when not given.")
    ] = None,
    text_field: _TextField = None,
    id_field: _IdField = None,
    file_format: _Format = None,
    encoding: _Encoding = None,
    header: _Header = True,
    delimiter: _Delimiter = None,
    quoting: _Quoting = "auto",
    max_unpacked: _MaxUnpacked = 4096,
    force: Annotated[bool, typer.Option("--force", help="Replace the file.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Learn the placeholders of a corpus: what each means, how sure that is, what is unknown, what is left alone."""
    from piiloom.surrogating import Reading, survey_and_report

    reading = Reading(source, text_field or [], id_field, file_format, encoding, header, delimiter, quoting, max_unpacked, False, None)
    survey_and_report(reading, out, force=force, as_json=as_json)


@surrogate_app.command("leakage", epilog=examples(*_LEAKAGE))
def leakage(
    source: _Input,
    miss: Annotated[
        str, typer.Option("--miss", metavar="RATE,…", help="Shares of mentions that de-identification misses.")
    ] = "0.001,0.005,0.01,0.02,0.05,0.1",
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Also write leakage.json and a plot (the plot needs the report extra).")
    ] = None,
    text_field: _TextField = None,
    id_field: _IdField = None,
    file_format: _Format = None,
    encoding: _Encoding = None,
    header: _Header = True,
    delimiter: _Delimiter = None,
    quoting: _Quoting = "auto",
    max_unpacked: _MaxUnpacked = 4096,
    spans: _Spans = False,
    spans_field: _SpansField = None,
    placeholders: _Placeholders = "auto",
    locale: _Locale = "en_US",
    keep: _Keep = 0.5,
    names: Annotated[Path | None, typer.Option("--names", metavar="FILE", help="A names index that piiloom names build made.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Estimate for a corpus how often its documents would leak recognisably, under each strategy, and what a known pool tells.

    The assumptions stand in docs/surrogates.md.
    """
    from piiloom.surrogate_leakage import estimate_and_report
    from piiloom.surrogating import Reading

    reading = Reading(
        source,
        text_field or [],
        id_field,
        file_format,
        encoding,
        header,
        delimiter,
        quoting,
        max_unpacked,
        spans or bool(spans_field),
        spans_field,
    )
    estimate_and_report(reading, miss, out, placeholders=placeholders, locale=locale, keep=keep, names=names, as_json=as_json)


@surrogate_app.command("check", epilog=examples(*_CHECK))
def check(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="What run made.")],
    source: Annotated[Path, typer.Argument(metavar="INPUT", help="What it was made of.")],
    as_json: JsonOption = False,
) -> None:
    """Prove that nothing but the placeholders changed: the input is read again and compared code point by code point."""
    from piiloom.surrogating import check_and_report

    check_and_report(folder, source, as_json=as_json)
