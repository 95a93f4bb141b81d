"""Send errors to another process: a ``PiiloomError`` has keyword arguments, which pickle does not restore."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from piiloom.foundation.errors import PiiloomError, RunError

Job = TypeVar("Job")


@dataclass(frozen=True, slots=True, kw_only=True)
class PortableError:
    """A ``PiiloomError`` in picklable form: its class and its attributes."""

    kind: type[PiiloomError]
    state: Mapping[str, Any]

    @classmethod
    def of(cls, error: PiiloomError) -> PortableError:
        """Convert *error*; its traceback is dropped."""
        return cls(kind=type(error), state=dict(vars(error)))

    def rebuilt(self) -> PiiloomError:
        """Return an equal error, to be raised here."""
        error = self.kind.__new__(self.kind)
        vars(error).update(self.state)
        error.args = (error.message, error.where, error.remedy)
        return error


def outcome_of(do: Callable[[Job], object], job: Job) -> object:
    """Return ``do(job)``, or its ``PiiloomError`` or ``OSError`` in a form that can be pickled, for ``result_of``."""
    try:
        return do(job)
    except PiiloomError as error:
        return PortableError.of(error)
    except OSError as error:
        return OSError(error.errno, error.strerror, error.filename)


def result_of(outcome: Any) -> Any:
    """Return the result that ``outcome_of`` sent, or raise its error."""
    if isinstance(outcome, PortableError):
        raise outcome.rebuilt()
    if isinstance(outcome, OSError):
        raise outcome
    return outcome


@contextmanager
def unexpected_errors(what: str, place: Callable[[], str], *, remedy: str) -> Iterator[None]:
    """Turn an exception that nobody expected into a ``RunError`` about *what*, with the place in the code; it quotes nothing.

    ``PiiloomError`` and ``OSError`` are passed on.
    """
    try:
        yield
    except (PiiloomError, OSError):
        raise
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        raised = f" in {last.name}, {last.filename.rsplit('/', 1)[-1]}:{last.lineno}"
        raise RunError(f"{what} ({type(error).__name__}{raised})", where=place(), remedy=remedy) from error
