"""How a command fails: one line on standard error for people; with ``--json`` also an object on standard output for programs.

The code of an error is that of its class: ``StoreLocked`` is ``store_locked``, ``UsageError`` is ``usage``. It stays when words change.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass

from typer.exceptions import Abort, TyperException

from piiloom.cli.terminal import json_begun, say_error, say_json
from piiloom.foundation.errors import Interrupted, PiiloomError

JSON = "--json"
_WORD = re.compile(r"(?<!^)(?=[A-Z])")


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """What went wrong, where, and what to do next; ``message`` is empty where nothing is to be said."""

    code: str
    message: str
    exit_code: int = 1
    where: str | None = None
    remedy: str | None = None

    @property
    def line(self) -> str:
        """All of it in one line."""
        return str(PiiloomError(self.message, where=self.where, remedy=self.remedy))

    def to_json(self) -> dict[str, object]:
        """The object that programs read."""
        return {"error": {key: value for key, value in asdict(self).items() if key != "exit_code"}}


def code_of(kind: type[PiiloomError]) -> str:
    """The code of the errors of a class."""
    return _WORD.sub("_", kind.__name__.removesuffix("Error") or "failed").lower().removeprefix("piiloom") or "failed"


def failure_of(error: BaseException, *, interrupted: bool) -> Failure:
    """Say what went wrong; never in the words of an unknown exception, which could quote anything.

    An *interrupted* command may fail in any way: then the interruption is what is told.
    """
    if isinstance(error, PiiloomError) and (isinstance(error, Interrupted) or not interrupted):
        return Failure(code=code_of(type(error)), message=error.message, exit_code=error.exit_code, where=error.where, remedy=error.remedy)
    if interrupted or isinstance(error, KeyboardInterrupt):
        return Failure(code=code_of(Interrupted), message="interrupted")
    if isinstance(error, TyperException):
        command = getattr(getattr(error, "ctx", None), "command_path", "piiloom")
        said = _in_plain_words(error).rstrip(".")  # empty where a missing command has brought up the help
        return Failure(code="usage", message=said, exit_code=error.exit_code, remedy=f"See {command} --help")
    if isinstance(error, Abort):
        return Failure(code="aborted", message="aborted")
    if isinstance(error, OSError) and error.strerror:
        return Failure(code="system", message=error.strerror, where=str(error.filename or "operating system"))
    remedy = "piiloom --debug … shows where it comes from (please report it)"
    return Failure(code="unexpected", message=f"unexpected {type(error).__name__}", remedy=remedy)


def _in_plain_words(error: TyperException) -> str:
    """What Typer says of the command line, without the words of pydantic, which checks the values of options for it."""
    said, cause = error.format_message(), error.__cause__
    if cause is not None and type(cause).__name__ == "ValidationError":
        from pydantic import ValidationError

        from piiloom.foundation.schema_faults import plain_words

        if isinstance(cause, ValidationError):
            fault = cause.errors(include_url=False, include_input=False)[0]
            said = said.replace(fault["msg"], plain_words(fault["type"], fault.get("ctx", {})))
    return said


def tell(failure: Failure, *, as_json: bool) -> None:
    """Print it."""
    if failure.message:
        say_error(failure.line)
        if as_json and not json_begun():
            say_json(failure.to_json())
