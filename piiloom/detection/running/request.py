"""What a run is asked to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

from piiloom.corpus.releases.manifest import OWN_TYPES, piiloom_version
from piiloom.detection.running.input_files import InputFile
from piiloom.detection.running.input_settings import InputSettings
from piiloom.detection.running.outputs import Target, target_of
from piiloom.detection.running.worker import WorkSettings
from piiloom.foundation.errors import UsageError
from piiloom.foundation.seeding import digest
from piiloom.taxonomy.own_types import to_json

_SCHEMA: Final = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class DetectionRequest:
    """What is to be done.

    ``out`` is a file that ends in ``.jsonl``, of native rows, or a folder in ``format`` (native). ``workers`` are processes; a detector
    that asks a model or a service has none. ``resume`` goes on with what a killed run has done, if there is something; ``force`` begins
    anew and replaces what is there. Raises ``UsageError`` for what makes no sense.
    """

    inputs: InputSettings
    work: WorkSettings
    out: Path
    format: str | None = None
    tokenizer: str = "whitespace"
    workers: int = 1
    resume: bool = False
    force: bool = False

    def __post_init__(self) -> None:
        if self.workers < 1:
            raise UsageError("at least one worker is needed", where="--workers", remedy="Give 1 or more")
        if self.waits and self.workers > 1:
            raise UsageError(
                "a detector that asks a model or a service works in one process", where="--workers", remedy="Use --concurrency"
            )
        if self.resume and self.force:
            raise UsageError("--resume goes on, and --force begins anew", where="--resume, --force", remedy="Give one of them")
        if self.out.name in {"", ".."}:  # the name of what is unfinished is made of its name
            object.__setattr__(self, "out", self.out.resolve())
        source, out = self.inputs.path.resolve(), self.out.resolve()
        if out == source or source.is_relative_to(out):
            raise UsageError("the output would replace the input", where="--out", remedy="Name another place")
        if source.is_dir() and out.is_relative_to(source):
            raise UsageError("the output lies inside the input folder", where="--out", remedy="Name a place outside of it")

    @property
    def waits(self) -> bool:
        """Whether the detector waits for a model or a service, and does many texts at once in one process."""
        return self.work.detector.waits

    def target(self) -> Target:
        """Return what is written. Raises ``UsageError`` for an unknown format, or one that does not fit ``out``."""
        return target_of(self.out, self.format, taxonomy=self.work.detector.taxonomy, tokenizer=self.tokenizer, force=self.force)

    @property
    def about(self) -> dict[str, Any]:
        """What decides the result beside the texts."""
        mask, own = self.work.mask, self.work.detector.own_types
        about: dict[str, Any] = {
            "schema": _SCHEMA,
            "tool": "piiloom detect",
            "piiloom": piiloom_version(),
            "input": self.inputs.identity,
            "detector": self.work.detector.identity,
            "mask": None if mask is None else asdict(mask),
        }
        return about | {OWN_TYPES: to_json(own)} if own else about

    def named_after(self, files: Sequence[InputFile]) -> DetectionRequest:
        """Return this request with a name for what a model is asked about, by which sessions share a budget."""
        model = self.work.detector.model
        if model is None or model.run:
            return self
        name = digest(self.inputs.identity, [(file.name, file.path.stat().st_size) for file in files])[:16]
        detector = replace(self.work.detector, model=replace(model, run=name))
        return replace(self, work=replace(self.work, detector=detector))
