"""The help of ``piiloom surrogate``: every option with words, examples that hold, and quick."""

from __future__ import annotations

import subprocess
import sys

import pytest
import typer

from piiloom.cli.surrogate import surrogate_app
from tests.longer import mostly_long
from tests.piiloom.surrogate_runs import _own_names

__all__ = ["_own_names"]

COMMANDS = typer.main.get_command(surrogate_app).commands


@pytest.mark.parametrize("name", COMMANDS)
def test_help_documents_every_option_with_examples(cli, name):
    command = COMMANDS[name]
    assert command.help
    known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
    for parameter in command.params:
        assert len(getattr(parameter, "help", None) or "") > 10, parameter.name
    examples = command.epilog.splitlines()[1:]
    assert examples
    for line in examples:
        assert line.split()[:3] == ["piiloom", "surrogate", name]
        assert {word for word in line.split() if word.startswith("--")} <= known
    outcome = cli("surrogate", name, "--help")
    assert (outcome.code, outcome.err) == (0, "")
    assert "Examples:" in outcome.out


@pytest.mark.long
@pytest.mark.parametrize("words", mostly_long([[], ["run"], ["survey"], ["leakage"], ["check"]], quick=[["run"]]))
def test_help_imports_nothing_that_works(words):
    code = f"import sys\nfrom piiloom.cli.main import run\nassert run({['surrogate', *words, '--help']!r}) == 0\n"
    code += (
        "heavy = {'piiloom.surrogates.engine', 'piiloom.surrogates.running', 'piiloom.pii_values', 'piiloom.corpus.record',"
        " 'piiloom.providers.factory', 'numpy', 'yaml', 'faker', 'regex', 'duckdb', 'pyarrow', 'stdnum'}\n"
    )
    code += "print(sorted(heavy & set(sys.modules)), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"
