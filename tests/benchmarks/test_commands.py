"""The commands of benchmarks/: each tells by an example how it is run, and says what is wrong with what it was given."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from tests.forked import Forked
from tests.longer import explored

ROOT = Path(__file__).parents[2]
COMMANDS = sorted(path for path in (ROOT / "benchmarks").glob("*.py") if '__name__ == "__main__"' in path.read_text(encoding="utf-8"))


def run(name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    process = Forked([sys.executable, "-m", f"benchmarks.{name}", *arguments])
    out, err = process.communicate()
    return subprocess.CompletedProcess(process.args, process.wait(), out, err)


@pytest.mark.parametrize("path", COMMANDS, ids=lambda path: path.stem)
def test_each_command_shows_an_example_in_its_help(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    doc = ast.get_docstring(ast.parse(text)) or ""
    assert f"python benchmarks/{path.name}" in doc or f"python -m benchmarks.{path.stem}" in doc
    assert "arguments(__doc__" in text or "description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter" in text


@pytest.mark.long
@pytest.mark.parametrize("name", ["commits", "surrogates"])
def test_help_is_printed_as_it_is_written(name: str) -> None:
    done = run(name, "--help")
    assert done.returncode == 0, done.stderr
    assert f"    python -m benchmarks.{name}" in done.stdout
    assert "--out" in done.stdout


@pytest.mark.long
def test_a_peer_that_is_not_installed_is_told_and_ours_alone_needs_none(tmp_path: Path) -> None:
    done = run("near_duplicates", "--peers", str(tmp_path))
    assert done.returncode == 1
    assert "is not installed" in done.stderr
    assert f"python -m benchmarks.near_duplicates --make-peers --peers {tmp_path}" in done.stderr
    done = run("near_duplicates", "--peers", str(tmp_path), "--only", "ours", "--texts", "20")
    assert done.returncode == 0, done.stderr
    assert "5 reworded copies among 20 texts" in done.stdout


# The examples of help texts and README, with small sizes; what a peer of theirs needs is said where it is not installed.
EXAMPLES = (
    "detection_speed --locale pl_PL --documents 8 --repeats 1",
    "bootstrap_speed --documents 300 --rounds 10 --turns 1",
    "limits_ablation --kinds noisy --seeds 1 --only all",
    "catalogue_coverage --locale pl_PL",
    "surrogates --only command --documents 20 --repeats 1",
    "surrogates --trials cores --documents 40 --repeats 1",
    "names_index",
    "detection.marker_survival --answers 100 --seed 7",
    "detection.phase_gains --documents 2 --locale pl_PL --detector simulated --missed 0.1",
    "detection.presidio_adapter --texts 5 --rounds 1",
)


@pytest.mark.long
@pytest.mark.parametrize("words", EXAMPLES)
def test_an_example_ends_with_figures_or_says_what_is_missing(words: str) -> None:
    done = run(*words.split())
    assert "Traceback" not in done.stderr, done.stderr
    assert (done.stdout if done.returncode == 0 else done.stderr).strip()


def test_a_commit_that_is_not_there_is_told() -> None:
    command = [
        sys.executable,
        "-m",
        "benchmarks.commits",
        "no-such-commit",
    ]  # no fork: nothing else in the quick tests needs what forks have
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "error: there is no commit no-such-commit" in done.stderr


@explored
@pytest.mark.long
def test_two_commits_take_turns() -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    done = run("commits", "HEAD", ".", "--repeats", "1", "--records", "20", "--calls", "20", "--documents", "20")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("after, working tree ÷ before, ") == 3
    listed = subprocess.run(["git", "worktree", "list"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert "piiloom-bench-" not in listed.stdout
