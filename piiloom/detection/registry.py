"""Settings of detectors, and making them."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Protocol, cast

from piiloom.detection.asking.model_settings import ModelSettings
from piiloom.detection.detector import Detector
from piiloom.detection.detector_settings import REASONED, VERIFIERS, LocalModel, Prompting, Service, digest_of, types_of_card
from piiloom.detection.families import ENTITIES, FAMILIES, OFFLINE, PATTERNS, TYPES, Family
from piiloom.detection.pattern_detector import PatternDetector
from piiloom.execution.call_channel import CallPolicy
from piiloom.foundation.errors import UsageError
from piiloom.patterns.prefilters import Backend
from piiloom.providers.protocol import Provider
from piiloom.taxonomy.entity_types import Taxonomy
from piiloom.taxonomy.own_entities import own_types_of
from piiloom.taxonomy.own_types import OwnTypes, extended
from piiloom.taxonomy.own_types_file import read_types_file

# The threshold of the detector's family.
OWN_THRESHOLD: Final = -1.0
PHASES: Final = 3
CHUNK: Final = 4000
_LEAST_CHUNK: Final = 200


class Make(Protocol):
    """Makes the detector of *settings*; nothing is opened or sent yet.

    *provider* replaces that of the settings; *policy* says how calls are retried, and who is told of them. Both are for those that ask a
    model only.
    """

    def __call__(self, settings: DetectorSettings, provider: Provider | None, policy: CallPolicy | None) -> Detector:
        """See the class."""
        ...


# Where a setting that is missing, or there in vain, comes from.
_OPTIONS: Final = MappingProxyType(
    {
        "model": ("--provider", "asks a model", "asks no model", f"Name a provider, or use {OFFLINE}"),
        "local": ("--model-path", "needs a model on this machine", "loads no model", "Name its folder"),
        "service": ("--endpoint", "asks a service", "asks no service", "Name its address"),
        "prompting": ("--examples", "is shown examples", "is shown no examples", "Name a file of records"),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DetectorSettings:
    """Which detector, and how it is set. Pickles, so that each worker can make its own.

    ``threshold``: spans with a lower score are not told; by default that of the family. ``own`` are a user's own files
    (``Family.own``); ``unconfirmed`` adds types whose format no source confirmed. ``engine`` is what prefilters patterns.
    ``phases``: how many of the three phases the hybrid detectors take; 0 gives what the patterns alone give. ``chunk_chars``: a longer text
    is read in pieces. ``model``, ``local``, ``service`` and ``prompting`` are for those that take them (``Family``). ``verify``: ``model``
    judges each span, without (1) or with a reasoning (2).

    Raises ``UsageError`` for an unknown detector, a number out of range, or a setting that is missing or that the detector does not take.
    """

    detector: str = PATTERNS
    threshold: float = OWN_THRESHOLD
    own: tuple[Path, ...] = ()
    unconfirmed: bool = False
    also: tuple[str, ...] = ()
    engine: Backend = "auto"
    phases: int = PHASES
    chunk_chars: int = CHUNK
    model: ModelSettings | None = None
    local: LocalModel | None = None
    service: Service | None = None
    prompting: Prompting | None = None
    verify: int | None = None

    def __post_init__(self) -> None:
        if self.detector not in FAMILIES:
            raise UsageError(f"there is no detector {self.detector!r}", where="--detector", remedy=f"Known: {', '.join(FAMILIES)}")
        if self.threshold == OWN_THRESHOLD:
            object.__setattr__(self, "threshold", self.family.threshold)
        if not 0 <= self.threshold <= 1:
            raise UsageError("the threshold must be between 0 and 1", where="--threshold")
        if not 0 <= self.phases <= PHASES:
            raise UsageError(f"there are {PHASES} phases: give a number from 0 to {PHASES}", where="--phases")
        if self.chunk_chars < _LEAST_CHUNK:
            raise UsageError(f"a chunk has at least {_LEAST_CHUNK} characters", where="--chunk")
        if self.verify is not None and self.verify not in VERIFIERS:
            raise UsageError("there are the verifiers 1 (an answer alone) and 2 (a reasoning before it)", where="--verify")
        self._check_settings()

    def _check_settings(self) -> None:
        takes, needs = self.family.takes, self.family.needs
        if self.verify is not None:
            takes, needs = takes | {"model"}, needs | {"model"}
        for name, (option, why, why_not, remedy) in _OPTIONS.items():
            there = getattr(self, name) is not None
            if name in needs and not there:
                who = "--verify" if name == "model" and "model" not in self.family.needs else f"the detector {self.detector!r}"
                raise UsageError(f"{who} {why}", where=option, remedy=remedy)
            if there and name not in takes:
                others = " or ".join(one for one, family in FAMILIES.items() if name in family.takes)
                raise UsageError(
                    f"the detector {self.detector!r} {why_not}", where=option, remedy=f"Use --detector {others}, or leave it out"
                )

    @property
    def family(self) -> Family:
        """What is known of the detector."""
        return FAMILIES[self.detector]

    @property
    def waits(self) -> bool:
        """Whether the detector is a ``findings.ModelDetector``."""
        return self.family.waits or self.verify is not None

    @property
    def sends(self) -> bool:
        """Whether texts leave this machine."""
        return self.service is not None or (self.model is not None and self.model.base is None)

    @property
    def own_types(self) -> OwnTypes:
        """The user-defined types that the detector knows: those that its model was trained on, and those of ``own`` files of types.

        Raises ``ConfigError`` for a faulty file.
        """
        folders = [Path(self.local.path)] if self.local is not None else []
        if self.model is not None and self.model.adapter is not None:
            folders.append(self.model.adapter)
        learnt = [one for folder in folders for one in types_of_card(folder)]
        read = {TYPES: read_types_file, ENTITIES: own_types_of}.get(self.family.own)
        given = [one for path in self.own for one in read(path)] if read is not None else []
        return tuple({one.name: one for one in (*given, *learnt)}.values())

    @property
    def taxonomy(self) -> Taxonomy:
        """The types that the detector knows: those that ship and ``own_types``."""
        return extended(self.own_types)

    @property
    def identity(self) -> dict[str, Any]:
        """What shapes the findings, for digests; if a catalogue is used, the contents of ``own`` files are in the digest of that."""
        shaping: dict[str, Any] = {
            "detector": self.detector,
            "threshold": self.threshold,
            "unconfirmed": self.unconfirmed,
            "also": list(self.also),
        }
        if self.own and not self.family.catalogue:
            shaping["own"] = [digest_of(path) for path in self.own]
        if self.family.takes & {"phases", "model"}:
            shaping |= {"phases": self.phases, "chunk_chars": self.chunk_chars}
        for name in _OPTIONS:
            if (one := getattr(self, name)) is not None:
                shaping[name] = one.identity
        return shaping | ({"verify": self.verify} if self.verify is not None else {})


def make_detector(settings: DetectorSettings, *, provider: Provider | None = None, policy: CallPolicy | None = None) -> Detector:
    """Return the detector of *settings*, see ``Make``. If ``settings.waits``, it is a ``findings.ModelDetector``."""
    module, _, function = settings.family.make.partition(":")
    make = cast("Make", getattr(import_module(module), function))
    detector = make(settings, provider, policy)
    if settings.verify is None:
        return detector
    from piiloom.detection.verifying.verifying_detector import VerifyingDetector  # noqa: PLC0415 - for those that are verified only

    assert settings.model is not None  # noqa: S101 - checked when the settings were made
    return VerifyingDetector(
        detector, settings.model, taxonomy=settings.taxonomy, reasoned=settings.verify == REASONED, provider=provider, policy=policy
    )


def make_patterns(settings: DetectorSettings, provider: Provider | None = None, policy: CallPolicy | None = None) -> PatternDetector:
    """See ``Make``."""
    del provider, policy
    return PatternDetector(
        own=settings.own, unconfirmed=settings.unconfirmed, also=settings.also, threshold=settings.threshold, backend=settings.engine
    )
