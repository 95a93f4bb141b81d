"""``piiloom reidentify``: whom an attacker could tell by what masking leaves."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from piiloom.cli.options import JsonOption
from piiloom.cli.terminal import examples

EPILOG = examples(
    "piiloom reidentify --release v1",
    "piiloom reidentify train.jsonl --masked-by predictions.jsonl --out outputs/attack",
    "piiloom reidentify published.jsonl --format capid --types name,location,age",
    "piiloom reidentify letters/records.jsonl --vault vault.jsonl",
    "piiloom reidentify outputs/v1-masked/train.jsonl --mask surrogates --json",
)

FormatOption = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="FORMAT",
        help="How FILE is written: masked, or any format that piiloom import reads; when not given, the first row tells.",
    ),
]
MaskOption = Annotated[
    list[str] | None,
    typer.Option(
        "--mask",
        metavar="POLICY",
        help="What is masked: none, relevance-aware (all but values of high relevance), surrogates (all values are replaced), all, or "
        "predictions (with --masked-by). May be repeated; without it, all that the data allow.",
    ),
]


def reidentify(
    file: Annotated[Path | None, typer.Argument(metavar="[FILE]", help="The annotated corpus, with its true values.")] = None,
    store: Annotated[
        Path | None, typer.Option("--store", metavar="FILE", help="The DuckDB file of the workspace (default outputs/piiloom.duckdb).")
    ] = None,
    release: Annotated[str | None, typer.Option("--release", metavar="NAME", help="Attack this release of the store, not a FILE.")] = None,
    file_format: FormatOption = None,
    masks: MaskOption = None,
    masked_by: Annotated[
        Path | None,
        typer.Option("--masked-by", metavar="PRED", help="What a detector found in the same texts: all else of FILE's values is left."),
    ] = None,
    found_format: Annotated[
        str | None, typer.Option("--masked-by-format", metavar="FORMAT", help="How PRED is written; without it, as --format.")
    ] = None,
    vault: Annotated[
        Path | None,
        typer.Option(
            "--vault", metavar="FILE", help="FILE holds surrogates (records.jsonl of piiloom surrogate run); this is their vault."
        ),
    ] = None,
    types: Annotated[
        str | None, typer.Option("--types", metavar="TYPE,...", help="The types that the attacker looks at; all when not given.")
    ] = None,
    name_types: Annotated[
        str, typer.Option("--name-types", metavar="TYPE,...", help="The types whose surrogates are compared with originals.")
    ] = "name",
    rare: Annotated[int, typer.Option(metavar="N", help="Documents in which the same value is left are linked, if at most N have it.")] = 3,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write reidentification.json and .md and a plot to this folder, new or empty.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Write into a folder that is not empty.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Attack a corpus by fixed rules, and say how many of its documents remain unique.

    The attacker knows all annotated values of all documents, reads what masking left in one, and counts the documents that fit (k). He
    knows nothing of the world and reads nothing that is not annotated: compare, and take no share for a person's risk.
    docs/reidentification.md has his rules.
    """
    from piiloom.cli.reidentifying import Target, attack_and_print

    target = Target(
        file=file,
        store=store,
        release=release,
        file_format=file_format,
        masked_by=masked_by,
        found_format=found_format,
        vault=vault,
        masks=tuple(masks or ()),
    )
    attack_and_print(target, types=types, name_types=name_types, rare=rare, out=out, force=force, as_json=as_json)
