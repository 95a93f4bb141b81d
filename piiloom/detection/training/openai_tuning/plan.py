"""The plan of a job: all that was decided before anything was sent. It never changes (``job.json``)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from piiloom.corpus.markers import TYPES
from piiloom.detection.training.openai_tuning.estimate import Estimate, TrainingPrice, estimate_from
from piiloom.foundation.errors import DataError

Part = Literal["train", "validation"]
_SCHEMA: Final = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class DataFile:
    """A file of rows: ``path`` within the job's folder, and its ``name`` at the provider, which is that of its content."""

    part: Part
    path: str
    name: str
    sha256: str
    bytes: int
    examples: int
    tokens: int
    most_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """See the module docstring. ``label`` is our own id of the job; ``epochs`` None: the provider chooses.

    ``store``: where costs are booked. ``data`` says where the records come from (``training_data``), ``types`` which types they have.
    """

    label: str
    task: str
    model: str
    endpoint: str
    store: str
    files: tuple[DataFile, ...]
    types: tuple[str, ...]
    data: Mapping[str, Any]
    own_types: tuple[Mapping[str, Any], ...] = ()
    markers: str = TYPES.name
    suffix: str | None = None
    seed: int | None = None
    epochs: int | None = None
    batch_size: int | None = None
    learning_rate: float | None = None
    price: TrainingPrice | None = None
    left_out: Mapping[str, int] = field(default_factory=dict)

    def file(self, part: Part) -> DataFile | None:
        """Return the file of *part*, if there is one."""
        return next((one for one in self.files if one.part == part), None)

    @property
    def estimate(self) -> Estimate:
        """What the job is expected to cost."""
        train = self.file("train")
        assert train is not None  # noqa: S101 - no plan is made without
        counts = {"examples": train.examples, "tokens": train.tokens, "most_tokens": train.most_tokens}
        return estimate_from(counts, self.epochs, self.price)

    def to_json(self) -> dict[str, Any]:
        """The fields as JSON values."""
        return {"schema": _SCHEMA, **asdict(self)}


def read_plan(path: Path) -> Plan:
    """Read a plan. Raises ``DataError`` if it is damaged or was written by a newer piiloom."""
    remedy = "Restore it from a copy. Without it, look for the job with piiloom train openai --list"
    try:
        row = json.loads(path.read_text(encoding="utf-8"))
        schema = row.pop("schema")
        if isinstance(schema, int) and schema > _SCHEMA:
            raise DataError("the job was planned by a newer piiloom", where=str(path), remedy="Update piiloom")
        return _plan(row)
    except OSError as error:
        raise DataError(f"the plan of the job cannot be read ({error.strerror})", where=str(path), remedy=remedy) from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise DataError("the plan of the job is damaged", where=str(path), remedy=remedy) from None


def _plan(row: dict[str, Any]) -> Plan:
    files = tuple(DataFile(**one) for one in row.pop("files"))
    price = row.pop("price")
    types, own = tuple(row.pop("types")), tuple(row.pop("own_types"))
    plan = Plan(**row, files=files, types=types, own_types=own, price=None if price is None else TrainingPrice(**price))
    if plan.file("train") is None or not all(isinstance(one, str) for one in (plan.label, plan.task, plan.model, plan.endpoint)):
        raise TypeError
    return plan
