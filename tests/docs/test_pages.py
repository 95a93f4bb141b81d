"""Each command block of README and docs/ runs as it stands, from a bare clone, and prints what the page shows.

Models are played by a loopback server; nothing lies beside the clone. ``PIILOOM_UPDATE_DOCS=1`` puts the output of today in place of
what a page shows, where it shows all of it.
"""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.detection.tiny_encoder import make_tiny_base
from tests.docs.pages import PAGES, ROOT, Block, Command, agrees, blocks_of, renewed
from tests.fakes.llm_batches import BatchPlan
from tests.fakes.llm_server import LLMServer
from tests.fakes.openai_tuning_http import TuningServer
from tests.forked import Forked
from tests.generation.case_author import CaseAuthor
from tests.one_at_a_time import alone_with_ray, made_once
from tests.piiloom.struck import Warm

UPDATE = bool(os.environ.get("PIILOOM_UPDATE_DOCS"))
LONGEST_S = 400
KEYS = {"OPENAI_API_KEY": "sk-LOOPBACK-0", "ANTHROPIC_API_KEY": "sk-LOOPBACK-1"}
RUNNABLE = ("console", "python")
TRAINS = "train: "
# A block that shows a file, a reply or a picture of the screen.
SHOWN = ("", "json", "sql", "toml", "yaml")
# The lines that a run prints every few seconds: there are some on a slow machine only.
_PROGRESS = re.compile(r"^r\d{4}-[0-9a-f]{8}: (?:preparing: |(?:[\d,]+/[\d,]+|starting) · ).*\n?", re.MULTILINE)


def _words_of(text: str) -> list[str]:
    """The words behind ``piiloom`` of a command line that needs no shell; of any other, none."""
    text = text.removeprefix(".venv/bin/")
    return [] if set(text) & set("|&;<>$`*\\\n") or not text.startswith("piiloom ") else shlex.split(text, comments=True)[1:]


