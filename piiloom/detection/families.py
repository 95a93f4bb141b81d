"""Which detectors there are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from piiloom.patterns.resolving import THRESHOLD

PATTERNS: Final = "patterns"
HYBRID: Final = "hybrid"
OFFLINE: Final = "hybrid-offline"
CAPID: Final = "capid"
REFORMULATING: Final = "reformulating"
STAND_IN: Final = f"{REFORMULATING}-stand-in"
MARKERS: Final = "markers"
# What the files of --types are.
ENTITIES, RECOGNIZERS, TYPES = "entities", "recognizers", "types"


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """A kind of detector.

    ``about`` is one line for people. ``make`` is its class, as "module:class"; it is imported when a detector is made.
    ``needs`` are the settings that it cannot do without, ``may`` those that it takes besides: "model", "local", "service", "prompting",
    "phases" (phases and chunks). ``waits``: it is a ``detector.ModelDetector``, which waits for others and does many texts at once.
    ``own`` is what a user's own files (--types) are: entities in the form of the catalogue, recognizers of presidio, or types.
    ``threshold`` is the usual one: 0 for a detector that settles by itself what it tells, as the systems do that people already use:
    its scores say how sure it is. ``untyped``: it states no types.
    """

    about: str
    make: str
    needs: frozenset[str] = frozenset()
    may: frozenset[str] = frozenset()
    waits: bool = False
    own: str = TYPES
    threshold: float = THRESHOLD
    untyped: bool = False

    @property
    def takes(self) -> frozenset[str]:
        """All settings that it takes."""
        return self.needs | self.may

    @property
    def catalogue(self) -> bool:
        """Whether it looks for what the entity catalogue of a text's locale has; others take any locale."""
        return self.own == ENTITIES


FAMILIES: Final[Mapping[str, Family]] = MappingProxyType(
    {
        PATTERNS: Family(
            about="the patterns of the catalogue alone: no model, no key, no network",
            make="piiloom.detection.registry:PatternDetector",
            own=ENTITIES,
        ),
        OFFLINE: Family(
            about="the three phases, with rules, word lists and a names index standing in for the model",
            make="piiloom.detection.hybrid.hybrid_detectors:OfflineDetector",
            may=frozenset({"phases"}),
            own=ENTITIES,
        ),
        HYBRID: Family(
            about="the three phases: patterns beside a language model",
            make="piiloom.detection.hybrid.hybrid_detectors:HybridDetector",
            needs=frozenset({"model"}),
            may=frozenset({"phases"}),
            waits=True,
            own=ENTITIES,
        ),
        CAPID: Family(
            about="a language model lists what is personal, and what of it matters to the question",
            make="piiloom.detection.capid_detector:CapidDetector",
            needs=frozenset({"model"}),
            waits=True,
        ),
        REFORMULATING: Family(
            about="the baseline of Ngong et al.: a language model divides personal details by what the question needs; no types",
            make="piiloom.detection.capid_detector:ReformulatingDetector",
            needs=frozenset({"model"}),
            waits=True,
            untyped=True,
        ),
        STAND_IN: Family(
            about="a rule in the place of the model of reformulating, to try the way of the data; its figures say nothing of the method",
            make="piiloom.detection.capid_detector:ReformulatingStandIn",
            own=ENTITIES,
            untyped=True,
        ),
        MARKERS: Family(
            about="a language model gives the text back with markers around what is personal, after examples if there are any",
            make="piiloom.detection.marking.marking_detector:MarkingDetector",
            needs=frozenset({"model"}),
            may=frozenset({"prompting"}),
            waits=True,
        ),
        "encoder": Family(
            about="an encoder that piiloom train encoder has trained; it judges relevance, too",
            make="piiloom.detection.encoder.encoder_detector:EncoderDetector",
            needs=frozenset({"local"}),
            threshold=0.0,
        ),
        "spacy": Family(
            about="a pipeline of spaCy that finds entities: of piiloom train spacy, or any other that you have",
            make="piiloom.detection.adapters.spacy_detectors:SpacyDetector",
            needs=frozenset({"local"}),
            threshold=0.0,
        ),
        "probe": Family(
            about="the small detector that piiloom probe --out has trained, with relevance",
            make="piiloom.detection.registry:ProbeDetector",
            needs=frozenset({"local"}),
        ),
        "presidio": Family(
            about="presidio-analyzer, with a model of spaCy that you have, or its patterns alone",
            make="piiloom.detection.adapters.spacy_detectors:PresidioDetector",
            may=frozenset({"local"}),
            threshold=0.0,
            own=RECOGNIZERS,
        ),
        "huggingface": Family(
            about="a token classifier of transformers in a folder of yours",
            make="piiloom.detection.adapters.transformers_detectors:HuggingFaceDetector",
            needs=frozenset({"local"}),
            threshold=0.0,
        ),
        "gliner": Family(
            about="a GLiNER model in a folder of yours, asked for our types",
            make="piiloom.detection.adapters.transformers_detectors:GlinerDetector",
            needs=frozenset({"local"}),
        ),
        "azure": Family(
            about="PII detection of Azure AI Language; texts are sent there",
            make="piiloom.detection.services.azure_detector:AzureDetector",
            needs=frozenset({"service"}),
            waits=True,
            threshold=0.0,
        ),
        "aws": Family(
            about="DetectPiiEntities of AWS Comprehend (English, Spanish); texts are sent there",
            make="piiloom.detection.services.service_detector:AwsDetector",
            needs=frozenset({"service"}),
            waits=True,
            threshold=0.0,
        ),
    }
)


def detectors_by_need() -> str:
    """Return the names of all detectors, grouped by the options that they cannot do without, for help texts."""
    groups = {
        "model": "Asks a model (--provider)",
        "local": "A model on this machine (--model-path)",
        "service": "A service (--endpoint, --region)",
    }
    named: dict[str, list[str]] = {title: [] for title in ("No model", *groups.values())}
    for name, family in FAMILIES.items():
        named[next((title for need, title in groups.items() if need in family.needs), "No model")].append(name)
    return "; ".join(f"{title}: {', '.join(names)}" for title, names in named.items() if names)
