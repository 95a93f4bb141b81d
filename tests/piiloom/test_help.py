"""Help: quick, and nothing undocumented."""

from __future__ import annotations

import subprocess
import sys
from ast import literal_eval

import pytest
import typer

from piiloom.cli.main import app_of
from tests.longer import case_by_case

HEAVY = (
    "duckdb",
    "openai",
    "anthropic",
    "pydantic",
    "faker",
    "numpy",
    "jinja2",
    "yaml",
    "rapidfuzz",
    "phonenumbers",
    "matplotlib",
    "sacrebleu",
    "streamlit",
    "argon2",
)


def _commands(group, path=()):
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from _commands(command, (*path, name))
        else:
            yield " ".join((*path, name)), command


ROOT = typer.main.get_command(app_of())
COMMANDS = dict(_commands(ROOT))


def test_all_commands_are_there():
    assert set(COMMANDS) == {
        "generate",
        "stages list",
        "stages run",
        "runs list",
        "runs show",
        "runs delete",
        "records list",
        "records show",
        "records search",
        "releases list",
        "releases show",
        "releases delete",
        "releases diff",
        "train openai",
        "trace",
        "train encoder",
        "train spacy",
        "train lora",
        "train verifier-data",
        "cost",
        "rejects",
        "journal show",
        "journal export",
        "journal purge",
        "journal vacuum",
        "batch list",
        "batch cancel",
        "import",
        "surrogate run",
        "surrogate survey",
        "surrogate leakage",
        "surrogate check",
        "surrogate restore",
        "names build",
        "names classify",
        "names top",
        "stories check",
        "stories show",
        "annotate",
        "annotators add",
        "annotators list",
        "annotators role",
        "annotators password",
        "annotators deactivate",
        "annotators reactivate",
        "release",
        "export",
        "probe",
        "compare",
        "reidentify",
        "utility",
        "evaluate",
        "report",
        "detect",
        "locales list",
        "types list",
        "types new",
        "entities list",
        "entities show",
        "entities test",
        "entities propose",
        "benchmark make",
        "benchmark show",
        "benchmark write",
        "doctor",
    }


@case_by_case("name", COMMANDS)
def test_command_and_options_are_documented(name):
    command = COMMANDS[name]
    assert command.help
    assert "Examples:" in command.epilog
    for parameter in command.params:
        assert getattr(parameter, "help", None), f"{name}: {parameter.name} has no help"
        assert len(parameter.help) > 10


@case_by_case("name", COMMANDS)
def test_examples_use_options_that_exist(name):
    root = name.split()[0]
    for line in COMMANDS[name].epilog.partition("Examples:\n")[2].splitlines():
        words = line.split()
        assert words[:2] == ["piiloom", root]
        command = COMMANDS[" ".join(words[1:3]) if hasattr(ROOT.commands[root], "commands") else root]
        known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
        assert {word for word in words if word.startswith("--")} <= known


@pytest.mark.parametrize("words", [["--help"], ["-h"], ["generate", "--help"], ["stages", "run", "--help"]])
def test_help_is_printed(cli, words):
    outcome = cli(*words)
    assert (outcome.code, outcome.err) == (0, "")
    assert "Usage:" in outcome.out
    assert "Examples:" in outcome.out


def _imported_after(code, heavy=HEAVY):
    watched = f"import sys\n{code}\nprint([name for name in {heavy!r} if name in sys.modules], file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", watched], capture_output=True, text=True, check=True)
    return done.stderr.strip()


def test_the_entry_point_and_its_help_import_nothing_heavy():
    assert _imported_after("from piiloom.cli.main import run\nassert run(['--help']) == 0") == "[]"


def test_the_help_of_a_command_imports_nothing_heavy():
    # Typer itself checks the values of options with pydantic, and the settings of a run name kinds of text that a YAML file lists.
    loaded = _imported_after("from piiloom.cli.main import run\nassert run(['generate', '--help']) == 0")
    assert set(literal_eval(loaded)) <= {"pydantic", "yaml"}


def test_a_command_that_reads_a_store_loads_no_stages(empty_store):
    code = f"from piiloom.cli.main import run\nassert run(['runs', 'list', '--store', {str(empty_store)!r}]) == 0"
    assert _imported_after(code, ("piiloom.generation.stage", "piiloom.generation.settings.configuration", "numpy")) == "[]"


def test_of_the_commands_only_the_one_asked_for_is_loaded():
    others = ("piiloom.cli.records", "piiloom.cli.train", "piiloom.cli.generate")
    assert _imported_after("from piiloom.cli.main import run\nassert run(['surrogate', 'check', '--help']) == 0", others) == "[]"


@pytest.mark.long
def test_a_run_of_surrogates_loads_no_more_than_it_needs(tmp_path):
    (tmp_path / "a.txt").write_text("Dear [NAME], the meeting in [CITY] is on [DATE].")
    words = ["surrogate", "run", str(tmp_path / "a.txt"), "--out", str(tmp_path / "out"), "--workers", "1"]
    heavy = ("numpy", "regex", "phonenumbers", "faker", "rich.progress", "piiloom.pii_values.heritage", "piiloom.corpus.record")
    assert _imported_after(f"from piiloom.cli.main import run\nassert run({words!r}) == 0", heavy) == "[]"


def test_version(cli):
    import piiloom

    assert cli("--version").out == f"piiloom {piiloom.__version__}\n"


def test_python_dash_m_is_the_same_command():
    done = subprocess.run([sys.executable, "-m", "piiloom", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("piiloom ")


def test_a_line_without_a_command_shows_the_help_and_is_a_usage_error(cli):
    outcome = cli()
    assert outcome.code == 2
    assert "Usage:" in outcome.out + outcome.err
