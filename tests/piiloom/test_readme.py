"""The README is true: its Python runs, its record is exact, its commands and options exist."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest
import typer

import piiloom
from piiloom.cli.main import app_of

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
DOCS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), ROOT / "CONTRIBUTING.md"]


def blocks(kind):
    return re.findall(rf"```{kind}\n(.*?)```", README, re.DOTALL)


@pytest.mark.long
def test_the_python_of_the_readme_runs_as_it_stands(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (code,) = blocks("python")
    exec(compile(code, "README.md", "exec"), {})  # noqa: S102 - our own README
    printed = capsys.readouterr().out
    exec(compile(code, "README.md", "exec"), {})  # noqa: S102
    assert capsys.readouterr().out == printed
    assert printed.startswith("100 records;")
    assert (tmp_path / "outputs" / "first" / "release.json").exists()
    assert printed.count("'high'") >= 3


@pytest.mark.long
def test_the_python_of_the_guide_runs_twice(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "python.md").read_text(encoding="utf-8"), re.DOTALL)
    for _ in range(2):
        exec(compile(code, "python.md", "exec"), {})  # noqa: S102 - our own guide
        assert capsys.readouterr().out.startswith("finished 60 48 first\n13 topic\n")


def test_the_guide_to_python_tells_of_every_function():
    guide = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    functions = [name for name in piiloom.__all__ if name.islower() and not name.startswith("_")]
    assert [name for name in functions if f"| `{name}(" not in guide] == []


def test_after_make_demo_it_is_told_how_to_call_piiloom():
    recipe = subprocess.run(["make", "--no-print-directory", "-n", "demo"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    said = recipe.strip().splitlines()[-1]
    assert ".venv/bin/piiloom --help" in said
    assert ". .venv/bin/activate" in said
    assert ". .venv/bin/activate" in README


def test_the_record_of_the_readme_is_exact():
    (example,) = blocks("json")
    record = json.loads(example)
    for span in record["spans"]:
        assert record["context"][span["start"] : span["end"]] == span["text"]


@pytest.mark.parametrize("path", DOCS, ids=lambda path: path.name)
def test_linked_files_exist(path):
    links = re.findall(r"\]\(([^)#:]+)\)", path.read_text(encoding="utf-8"))
    missing = [link for link in links if not (path.parent / link).exists()]
    assert missing == []


def _commands(group, path=()):
    for name, command in group.commands.items():
        yield from _commands(command, (*path, name)) if hasattr(command, "commands") else [" ".join((*path, name))]


COMMANDS = sorted(_commands(typer.main.get_command(app_of())))


def test_every_command_is_documented():
    text = "\n".join(path.read_text(encoding="utf-8") for path in DOCS)
    assert [command for command in COMMANDS if f"piiloom {command}" not in text] == []


@pytest.mark.long
def test_every_option_that_the_docs_use_exists(cli):
    used = set()
    for path in DOCS:
        for command, rest in re.findall(rf"piiloom ({'|'.join(COMMANDS)})\b((?:(?!piiloom )[^`\n])*)", path.read_text(encoding="utf-8")):
            # In quotes, compare is told options of detect: --detector 'ours=encoder --model-path DIR'.
            used |= {(command, option) for option in re.findall(r"--[a-z-]+", re.sub(r"'[^']*'", "", rest))}
            used |= {("detect", option) for option in re.findall(r"--[a-z-]+", " ".join(re.findall(r"--detector '([^']*)'", rest)))}
    assert ("generate", "--resume") in used
    everywhere = cli("--help").out
    for command in {command for command, _ in used}:
        told = everywhere + cli(*command.split(), "--help").out
        if "--help-all" in told:
            told += cli(*command.split(), "--help-all").out
        assert [option for one, option in sorted(used) if one == command and option not in told] == [], command
