"""Settings of detectors, and making them."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Protocol, Self, cast

from pydantic import model_validator

from piiloom.detection.asking.model_settings import ModelSettings
from piiloom.detection.detector import Detector
from piiloom.detection.detector_settings import LocalModel, Prompting, Service, digest_of, types_of_card
from piiloom.detection.families import ENTITIES, FAMILIES, OFFLINE, PATTERNS, TYPES, Family
from piiloom.detection.pattern_detector import PatternDetector
from piiloom.execution.call_channel import CallPolicy
from piiloom.foundation.errors import UsageError
from piiloom.foundation.settings import Converted, flags_of, setting
from piiloom.patterns.prefilters import Backend
from piiloom.providers.factory import LOCAL
from piiloom.providers.model_calls import CALLS, MODEL
from piiloom.providers.protocol import Provider
from piiloom.taxonomy.own_entities import own_types_of
from piiloom.taxonomy.own_types import OwnTypes
from piiloom.taxonomy.own_types_file import read_types_file

VERIFIERS: Final = (1, 2)
REASONED: Final = 2  # the verifier that gives a reasoning before its answer
PHASES: Final = 3
CHUNK: Final = 4000
_LEAST_CHUNK: Final = 200
FINDING: Final = "What is found"


class Make(Protocol):
    """A function that makes the detector of *settings*; nothing is opened or sent yet.

    *provider* replaces that of the settings; *policy* decides how calls are retried, and receives their events. Both are for detectors
    that ask a model only.
    """

    def __call__(self, settings: DetectorSettings, provider: Provider | None, policy: CallPolicy | None) -> Detector:
        """See the class."""
        ...


# The option of a setting that is missing, or given in vain.
_OPTIONS: Final = MappingProxyType(
    {
        "model": ("--provider", "asks a model", "asks no model", f"Name a provider, or use {OFFLINE}"),
        "local": ("--model-path", "needs a model on this machine", "loads no model", "Name its folder"),
        "service": ("--endpoint", "asks a service", "asks no service", "Name its address"),
        "prompting": ("--examples", "is shown examples", "is shown no examples", "Name a file of records"),
    }
)
_OF_MODELS: Final = ("model", "base_url", "budget_usd", "adapter")


class DetectorSettings(ModelSettings, LocalModel, Service, Prompting):
    """The detector and its settings. Pickles, so that each worker can make its own.

    ``chunk_chars``: a longer text is read in pieces. ``asked``, ``local``, ``service`` and ``prompting`` are the settings for detectors
    that take them (``Family``). Raises ``UsageError`` for an unknown detector, a number out of range, or a setting that is missing or
    that the detector does not take.
    """

    detector: str = setting(PATTERNS, f"Detector: {', '.join(FAMILIES)}.", metavar="NAME")
    threshold: Converted[float, float | None] = setting(
        None,
        "Lowest score of a span that is written, 0 to 1 (default 0.5; 0 for detectors that decide themselves).",
        metavar="P",
        panel=FINDING,
    )
    types: Converted[tuple[Path, ...], Sequence[str | Path]] = setting(
        (),
        "Your own entity types, as generate takes them, or entities (for presidio: recognizers). May be repeated.",
        metavar="FILE",
        panel=FINDING,
    )
    unconfirmed: bool = setting(False, "Detect also types whose format no source confirmed.", panel=FINDING, advanced=True)
    also: Converted[tuple[str, ...], Sequence[str]] = setting(
        (),
        "Entity that is detected on request only (event_date, money_amount …). May be repeated.",
        metavar="ID",
        panel=FINDING,
        advanced=True,
    )
    engine: Backend = setting("auto", "Engine that matches patterns.", panel=FINDING, advanced=True)
    phases: int = setting(
        PHASES, "Phases of a hybrid detector, 0 to 3; 0 detects what patterns alone detect.", metavar="N", panel=FINDING, advanced=True
    )
    verify: int | None = setting(
        None, "Have a model judge each span, without (1) or with a reasoning (2).", metavar="1|2", panel=MODEL, advanced=True
    )
    yes: bool = setting(False, "Confirm in advance that the texts may be sent.", flags="--yes -y", panel=CALLS)
    chunk_chars: int = setting(CHUNK, "Longest piece of a text that a detector reads at once.", flags="-")

    @model_validator(mode="after")
    def _known_detector(self) -> Self:
        if self.detector not in FAMILIES:
            raise UsageError(f"there is no detector {self.detector!r}", where="--detector", remedy=f"Known: {', '.join(FAMILIES)}")
        if vars(self)["threshold"] is None:
            vars(self)["threshold"] = self.family.threshold
        if not 0 <= self.threshold <= 1:
            raise UsageError("the threshold must be between 0 and 1", where="--threshold")
        if not 0 <= self.phases <= PHASES:
            raise UsageError(f"there are {PHASES} phases: give a number from 0 to {PHASES}", where="--phases")
        if self.chunk_chars < _LEAST_CHUNK:
            raise UsageError(f"a chunk has at least {_LEAST_CHUNK} characters", where="--chunk")
        if self.verify is not None and self.verify not in VERIFIERS:
            raise UsageError("there are the verifiers 1 (an answer alone) and 2 (a reasoning before it)", where="--verify")
        self._check_alone()
        self._check_taken()
        if self.asked is not None:
            self.asked.spec()
        return self

    def _check_alone(self) -> None:
        """Refuse settings that have no effect without another one."""
        if self.provider is None and (given := [name for name in _OF_MODELS if getattr(self, name) is not None]):
            remedy = "Name the model's --provider, or leave it out"
            raise UsageError(f"the detector {self.detector!r} asks no model", where=_flag(given[0]), remedy=remedy)
        vain: dict[str, tuple[str, ...]] = {}
        if self.local is None and self.provider != LOCAL:
            vain["--model-path or --provider local"] = ("device", "batch_size")
        if self.examples is None:
            vain["--examples"] = ("shots",)
        for needed, names in vain.items():
            for name in self.model_fields_set.intersection(names):
                raise UsageError(f"it has no effect without {needed}", where=_flag(name), remedy=f"Add {needed}, or leave it out")

    def _check_taken(self) -> None:
        takes, needs = self.family.takes, self.family.needs
        if self.verify is not None:
            takes, needs = takes | {"model"}, needs | {"model"}
        for name, part in self._parts.items():
            option, why, why_not, remedy = _OPTIONS[name]
            if name in needs and part is None:
                who = "--verify" if name == "model" and "model" not in self.family.needs else f"the detector {self.detector!r}"
                raise UsageError(f"{who} {why}", where=option, remedy=remedy)
            if part is not None and name not in takes:
                others = " or ".join(one for one, family in FAMILIES.items() if name in family.takes)
                raise UsageError(
                    f"the detector {self.detector!r} {why_not}", where=option, remedy=f"Use --detector {others}, or leave it out"
                )

    @property
    def family(self) -> Family:
        """The description of the detector."""
        return FAMILIES[self.detector]

    @property
    def asked(self) -> ModelSettings | None:
        """The model that is asked, if any."""
        return None if self.provider is None else self.part(ModelSettings)

    @property
    def local(self) -> LocalModel | None:
        """The trained detector on this machine, if any."""
        without = not self.model_path and (self.label_map is None or "local" not in self.family.may)
        return None if without else self.part(LocalModel)

    @property
    def service(self) -> Service | None:
        """The service that is asked, if any."""
        wanted = self.endpoint is not None or self.region is not None or "service" in self.family.takes
        return self.part(Service) if wanted else None

    @property
    def prompting(self) -> Prompting | None:
        """The examples that a model is shown, if any."""
        return None if self.examples is None else self.part(Prompting)

    @property
    def _parts(self) -> dict[str, ModelSettings | LocalModel | Service | Prompting | None]:
        return {"model": self.asked, "local": self.local, "service": self.service, "prompting": self.prompting}

    @property
    def waits(self) -> bool:
        """Whether the detector is a ``findings.ModelDetector``."""
        return self.family.waits or self.verify is not None

    @property
    def sends(self) -> bool:
        """Whether texts leave this machine."""
        return self.service is not None or self.provider not in {None, LOCAL}

    @property
    def model_name(self) -> str | None:
        """The name of the model that is asked or loaded, if any."""
        if self.asked is not None:
            return self.asked.name
        return None if self.local is None else Path(self.local.model_path).name

    def check_agreed(self) -> None:
        """Raise ``UsageError`` if texts would leave this machine without consent."""
        if self.sends and not self.yes:
            raise UsageError("sending texts to a provider or a service must be confirmed", where="yes", remedy="Give yes=True")

    def sent(self, texts: str) -> list[str]:
        """Return a line for each place to which *texts* would be sent."""
        lines = []
        if self.asked is not None and self.provider != LOCAL:
            lines.append(f"{texts} would be sent to {self.asked.recipient}; replies are kept in {self.replies}")
        if self.service is not None:
            place = f" at {self.endpoint}" if self.endpoint else ""
            lines.append(f"{texts} would be sent to {self.detector}{place}, which bills for them")
        return lines

    @property
    def own_types(self) -> OwnTypes:
        """The user-defined types that the detector knows: those that its model was trained on, and those of ``types`` files.

        Raises ``ConfigError`` for a faulty file.
        """
        folders = [Path(self.local.model_path)] if self.local is not None else []
        if self.adapter is not None:
            folders.append(self.adapter)
        learnt = [one for folder in folders for one in types_of_card(folder)]
        read = {TYPES: read_types_file, ENTITIES: own_types_of}.get(self.family.own)
        given = [one for path in self.types for one in read(path)] if read is not None else []
        return tuple({one.name: one for one in (*given, *learnt)}.values())

    @property
    def identity(self) -> dict[str, Any]:
        """The settings that shape the findings, for digests; the contents of ``types`` files are in the digest of a catalogue, if any."""
        shaping: dict[str, Any] = {
            "detector": self.detector,
            "threshold": self.threshold,
            "unconfirmed": self.unconfirmed,
            "also": list(self.also),
        }
        if self.types and not self.family.catalogue:
            shaping["own"] = [digest_of(path) for path in self.types]
        if self.family.takes & {"phases", "model"}:
            shaping |= {"phases": self.phases, "chunk_chars": self.chunk_chars}
        shaping |= {name: part.identity for name, part in self._parts.items() if part is not None}
        return shaping | ({"verify": self.verify} if self.verify is not None else {})


def _flag(name: str) -> str:
    return flags_of(name, DetectorSettings.model_fields[name])[0]


def make_detector(settings: DetectorSettings, *, provider: Provider | None = None, policy: CallPolicy | None = None) -> Detector:
    """Return the detector of *settings*, see ``Make``. If ``settings.waits``, it is a ``findings.ModelDetector``."""
    module, _, function = settings.family.make.partition(":")
    make = cast("Make", getattr(import_module(module), function))
    detector = make(settings, provider, policy)
    if settings.verify is None:
        return detector
    from piiloom.detection.verifying.verifying_detector import VerifyingDetector  # noqa: PLC0415 - for those that are verified only

    assert settings.asked is not None  # noqa: S101 - checked when the settings were made
    return VerifyingDetector(detector, settings.asked, reasoned=settings.verify == REASONED, provider=provider, policy=policy)


def make_patterns(settings: DetectorSettings, provider: Provider | None = None, policy: CallPolicy | None = None) -> PatternDetector:
    """See ``Make``."""
    del provider, policy
    return PatternDetector(
        own=settings.types, unconfirmed=settings.unconfirmed, also=settings.also, threshold=settings.threshold, backend=settings.engine
    )
