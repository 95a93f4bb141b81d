"""A model that answers detection's questions by rules that a test can follow by hand, behind a loopback server."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path

from piiloom.corpus.store.costs import spending
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.runs import list_runs
from piiloom.detection.detector_settings import ModelSettings
from piiloom.detection.hybrid.hybrid_detectors import HybridDetector
from piiloom.execution.batches.ledger import BatchPolicy
from piiloom.execution.call_channel import CallPolicy
from piiloom.execution.retrying import RetryPolicy
from tests.detection.small_catalogue import LOCALE, settings
from tests.providers.provider_calls import MODELS

QUICK = CallPolicy(
    retry=RetryPolicy(attempts=4, base_s=0.001, cap_s=0.002, patience_s=1.0, limited_s=0.0),
    batch_policy=BatchPolicy(settle_s=0.01, patience_s=0.05, first_poll_s=0.005, longest_poll_s=0.02, sends=3),
)
# Who is meant by which words; whatever a text has of these, the model finds.
KNOWN = {"Jan Kowalski": "person_name", "Anna": "person_name", "astma": "condition", "Kraków": "city", "4821": "pin"}


def prompt_data(request):
    """The JSON object of a prompt."""
    at = re.search(r'^\{"', request.user, re.MULTILINE).start()
    return json.JSONDecoder().raw_decode(request.user, at)[0]


class Model:
    """Finds ``known`` words; says that eleven digits are an account; confirms numbers but ages.

    ``spoil`` changes replies: it gets the name of the schema, the data of the prompt and the reply.
    """

    def __init__(self, known=KNOWN, spoil=None):
        self.known, self.spoil = known, spoil or (lambda kind, data, reply: reply)

    def __call__(self, request):
        data = prompt_data(request)
        reply = getattr(self, f"_{request.schema_name}")(data, request.user)
        return self.spoil(request.schema_name, data, reply)

    def _detect_zero_shot(self, data, _):
        found = [(name, value) for value, name in self.known.items() if value in data["text"]]
        return {"found": [{"type": name, "text": value, "before": ""} for name, value in found]}

    def _detect_resolution(self, data, user):
        options = re.findall(r"^- (\w+):", user, re.MULTILINE)
        return {"type": "account" if "account" in options else options[0]}

    def _detect_verification(self, data, user):
        return {"confirmed": "takes the value for this: age" not in user}


class Bench:
    """Detectors over a server, with their store in *folder*."""

    def __init__(self, folder: Path, server, name="openai", **options):
        self.store = folder / "replies.duckdb"
        url = server.anthropic_url if name == "anthropic" else server.openai_url
        self.model = ModelSettings(provider=name, model=MODELS[name], base_url=url, replies=self.store, unpriced=True, **options)

    def detector(self, phases=3, chunk_chars=4000, **options):
        return HybridDetector(settings(phases, chunk_chars), self.model.model_copy(update=options), policy=QUICK)

    def examine(self, texts, detector=None):
        """The findings of *texts*, all under way at once."""
        detector = detector or self.detector()

        async def work():
            async with detector:
                under_way = [detector.examine_async(text, LOCALE, item_id=f"t{number}") for number, text in enumerate(texts)]
                return await asyncio.gather(*under_way)

        return asyncio.run(work())

    def runs(self):
        with Store.open(self.store) as store:
            return [(run.status, spending(store, run.id)) for run in list_runs(store)]
