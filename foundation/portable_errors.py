"""Send errors to another process: a ``PiiloomError`` has keyword arguments, which pickle does not restore."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from piiloom.foundation.errors import PiiloomError


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
