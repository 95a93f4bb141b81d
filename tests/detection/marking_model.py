"""A model that gives texts back with markers, in the form of the export for tuning: by rules that a test can follow by hand."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from piiloom.corpus.formats.instruction_tuning import marking, message_parts
from piiloom.corpus.markers import TYPES, MarkerSet, marked_text
from piiloom.corpus.record import Span
from piiloom.detection.detector import Findings
from piiloom.detection.detector_settings import ModelSettings
from piiloom.detection.marking.marking_detector import MarkingDetector
from piiloom.taxonomy.entity_types import shipped_taxonomy
from tests.detection.listing_model import KNOWN, QUICK
from tests.fakes.llm_server import LLMServer, Request
from tests.providers.provider_calls import MODELS

_FAULT = re.compile(r"\AYour previous answer could not be used: .*\n\n")
_LAST_MESSAGE = re.compile(r"(?:^|\n\n)((?:Question: [^\n]*\n)?Text:\n(?:(?!\n\n(?:Question: [^\n]*\n)?Text:\n).)*)\Z", re.DOTALL)
Spoil = Callable[[Request, str, str], str]


def asked_of(request: Request) -> tuple[str, str | None]:
    """The text and the question that *request* asks about; the fake server joins the messages of examples before it."""
    found = _LAST_MESSAGE.search(_FAULT.sub("", request.user))
    assert found is not None
    return message_parts(found.group(1))


def marked(text: str, *, relevance: bool, markers: MarkerSet = TYPES) -> str:
    """*text* with *markers* around all known values."""
    hits = sorted((hit.start(), hit.end(), value) for value in KNOWN for hit in re.finditer(rf"(?<!\w){re.escape(value)}(?!\w)", text))
    spans = []
    for number, (start, end, value) in enumerate(hits):
        entity_type, matters = KNOWN[value]
        said: Any = matters if relevance else None
        spans.append(Span(id=str(number), start=start, end=end, entity_type=entity_type, relevance=said))
    return marked_text(text, spans, markers)


class MarkingModel:
    """Marks the values that ``listing_model.KNOWN`` has. ``spoil`` gets the request, the text and the right answer."""

    def __init__(self, spoil: Spoil = lambda _, __, reply: reply, markers: MarkerSet = TYPES) -> None:
        self.spoil, self.markers = spoil, markers

    def __call__(self, request: Request) -> str:
        """Answer; a request whose instruction is none of the export's is a fault of the detector."""
        text, question = asked_of(request)
        assert request.system == marking(relevance=question is not None, taxonomy=shipped_taxonomy(), markers=self.markers)
        return self.spoil(request, text, marked(text, relevance=question is not None, markers=self.markers))


class MarkingBench:
    """Detectors over a server, with their store in *folder*."""

    def __init__(self, folder: Path, server: LLMServer, name: str = "openai", **options: Any) -> None:
        url = server.anthropic_url if name == "anthropic" else server.openai_url
        store = folder / "replies.duckdb"
        self.model = ModelSettings(provider=name, model=MODELS[name], base_url=url, replies=store, unpriced=True, **options)

    def detector(self, chunk_chars: int = 4000, **options: Any) -> MarkingDetector:
        """The detector; *options* are those of its constructor, or of the model."""
        own = {name: options.pop(name) for name in ("shots", "whole", "threshold") if name in options}
        return MarkingDetector(
            self.model.model_copy(update=options), chunk_chars=chunk_chars, policy=QUICK, **own, taxonomy=shipped_taxonomy()
        )

    def examine(self, texts: Sequence[str], question: str | None = "Can I?", detector: MarkingDetector | None = None) -> list[Findings]:
        """The findings of *texts*, all under way at once."""
        detector = detector or self.detector()

        async def work() -> list[Findings]:
            async with detector:
                under_way = [detector.examine_async(text, "en_US", question, item_id=f"t{number}") for number, text in enumerate(texts)]
                return await asyncio.gather(*under_way)

        return asyncio.run(work())
