"""The progress of commands: a bar on a terminal, lines elsewhere, nothing with --quiet or --json; errors of asking have a remedy."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

import piiloom.cli.progress as view
from piiloom.cli.terminal import Verbosity, set_verbosity
from piiloom.foundation.errors import Interrupted, ProviderError


def described(progress: int) -> str:
    return f"{progress} done at {view.time.monotonic():.0f}"


def test_lines_come_now_and_then_and_lasting_ones_at_once(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    now = 0.0
    monkeypatch.setattr(view.time, "monotonic", lambda: now)
    with view.shown(described, wanted=True, label="r1", lasting=lambda progress: progress == 7) as watch:
        for done in range(1, 13):
            now += 1.0
            watch(done)
    assert capsys.readouterr().err.splitlines() == ["r1: 5 done at 5", "r1: 7 done at 7", "r1: 12 done at 12"]


def test_a_terminal_gets_a_bar_without_what_steers_it(monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.StringIO()
    monkeypatch.setattr(view.sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(view, "error_console", lambda: Console(file=out, force_terminal=True, width=120))
    with view.shown(lambda progress: f"{progress} of 4\x07", wanted=True, share=lambda progress: (progress, 4.0), at_once=True) as watch:
        watch(3)
    assert "3 of 4␇" in out.getvalue()
    assert "\x07" not in out.getvalue()


@pytest.mark.parametrize(("wanted", "quiet"), [(False, False), (True, True)])
def test_nothing_is_shown_with_json_and_quiet(*, wanted: bool, quiet: bool, capsys: pytest.CaptureFixture[str]) -> None:
    set_verbosity(Verbosity(quiet=quiet))
    with view.shown(described, wanted=wanted, lasting=lambda _: True) as watch:
        watch(3)
    set_verbosity(Verbosity())
    assert capsys.readouterr() == ("", "")


def test_what_stops_the_asking_of_a_model_tells_how_to_go_on(tmp_path: Path) -> None:
    (tmp_path / "replies.duckdb").touch()
    for raised, kind, remedy in (
        (KeyboardInterrupt(), Interrupted, "Give the same command again"),
        (ProviderError("no answer", remedy="Wait."), ProviderError, r"Wait\. Give the same command again"),
    ):
        with pytest.raises(kind, match=remedy), view.asking(tmp_path / "replies.duckdb"):
            raise raised