@dataclass
class Session:
    """A shell in the clone, as somebody who follows a page has it: what a command exports, and where it goes, holds for the next one."""

    clone: Path
    environment: dict[str, str]
    server: LLMServer
    warm: Warm | None
    faults: list[str] = field(default_factory=list)
    printed: dict[int, str] = field(default_factory=dict)

    @property
    def folder(self) -> str:
        """Where the shell stands."""
        return self.environment.get("PWD", str(self.clone))

    def command(self, page: Path, command: Command, *, serves: bool = False) -> None:
        """Run *command*; what is wrong with it is noted, so that one run of a page shows all of it."""
        text = command.text.replace("=…", "=sk-LOOPBACK-2").replace("http://127.0.0.1:8000/v1", self.server.openai_url)
        code, out, err = self._serve(text, command.shown) if serves else self._run(text)
        refused = command.shown.startswith(("error: ", '{\n  "error"'))
        shown = command.shown.replace(":8501", ":…") if serves else command.shown
        where = f"{page.name}:{command.line}: $ {command.text}"
        if (code != 0) != refused:
            self.faults.append(f"{where}\n  ended with {code}\n{out}{err}")
        elif shown and not any(agrees(shown, printed) for printed in (out, err, out + err, _PROGRESS.sub("", err))):
            self.faults.append(f"{where}\n  printed\n{out}{err}\n  but the page shows\n{command.shown}")
            self.printed[command.line] = out.rstrip("\n") or err.rstrip("\n")

    def _run(self, text: str) -> tuple[int, str, str]:
        """The exit code and both outputs of *text*, whose exports are kept."""
        if self.warm is not None and (words := _words_of(text)):
            done = self.warm.learn(*words, within=(self.folder, self.environment), longest_s=LONGEST_S)
            return done.code, done.out, done.err
        kept = self.clone.parent / "environment"
        script = f'{text}\ncode=$?\nenv -0 > "{kept}"\nexit $code'
        done = subprocess.run(
            ["bash", "-c", script], cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=LONGEST_S, check=False
        )
        self.environment = dict(entry.split("=", 1) for entry in kept.read_text(encoding="utf-8").split("\0") if "=" in entry)
        return done.returncode, done.stdout, done.stderr

    def _serve(self, text: str, shown: str) -> tuple[int, str, str]:
        """The same for a command that serves: at any free port, and interrupted, as by Ctrl-C, when it has printed what is *shown*."""
        how = {"cwd": self.folder, "env": self.environment}
        if words := _words_of(text):
            server = Forked([sys.executable, "-m", "piiloom", *words, "--port", "0"], **how)
        else:
            at_any = text.replace(" -- ", " --server.port 0 -- ") if text.startswith("streamlit run ") else f"{text} --port 0"
            server = subprocess.Popen(["bash", "-c", f"exec {at_any}"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **how)
        with server:
            lines = [server.stdout.readline() for _ in shown.splitlines()]
            time.sleep(0.5)
            server.send_signal(signal.SIGINT)
            out, err = server.communicate(timeout=60)
        # A server that is interrupted as it was asked to be has done its work.
        return 0 if server.returncode in {0, 1, 130} and "Traceback" not in err else server.returncode, "".join(lines), out + err

    def python(self, page: Path, block: Block) -> None:
        """Run a Python block in the clone."""
        process = Forked([sys.executable, "-c", block.text], cwd=self.folder, env=self.environment)
        _, err = process.communicate(timeout=LONGEST_S)
        if process.returncode:
            self.faults.append(f"{page.name}:{block.line}: python\n{err}")


@pytest.fixture(autouse=True)
def _one_ray(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with alone_with_ray(tmp_path_factory) if "[cluster]" in request.node.name else nullcontext():
        yield


@pytest.fixture(scope="module")
def warm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warm]:
    """Where most commands run: a process that has imported what they import, else two thirds of the time would go into that."""
    process = Warm(tmp_path_factory.mktemp("warm") / "process", "tests.docs.warmed")
    yield process
    process.end()


def _clone(folder: Path) -> None:
    """Copy the tracked files as they are now."""
    (folder / "piiloom").mkdir()
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    there = b"\0".join(name for name in listed.split(b"\0") if name and (ROOT / os.fsdecode(name)).exists())  # else removed, not committed
    subprocess.run(["xargs", "-0", "cp", "-P", "--parents", "-t", folder / "piiloom"], cwd=ROOT, input=there, check=True)


@pytest.fixture
def session(request: pytest.FixtureRequest, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, warm: Warm) -> Iterator[Session]:
    """A session in a bare clone, with no ../shared beside it, and with a server that plays all models."""
    clone = tmp_path / "alone" / "piiloom"
    clone.parent.mkdir()
    # Links, not copies: what a command writes is a file of its own.
    subprocess.run(["cp", "-rl", made_once(tmp_path_factory, "clone", _clone) / "piiloom", clone], check=True)
    (clone / ".venv").symlink_to(Path(sys.executable).parents[1])
    with LLMServer(CaseAuthor(7, {"dropped": 0.04, "leak": 0.03, "wrong_keys": 0.01})) as server, ExitStack() as after:
        server.batches.plan = lambda nth: BatchPlan(polls=1)  # done when first looked up
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        home = tmp_path / "home"
        home.mkdir()
        plain = {"PATH": path, "HOME": str(home), "LANG": "C.UTF-8", "COLUMNS": "80", "NO_COLOR": "1"}
        tunes = request.node.callspec.params["page"].stem == "openai-tuning"
        tuning = after.enter_context(TuningServer()) if tunes else None
        urls = {"OPENAI_BASE_URL": tuning.url if tuning else server.openai_url, "ANTHROPIC_BASE_URL": server.anthropic_url}
        # A Ray of its own is started as by a user.
        with_ray = "[cluster]" in request.node.name
        yield Session(clone=clone, environment={**plain, **urls, **KEYS}, server=server, warm=None if with_ray else warm)


@pytest.mark.long
@pytest.mark.parametrize(
    "page", [page for page in PAGES if any(block.kind in RUNNABLE for block in blocks_of(page))], ids=lambda page: page.stem
)
def test_the_commands_of_a_page_run_and_print_what_it_shows(page, session):
    run_blocks(page, session)
    if UPDATE:
        _update(page, session)
    assert session.faults == [], "\n\n".join(session.faults)


@pytest.mark.train
@pytest.mark.parametrize(
    "page", [page for page in PAGES if any(block.note.startswith(TRAINS) for block in blocks_of(page))], ids=lambda page: page.stem
)
def test_a_page_runs_with_the_commands_that_train(page, session):
    run_blocks(page, session, base=lambda folder: make_tiny_base(folder, positions=512))
    assert session.faults == [], "\n\n".join(session.faults)


def run_blocks(page: Path, session: Session, *, base: Callable[[Path], Path] | None = None) -> None:
    """Run the blocks of *page* in order. Those that train use a model made by *base*; without it, only the releases they name are shown."""
    for block in blocks_of(page):
        if block.note.startswith("not run: "):
            continue
        if block.note.startswith(TRAINS):
            if base is None:
                for name in re.findall(r"--release (\S+)", block.text):
                    session.command(page, Command(line=block.line, text=f"piiloom releases show {name}", shown=""))
                continue
            base(session.clone / block.note.removeprefix(TRAINS))
        if block.note.startswith("file: "):
            path = session.clone / block.note.removeprefix("file: ")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, encoding="utf-8")
        elif block.kind == "console":
            commands = block.commands()
            session.environment["COLUMNS"] = block.note.removeprefix("columns: ") if block.note.startswith("columns: ") else "80"
            for command in commands:
                session.command(page, command, serves=block.note == "serves" and command is commands[-1])
        elif block.kind == "python":
            session.python(page, block)


def _update(page: Path, session: Session) -> None:
    """Show today's output on *page*."""
    lines = page.read_text(encoding="utf-8").split("\n")
    commands = [command for block in blocks_of(page) if block.kind == "console" for command in block.commands()]
    for command in reversed(commands):
        if command.line in session.printed:
            first = command.line + command.text.count("\n")
            lines[first : first + command.shown.count("\n") + 1] = renewed(command.shown.split("\n"), session.printed[command.line])
    page.write_text("\n".join(lines), encoding="utf-8")


def test_lines_of_progress_are_told_from_the_result():
    lines = [
        "preparing: topics 1/78",
        "preparing: topics 8/43 · $0.0059 of $0.0120 (49%)",
        "starting · 0 in flight of 16",
        "1,000/2,000 · 19/s · ETA 0:11",
    ]
    shown = "".join(f"r0001-1042f1fe: {line}\n" for line in lines) + "error: the budget is reached\n"
    assert _PROGRESS.sub("", shown) == "error: the budget is reached\n"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_block_is_run_or_says_why_not(page):
    for block in blocks_of(page):
        where = f"{page.name}:{block.line}"
        assert block.kind in RUNNABLE + SHOWN, where
        assert re.fullmatch(r"|not run: .{10,}|train: \S+|file: \S+|serves|columns: \d+", block.note), where
        if block.kind == "console":
            assert block.commands(), f"{where}: a console block without a command"
        else:
            typed = re.search(r"^\$ |^piiloom [a-z]|^pip install|^export ", block.text, re.MULTILINE)
            assert typed is None, f"{where}: commands belong in console blocks, behind $"
