"""A model that lists mentions, and judges findings, in the form of the exports for tuning: by rules that a test can follow by hand."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from piiloom.corpus.formats.instruction_tuning import extracting, message_parts, verifying
from piiloom.corpus.store.costs import Spending, spending
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.runs import list_runs
from piiloom.detection.capid_detector import CapidDetector
from piiloom.detection.detector import Detector, Findings
from piiloom.detection.detector_settings import ModelSettings
from piiloom.detection.verifying_detector import VerifyingDetector
from piiloom.execution.batches.ledger import BatchPolicy
from piiloom.execution.call_channel import CallPolicy
from piiloom.execution.retrying import RetryPolicy
from piiloom.taxonomy.entity_types import shipped_taxonomy
from tests.fakes.llm_server import LLMServer, Request
from tests.providers.provider_calls import MODELS

QUICK = CallPolicy(
    retry=RetryPolicy(attempts=9, base_s=0.001, cap_s=0.002, patience_s=1.0, limited_s=0.0),
    batch_policy=BatchPolicy(settle_s=0.01, patience_s=0.05, first_poll_s=0.005, longest_poll_s=0.02, sends=3),
)
KNOWN = {"asthma": ("health", "high"), "nurse": ("occupation", "low"), "Anna": ("name", "low"), "Łódź": ("location", "high")}
_FAULT = re.compile(r"\AYour previous answer could not be used: .*\n\n")
_CANDIDATE = re.compile(r"^Type: ([^(\n]*?)(?: \(.*)?\n.*<candidate>(.*)</candidate>", re.DOTALL | re.MULTILINE)

Spoil = Callable[[Request, str], str]


def extraction(question: str | None, context: str, known: Mapping[str, tuple[str, str]] = KNOWN) -> str:
    """The list of all mentions of *known* values in *context*."""
    found = sorted((hit.start(), value) for value in known for hit in re.finditer(rf"(?<!\w){re.escape(value)}(?!\w)", context))
    mentions = [{"value": value, "type": known[value][0], "relevance": known[value][1]} for _, value in found]
    if question is None:
        for one in mentions:
            del one["relevance"]
    return json.dumps(mentions, ensure_ascii=False)


class ListingModel:
    """Lists ``known`` values; as a verifier it refuses those among ``wrong``. ``spoil`` changes replies."""

    def __init__(
        self,
        known: Mapping[str, tuple[str, str]] = KNOWN,
        wrong: Sequence[str] = (),
        spoil: Spoil = lambda _, reply: reply,
    ) -> None:
        self.known, self.wrong, self.spoil = known, wrong, spoil

    def __call__(self, request: Request) -> str:
        """Answer; a request whose instruction is none of the exports' is a fault of the detector."""
        if request.system.startswith("You check"):
            reply = self._verdict(request, reasoned=request.system == verifying(reasoned=True, taxonomy=shipped_taxonomy()))
        else:
            context, question = message_parts(_FAULT.sub("", request.user))
            assert request.system == extracting(relevance=question is not None, taxonomy=shipped_taxonomy())
            reply = extraction(question, context, self.known)
        return self.spoil(request, reply)

    def _verdict(self, request: Request, *, reasoned: bool) -> str:
        found = _CANDIDATE.search(request.user)
        assert found is not None
        answer = "F" if found.group(2) in self.wrong else "T"
        return json.dumps({"reasoning": f"“{found.group(2)}” is what it is.", "answer": answer}, ensure_ascii=False) if reasoned else answer


class ListingBench:
    """Detectors over a server, with their store in *folder*."""

    def __init__(self, folder: Path, server: LLMServer, name: str = "openai", **options: Any) -> None:
        self.store = folder / "replies.duckdb"
        url = server.anthropic_url if name == "anthropic" else server.openai_url
        self.model = ModelSettings(provider=name, model=MODELS[name], base_url=url, replies=self.store, unpriced=True, **options)

    def capid(self, chunk_chars: int = 4000, form: Literal["list", "capid"] = "list", **options: Any) -> CapidDetector:
        """The detector "capid"."""
        model = self.model.model_copy(update=options)
        return CapidDetector(model, chunk_chars=chunk_chars, form=form, policy=QUICK, taxonomy=shipped_taxonomy())

    def verified(self, inner: Detector, *, reasoned: bool = False, **options: Any) -> VerifyingDetector:
        """*inner* with a verifier behind it."""
        return VerifyingDetector(inner, self.model.model_copy(update=options), reasoned=reasoned, policy=QUICK, taxonomy=shipped_taxonomy())

    def examine(
        self, texts: Sequence[str], question: str | None = "Can I?", detector: CapidDetector | VerifyingDetector | None = None
    ) -> list[Findings]:
        """The findings of *texts*, all under way at once."""
        detector = detector or self.capid()

        async def work() -> list[Findings]:
            async with detector:
                under_way = [detector.examine_async(text, "en_US", question, item_id=f"t{number}") for number, text in enumerate(texts)]
                return await asyncio.gather(*under_way)

        return asyncio.run(work())

    def runs(self) -> list[tuple[str, Spending]]:
        """The runs of the store: how they ended, and what was paid."""
        with Store.open(self.store) as store:
            return [(run.status, spending(store, run.id)) for run in list_runs(store)]


def told(text: str, findings: Findings) -> list[tuple[str, str, str | None]]:
    """What the spans of *findings* say of *text*."""
    return [(text[one.start : one.end], one.entity_type, one.relevance) for one in findings.spans]
