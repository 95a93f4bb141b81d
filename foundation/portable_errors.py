"""Errors that travel to another process: an exception of ours takes keywords, which pickle does not give back to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from piiloom.foundation.errors import PiiloomError


@dataclass(frozen=True, slots=True, kw_only=True)
class PortableError:
    """A ``PiiloomError`` packed up: its class, and what it holds."""

    kind: type[PiiloomError]
    state: Mapping[str, Any]

    @classmethod
    def of(cls, error: PiiloomError) -> PortableError:
        """Pack *error* up; its traceback stays behind."""
        return cls(kind=type(error), state=dict(vars(error)))

    def rebuilt(self) -> PiiloomError:
        """Give an equal error, to be raised here."""
        error = self.kind.__new__(self.kind)
        vars(error).update(self.state)
        error.args = (error.message, error.where, error.remedy)
        return error
