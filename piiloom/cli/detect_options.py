"""The options of ``piiloom detect``, declared once. Imports nothing heavy: help must be quick."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

import typer

from piiloom.cli.model_options import (
    CALLS,
    MODEL,
    BaseUrlOption,
    BatchOption,
    BudgetOption,
    ConcurrencyOption,
    ModelOption,
    PriceOption,
    PromptsOption,
    RpmOption,
    TimeoutOption,
    TpmOption,
    UnpricedOption,
)
from piiloom.cli.options import JsonOption
from piiloom.detection.families import FAMILIES
from piiloom.foundation.errors import UsageError

_READING: Final = "What is read"
_FINDING: Final = "What is found"
_WRITING: Final = "What is written"
_WORK: Final = "Running"
_LOCAL: Final = "Models on this machine, and services"
DEFAULT_REPLIES: Final = Path("outputs/detection.duckdb")
FILES: Final = "files"
ANNOTATION: Final = "annotation"


@dataclass(frozen=True, slots=True, kw_only=True)
class DetectCommand:
    """What the command line asks for; each field is an option (``source`` the argument)."""

    source: Annotated[
        Path | None,
        typer.Argument(
            metavar="INPUT",
            help="A .txt, .jsonl, .json, .csv, .tsv or .parquet file, one that piiloom import reads, or a folder of .txt files. "
            "With --to annotation none: the records of --store are read.",
            show_default=False,
        ),
    ] = None
    out: Annotated[Path | None, typer.Option("--out", metavar="F", help="A .jsonl file for native rows, or a folder for any --format.")] = (
        None
    )
    to: Annotated[
        str,
        typer.Option(
            "--to",
            metavar="files|annotation",
            help="Where to: files at --out, or suggestions for annotators, in the workspace --store.",
        ),
    ] = FILES
    detector: Annotated[str, typer.Option("--detector", metavar="NAME", help=f"Who looks: {', '.join(FAMILIES)}.")] = "patterns"
    release: Annotated[
        str | None,
        typer.Option(
            "--release",
            metavar="NAME",
            rich_help_panel=_READING,
            help="With --to annotation: the records of this release, instead of those that wait (all, if nobody has made a work list yet).",
        ),
    ] = None
    record: Annotated[
        list[str] | None,
        typer.Option("--record", metavar="ID", rich_help_panel=_READING, help="With --to annotation: this record only; repeatable."),
    ] = None
    locale: Annotated[
        str | None,
        typer.Option("--locale", metavar="CODE", rich_help_panel=_READING, help="The locale of all texts, or of rows that name none."),
    ] = None
    locale_field: Annotated[
        str | None,
        typer.Option("--locale-field", metavar="NAME", rich_help_panel=_READING, help="The field of a row's locale (else locale)."),
    ] = None
    text_field: Annotated[
        str | None,
        typer.Option("--text-field", metavar="NAME", rich_help_panel=_READING, help="The field of the text (else text or context)."),
    ] = None
    id_field: Annotated[
        str | None, typer.Option("--id-field", metavar="NAME", rich_help_panel=_READING, help="The field of a row's id (else id).")
    ] = None
    question_field: Annotated[
        str | None,
        typer.Option("--question-field", metavar="NAME", rich_help_panel=_READING, help="The field of the question (else question)."),
    ] = None
    input_format: Annotated[
        str | None,
        typer.Option(
            "--input-format", metavar="FORMAT", rich_help_panel=_READING, help="The format of INPUT, if its suffix does not tell."
        ),
    ] = None
    lines: Annotated[bool, typer.Option("--lines", rich_help_panel=_READING, help="Each line of a text file is a document.")] = False
    threshold: Annotated[
        float | None,
        typer.Option(
            "--threshold",
            metavar="P",
            rich_help_panel=_FINDING,
            help="Tell only spans with at least this score, 0 to 1 (default: 0.5; 0 for detectors that settle it themselves).",
        ),
    ] = None
    types: Annotated[
        list[Path] | None,
        typer.Option(
            "--types",
            metavar="YAML",
            rich_help_panel=_FINDING,
            help="Types of your own, in the file that generate takes, or entities; of presidio: recognizers; repeatable.",
        ),
    ] = None
    unconfirmed: Annotated[
        bool, typer.Option("--unconfirmed", rich_help_panel=_FINDING, help="Look also for types whose format no source confirmed.")
    ] = False
    also: Annotated[
        list[str] | None,
        typer.Option(
            "--also",
            metavar="ID",
            rich_help_panel=_FINDING,
            help="Look also for this entity, which is looked for on request only (event_date, money_amount …); repeatable.",
        ),
    ] = None
    engine: Annotated[
        str,
        typer.Option("--engine", metavar="NAME", rich_help_panel=_FINDING, help="What matches patterns: auto, hyperscan, re2 or regex."),
    ] = "auto"
    phases: Annotated[
        int, typer.Option("--phases", metavar="N", rich_help_panel=_FINDING, help="How many of the three phases a hybrid detector takes.")
    ] = 3
    model_path: Annotated[
        str | None,
        typer.Option(
            "--model-path", metavar="PATH", rich_help_panel=_LOCAL, help="The folder of a model on this machine (of presidio: or its name)."
        ),
    ] = None
    label_map: Annotated[
        Path | None,
        typer.Option("--label-map", metavar="YAML", rich_help_panel=_LOCAL, help="Which type a label of the model or service is."),
    ] = None
    device: Annotated[
        str | None, typer.Option("--device", metavar="NAME", rich_help_panel=_LOCAL, help="Where a local model runs: auto, cpu or cuda.")
    ] = None
    batch_size: Annotated[
        int | None, typer.Option("--batch-size", min=1, metavar="N", rich_help_panel=_LOCAL, help="Texts that a local model reads at once.")
    ] = None
    endpoint: Annotated[
        str | None, typer.Option("--endpoint", metavar="URL", rich_help_panel=_LOCAL, help="Where azure or aws is asked.")
    ] = None
    region: Annotated[str | None, typer.Option("--region", metavar="NAME", rich_help_panel=_LOCAL, help="The region of aws.")] = None
    examples: Annotated[
        Path | None,
        typer.Option("--examples", metavar="FILE", rich_help_panel=MODEL, help="Native rows from which the model is shown some (markers)."),
    ] = None
    shots: Annotated[
        int | None, typer.Option("--shots", min=0, metavar="N", rich_help_panel=MODEL, help="How many of the examples it is shown.")
    ] = None
    verify: Annotated[
        int | None,
        typer.Option(
            "--verify", metavar="1|2", rich_help_panel=MODEL, help="Have a model judge each span, without (1) or with a reasoning (2)."
        ),
    ] = None
    base: Annotated[
        Path | None, typer.Option("--base", metavar="DIR", rich_help_panel=MODEL, help="A language model on this machine, to be asked.")
    ] = None
    adapter: Annotated[
        Path | None,
        typer.Option("--adapter", metavar="DIR", rich_help_panel=MODEL, help="What piiloom train lora has trained for --base."),
    ] = None
    file_format: Annotated[
        str | None,
        typer.Option("--format", metavar="FORMAT", rich_help_panel=_WRITING, help="The format of the folder, as of piiloom export."),
    ] = None
    tokenizer: Annotated[
        str, typer.Option("--tokenizer", metavar="NAME", rich_help_panel=_WRITING, help="How formats with tokens cut the texts.")
    ] = "whitespace"
    mask: Annotated[
        str | None,
        typer.Option(
            "--mask",
            metavar="HOW",
            rich_help_panel=_WRITING,
            help="Write masked texts, too: type (<NAME>), subtype (<IBAN>), numbered ([NAME_1]) or char (same length).",
        ),
    ] = None
    mask_char: Annotated[
        str | None, typer.Option("--mask-char", metavar="C", rich_help_panel=_WRITING, help="The character of --mask char (else █).")
    ] = None
    force: Annotated[
        bool, typer.Option("--force", rich_help_panel=_WRITING, help="Replace what is there, and begin an unfinished run anew.")
    ] = False
    provider: Annotated[
        str | None, typer.Option("--provider", rich_help_panel=MODEL, help="Whom a detector asks: openai, anthropic or compatible.")
    ] = None
    model: ModelOption = None
    base_url: BaseUrlOption = None
    store: Annotated[
        Path,
        typer.Option(
            "--store",
            metavar="FILE",
            rich_help_panel=CALLS,
            help="Where replies are kept, so that none is paid for twice. With --to annotation: the workspace, which is read, gets the "
            "suggestions, and keeps the replies, too (else outputs/piiloom.duckdb).",
        ),
    ] = DEFAULT_REPLIES
    budget_usd: BudgetOption = None
    price: PriceOption = None
    unpriced: UnpricedOption = False
    concurrency: ConcurrencyOption = 16
    rpm: RpmOption = None
    tpm: TpmOption = None
    timeout_s: TimeoutOption = 60.0
    attempts: Annotated[
        int, typer.Option("--max-attempts", min=1, rich_help_panel=CALLS, help="Tries for one usable reply before rules decide.")
    ] = 3
    batch: BatchOption = False
    prompts: PromptsOption = None
    yes: Annotated[
        bool, typer.Option("--yes", rich_help_panel=CALLS, help="Confirm in advance that the texts may be sent to the provider.")
    ] = False
    workers: Annotated[
        str, typer.Option("--workers", metavar="N|auto", rich_help_panel=_WORK, help="Processes; the output is the same for any number.")
    ] = "1"
    resume: Annotated[
        bool, typer.Option("--resume", rich_help_panel=_WORK, help="Go on with what a stopped or killed run has done, if there is one.")
    ] = False
    as_json: JsonOption = False

    @property
    def read_from(self) -> Path:
        """The input; raises ``UsageError`` if none is named."""
        if self.source is None:
            raise UsageError("no INPUT is named", remedy="Name a file or a folder; or add --to annotation to look through a store")
        return self.source

    @property
    def written_to(self) -> Path:
        """The output; raises ``UsageError`` if none is named."""
        if self.out is None:
            raise UsageError("nothing says where to write", where="--out", remedy="Name a .jsonl file, or a folder")
        return self.out
