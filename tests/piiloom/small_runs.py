"""What the tests of the command line have in common."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

# One pair of types: a few records take a moment.
SMALL = ("--pairs", "health+occupation")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a command left: exit code, standard output, standard error."""

    code: int
    out: str
    err: str

    def error_line(self) -> str:
        """The one line on standard error that says what was wrong; fails when there is more, or a traceback."""
        lines = self.err.splitlines()
        assert len(lines) == 1, self.err
        assert lines[0].startswith("error: ")
        assert "Traceback" not in self.out
        return lines[0].removeprefix("error: ")


Cli = Callable[..., Outcome]
