"""The settings of detectors: the model that is asked, a trained detector, a service, examples, and the detector itself.

This module imports nothing heavy, so that ``--help`` is quick: imports that few settings need are in the functions that use them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, Self

from pydantic import model_validator

from piiloom.corpus.markers import MarkerChoice
from piiloom.detection.families import CAPID, ENTITIES, FAMILIES, MARKERS, OFFLINE, PATTERNS, TYPES, Family, detectors_by_need
from piiloom.foundation.errors import DataError, StoreError, UsageError
from piiloom.foundation.settings import AnyPath, Converted, OptionalPath, Settings, setting
from piiloom.foundation.whole_files import sha256_of
from piiloom.providers.model_calls import CALLS, LOCAL, MODEL, ModelCalls
from piiloom.tagging.model_folder import CARD
from piiloom.taxonomy.own_types import UNTYPED, OwnTypes, extended, from_json

if TYPE_CHECKING:
    from piiloom.corpus.store.database import Store
    from piiloom.providers.prices import ModelSpec
    from piiloom.providers.protocol import Provider
    from piiloom.taxonomy.entity_types import Taxonomy

LOCAL_MODELS: Final = "Models on this machine, and services"
DEFAULT_REPLIES: Final = Path("outputs/detection.duckdb")
VERIFIERS: Final = (1, 2)
REASONED: Final = 2  # the verifier that gives a reasoning before its answer
PHASES: Final = 3
CHUNK: Final = 4000
_LEAST_CHUNK: Final = 200
FINDING: Final = "What is found"
# The option of a setting that is missing, or given in vain.
_OPTIONS: Final = MappingProxyType(
    {
        "model": ("--provider", "asks a model", "asks no model", f"Name a provider, or use {OFFLINE}"),
        "local": ("--model-path", "needs a model on this machine", "loads no model", "Name its folder"),
        "service": ("--endpoint", "asks a service", "asks no service", "Name its address"),
        "prompting": ("--examples", "is shown examples", "is shown no examples", "Name a file of records"),
    }
)
OF_MODELS: Final = ("model", "base_url", "budget_usd", "adapter")


class OnDevice(Settings):
    """The device of a model on this machine, and how many texts it reads at once."""

    device: Literal["auto", "cpu", "cuda", "onnx"] = setting("auto", "Device of a model on this machine.", panel=LOCAL_MODELS)
    batch_size: int = setting(16, "Texts that a model on this machine reads at once.", metavar="N", panel=LOCAL_MODELS, ge=1, advanced=True)


class LabelMapChoice(Settings):
    """A map from the labels of a model or service to entity types."""

    label_map: OptionalPath = setting(
        None, "Types of the labels of the model or service: a YAML file, or the name of a shipped map.", metavar="MAP", panel=LOCAL_MODELS
    )


class LocalModel(OnDevice, LabelMapChoice):
    """A trained detector on this machine. ``model_path`` is empty for a detector that does without one."""

    model_path: str = setting(
        "", "Folder of a trained detector on this machine (for presidio also the name of a pipeline).", metavar="DIR", panel=LOCAL_MODELS
    )

    @property
    def identity(self) -> dict[str, Any]:
        """The settings that shape the findings, for digests: the path, and of a folder names, sizes and times of its files."""
        files = traces(Path(self.model_path)) if self.model_path else []
        return {"path": self.model_path, "files": files, "label_map": file_digest(self.label_map)}


class Service(LabelMapChoice, ModelCalls):
    """A service that detects. Its keys come from the environment; ``rpm`` None: as many requests a minute as the service allows."""

    endpoint: str | None = setting(None, "Address of the service azure or aws.", metavar="URL", panel=LOCAL_MODELS)
    region: str | None = setting(None, "Region of aws.", metavar="NAME", panel=LOCAL_MODELS, advanced=True)
    attempts: int = setting(5, "Requests for one text.", flags="-", ge=1)

    @property
    def identity(self) -> dict[str, Any]:
        """The settings that shape the findings, for digests."""
        return {"endpoint": self.endpoint, "region": self.region, "label_map": file_digest(self.label_map)}


class Prompting(Settings):
    """The examples that a model is shown: ``shots`` of those in ``examples``, a file of native rows."""

    panels: ClassVar[tuple[str, ...]] = (MODEL,)

    examples: OptionalPath = setting(None, "Native rows from which the model is shown some (markers).", metavar="FILE", panel=MODEL)
    shots: int = setting(8, "Number of examples that the model is shown.", metavar="N", panel=MODEL, ge=0, advanced=True)

    @property
    def identity(self) -> dict[str, Any]:
        """The settings that shape the findings, for digests."""
        return {"examples": file_digest(self.examples), "shots": self.shots}


class ModelSettings(OnDevice, ModelCalls):
    """The model that is asked, the file of its replies, and how calls are made.

    With the provider "local", ``model`` is the folder of a language model, and ``adapter`` that of an adapter to it. ``run`` names the work
    (a digest of the input, say): sessions with the same ``run`` and settings are one run, which has one budget. ``seed`` makes other draws:
    equal seeds find each other's replies.
    """

    provider: str | None = setting(None, "Provider of the model that is asked: openai, anthropic, compatible or local.", panel=MODEL)
    model: str | None = setting(None, "The provider's model, or the folder of a local one.", metavar="NAME", panel=MODEL)
    adapter: OptionalPath = setting(
        None, "With --provider local: adapter of piiloom train lora.", metavar="DIR", panel=MODEL, advanced=True
    )
    replies: AnyPath = setting(
        DEFAULT_REPLIES, "The DuckDB file in which replies are kept, so that none is paid for twice.", metavar="FILE", panel=CALLS
    )
    alpaca: bool = setting(False, "Lay out the prompts of a local model as in Alpaca.", flags="-")
    run: str = setting("", "Name of the run that shares a budget.", flags="-")
    seed: int = setting(7, "Other draws for another seed; equal ones find the replies that are kept.", flags="-")

    @model_validator(mode="after")
    def _with_a_model(self) -> Self:
        if self.provider == LOCAL and self.model is None:
            raise UsageError("the provider 'local' needs a model", where="--provider", remedy="Name its folder with --model")
        return self

    @property
    def base(self) -> Path | None:
        """The folder of a model on this machine; None if the provider is another one."""
        return Path(self.model) if self.provider == LOCAL and self.model is not None else None

    @property
    def name(self) -> str:
        """The model's name, the provider's default one if none is given. Raises ``UsageError`` if there is neither."""
        if self.base is not None:
            adapter = "" if self.adapter is None else f"+{self.adapter.resolve().name}"
            return f"{self.base.resolve().name}{adapter}"
        from piiloom.providers.factory import choose_model

        return choose_model(self.provider or "", self.model)

    @property
    def recipient(self) -> str:
        """The provider, address and model to which texts are sent, for people."""
        return f"{self.provider}{f' at {self.base_url}' if self.base_url else ''}, model {self.name}"

    def spec(self) -> ModelSpec:
        """Return the prices and limits of the model; no key is needed. Raises ``UsageError`` for an unknown provider."""
        from piiloom.providers.factory import KINDS
        from piiloom.providers.prices import FREE, load_models

        if self.provider == LOCAL:
            return FREE
        if self.provider not in KINDS:
            raise UsageError(
                f"there is no LLM provider {self.provider!r}",
                where="--provider",
                remedy=f"Choose one of {', '.join([*KINDS, LOCAL])}; without a model there are --detector patterns and hybrid-offline",
            )
        return load_models().resolve(self.provider, self.name, self._prices)

    def connect(self) -> Provider:
        """Return the provider. Raises ``AuthFailed`` without a key, ``UsageError`` without a price that is needed."""
        from piiloom.providers.factory import make_local_provider, make_priced_provider

        if self.base is not None:
            return make_local_provider(self.base, self.adapter, device=self.device, batch_size=self.batch_size, alpaca=self.alpaca)
        self.spec()  # raises for an unknown provider
        return make_priced_provider(self.provider or "", self, model=self.model, base_url=self.base_url, price=self.price)

    def open_replies(self) -> Store:
        """Open the store of replies. Raises ``StoreError`` if it cannot be used."""
        from piiloom.corpus.store.database import Store

        try:
            return Store.open(self.replies)
        except StoreError as error:
            error.remedy = error.remedy and error.remedy.replace("--store", "--replies")
            raise

    @property
    def identity(self) -> dict[str, Any]:
        """The settings that shape the replies, for digests."""
        shaping = {"provider": self.provider, "model": self.name, "base_url": self.base_url, "seed": self.seed}
        shaping["attempts"] = self.max_attempts
        folders = [one for one in (self.base, self.adapter) if one is not None] if self.provider == LOCAL else []
        return shaping | ({"files": [traces(one) for one in folders]} if folders else {})

    @property
    def _prices(self) -> ModelSpec | None:
        from piiloom.providers.prices import parse_prices

        return parse_prices(self.price) if self.price else None


class DetectorSettings(ModelSettings, LocalModel, Service, Prompting, MarkerChoice):
    """The detector and its settings. Pickles, so that each worker can make its own.

    ``chunk_chars``: a longer text is read in pieces. ``asked``, ``local``, ``service`` and ``prompting`` are the settings for detectors
    that take them (``Family``). Raises ``UsageError`` for an unknown detector, a number out of range, or a setting that is missing or
    that the detector does not take.
    """

    detector: str = setting(PATTERNS, f"Detector. {detectors_by_need()}. docs/detection.md compares them.", metavar="NAME")
    form: Literal["list", "capid"] = setting(
        "list",
        "Form in which the detector capid asks: list, as the exports alpaca and chat train; capid, as capid-alpaca and the published "
        "CAPID models do.",
        panel=MODEL,
        advanced=True,
    )
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
    engine: Literal["auto", "hyperscan", "re2", "regex"] = setting("auto", "Engine that matches patterns.", panel=FINDING, advanced=True)
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
        if self.provider is None and (given := [name for name in OF_MODELS if getattr(self, name) is not None]):
            raise UsageError(
                f"the detector {self.detector!r} asks no model",
                where=DetectorSettings.option_name(given[0]),
                remedy="Name the model's --provider, or leave it out",
            )
        vain: dict[str, tuple[str, ...]] = {} if self.detector == CAPID else {f"--detector {CAPID}": ("form",)}
        if self.local is None and self.provider != LOCAL:
            vain["--model-path or --provider local"] = ("device", "batch_size")
        if self.examples is None:
            vain["--examples"] = ("shots",)
        if self.detector != MARKERS:
            vain[f"--detector {MARKERS}"] = ("markers",)
        for needed, names in vain.items():
            for name in self.model_fields_set.intersection(names):
                raise UsageError(
                    f"it has no effect without {needed}", where=DetectorSettings.option_name(name), remedy=f"Add {needed}, or leave it out"
                )

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
        if self.provider is None:
            return None
        return self.part(ModelSettings).model_copy(update={"alpaca": self.form == CAPID})

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
        """Whether the detector is a ``detector.ModelDetector``."""
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
        from piiloom.taxonomy.own_entities import own_types_of
        from piiloom.taxonomy.own_types_file import read_types_file

        folders = [Path(self.local.model_path)] if self.local is not None else []
        if self.adapter is not None:
            folders.append(self.adapter)
        learnt = [one for folder in folders for one in types_of_card(folder)]
        read = {TYPES: read_types_file, ENTITIES: own_types_of}.get(self.family.own)
        given = [one for path in self.types for one in read(path)] if read is not None else []
        if self.family.untyped:
            given.append(UNTYPED)
        return tuple({one.name: one for one in (*given, *learnt)}.values())

    @property
    def taxonomy(self) -> Taxonomy:
        """The types that the detector knows: those that ship and ``own_types``."""
        return extended(self.own_types)

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
            shaping["own"] = [file_digest(path) for path in self.types]
        if self.form != "list":
            shaping["form"] = self.form
        if self.family.takes & {"phases", "model"}:
            shaping |= {"phases": self.phases, "chunk_chars": self.chunk_chars}
        shaping |= {name: part.identity for name, part in self._parts.items() if part is not None}
        shaping |= {"markers": self.markers} if self.marker_set.pairs else {}
        return shaping | ({"verify": self.verify} if self.verify is not None else {})


def types_of_card(folder: Path) -> OwnTypes:
    """Return the user-defined types that a model trained by piiloom knows, as ``piiloom.json`` in *folder* has them."""
    try:
        return from_json(json.loads((folder / CARD).read_text(encoding="utf-8")).get("own_types", []))
    except (OSError, ValueError, AttributeError, RecursionError, DataError):
        return ()  # a model of somebody else, or one that cannot be used, which is said when it is loaded


def traces(folder: Path) -> list[list[Any]]:
    """Return names, sizes and times of the files in *folder*: equal if, as good as surely, nothing was changed. Empty if it is none."""
    files = sorted(one for one in folder.rglob("*") if one.is_file()) if folder.is_dir() else []
    return [[str(one.relative_to(folder)), one.stat().st_size, one.stat().st_mtime_ns] for one in files]


def file_digest(path: Path | None) -> str | None:
    """The digest of a file; that of a shipped label map's name is the name."""
    if path is None:
        return None
    return sha256_of(path) if path.is_file() else str(path)
