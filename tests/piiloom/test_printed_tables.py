"""Tables in a pipe and in a narrow terminal: no figure, path, id or command is cut."""

from __future__ import annotations

import io
import json

import pytest
from rich.console import Console
from rich.table import Table

from piiloom.cli.terminal import say_table

DEEP = "a-folder-with-a-name-that-is-longer-than-a-narrow-terminal/and-one-more-below-it-that-is-long-as-well"
ROW = {
    "id": "x1",
    "context": "Anna works at Initech.",
    "spans": [{"start": 0, "end": 4, "text": "Anna", "type": "name", "relevance": None}],
}


@pytest.mark.long
def test_no_table_depends_on_the_width_of_a_pipe(cli, released, tmp_path, monkeypatch):
    """Each command prints the same at 40 columns as at 200, with the long word that belongs into its output."""
    folder = tmp_path / DEEP
    folder.mkdir(parents=True)
    gold = folder / f"gold-{'x' * 90}.jsonl"
    gold.write_text(json.dumps(ROW) + "\n")
    (tmp_path / "tags.txt").write_text("[PERSON_1] called from [AN_UNKNOWN_TAG_THAT_IS_LONGER_THAN_ANY_COLUMN_SHOULD_BE].")
    store = ("--store", released)
    commands = {
        ("generate", "--provider", "openai", "--samples", 4000, "--estimate", "--store", tmp_path / "none.duckdb"): "$2.34–$15.27",
        ("export", "--release", "v1", "--format", "native", "--out", folder / "out", "--force", *store): str(
            folder / "out" / "train.jsonl"
        ),
        ("import", gold, "--input-format", "native", "--store", tmp_path / "new.duckdb", "--on-conflict", "skip"): gold.name,
        ("evaluate", gold, gold, "--scheme", "nervaluate", "--scheme", "exact"): "1.0000",
        ("compare", gold, f"a-system-with-a-name-that-is-{'long-' * 12}indeed={gold}"): f"{'long-' * 12}indeed",
        ("surrogate", "survey", tmp_path / "tags.txt"): "AN_UNKNOWN_TAG_THAT_IS_LONGER_THAN_ANY_COLUMN_SHOULD_BE",
        ("report", gold): "records",
        ("entities", "list", "--locale", "pl_PL"): "pl_pesel",
        ("doctor", *store): str(released),
        ("runs", "list", *store): "health+occupation",
        ("runs", "show", "last", *store): "composer",
        ("records", "list", "--limit", 2, *store): "health+occupation",
        ("stages", "list", *store): "story",
    }
    for words, expected in commands.items():
        outputs = set()
        for columns in ("40", "80", "200"):
            monkeypatch.setenv("COLUMNS", columns)
            outcome = cli(*words)
            assert outcome.code == 0, (words, outcome.err)
            assert expected in outcome.out, (words, columns)
            outputs.add(outcome.out)
        assert len(outputs) == 1 or words[0] == "import", words


def test_a_narrow_terminal_gets_whole_words():
    path = f"/home/someone/{DEEP}/train.jsonl"
    for terminal, width in ((False, 40), (False, 80), (True, 40), (True, 80)):
        table = Table(title=f"import of {path}")
        for name in ("what", "USD", "next"):
            table.add_column(name)
        table.add_row(path, "$1.50–$11.20", "piiloom release --name NAME --store c.duckdb")
        table.add_row("a sentence of many words, which may be broken at any blank", "1,234,567", "r0001-c8db6f6f")
        out = io.StringIO()
        to = Console(file=out, width=width, force_terminal=terminal, color_system=None)
        say_table(table, to)
        shown = out.getvalue()
        assert to.width == width
        assert "…" not in shown
        words = {*f"{path} $1.50–$11.20 1,234,567 r0001-c8db6f6f --name c.duckdb sentence".split()}
        assert words <= {*shown.replace("│", " ").split()}
        assert ("piiloom release --name NAME --store c.duckdb" in shown) >= (not terminal)
