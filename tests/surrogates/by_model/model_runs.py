"""Runs with values by a model: a small corpus, a server that answers by rule, and the two steps as the command takes them."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from itertools import count

from piiloom.corpus.store.costs import spending
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.runs import list_runs
from piiloom.execution.retrying import RetryPolicy
from piiloom.providers.model_calls import ModelCalls
from piiloom.surrogates.by_model.drawing import draw_by_model
from piiloom.surrogates.documents import Mention
from piiloom.surrogates.engine import EngineFactory
from piiloom.surrogates.inputs.parts import SourceSettings
from piiloom.surrogates.placeholders.mapping import Mapping
from piiloom.surrogates.running import run_surrogates
from piiloom.surrogates.settings import EngineSettings
from tests.providers.provider_calls import MODELS

QUICK = RetryPolicy(attempts=4, base_s=0.001, cap_s=0.002, patience_s=1.0, limited_s=0.0)
TAG = re.compile(r"<([A-Z]+)(\d*)>")
_SYLLABLES = ("Bo", "Ka", "Ri", "Tu", "Ve", "Lo", "Mi", "Sa")


def name_of(number):
    """A name of no language, another one for each number below 4096."""
    return "".join(_SYLLABLES[number >> shift & 7] for shift in (0, 3, 6, 9)).capitalize()


def naming():
    """Answers each request with another name, the same for the same prompt."""
    numbers, known = count(), {}

    def answer(request):
        return {"value": name_of(known.setdefault(request.user, next(numbers)))}

    return answer


def mentions_of(text):
    found = []
    for match in TAG.finditer(text):
        kind = "person" if match[1] == "NAME" else match[1].lower()
        found.append(Mention(match.start(), match.end(), kind, index=match[2]))
    return found


class Corpus:
    """Texts as a JSONL file in *folder*, and everything that a run of them needs."""

    def __init__(self, folder, texts, *, seed=5):
        self.folder = folder
        self.texts = list(texts)
        self.inputs = SourceSettings(path=folder / "in.jsonl", chunk_bytes=300)
        rows = [json.dumps({"id": f"d{number}", "text": text}, ensure_ascii=False) for number, text in enumerate(self.texts)]
        self.inputs.path.write_text("\n".join(rows) + "\n", encoding="utf-8")
        self.factory = EngineFactory(settings=EngineSettings(seed=seed), mapping=Mapping(), scan=False)
        self.store = folder / "store.duckdb"
        self.said = []

    def agree(self, words):
        self.said.append(words)
        return True

    def draw(self, server, name="openai", *, agree=None, watch=None, **options):
        url = server.anthropic_url if name == "anthropic" else server.openai_url
        model_options = ModelCalls(provider=name, model=MODELS[name], base_url=url, **options)
        spool = self.folder / "spool"
        spool.mkdir(exist_ok=True)
        told = {"watch": watch} if watch else {}
        return draw_by_model(
            self.inputs, self.factory, model_options, store=self.store, folder=spool, agree=agree or self.agree, retry=QUICK, **told
        )

    def fill(self, drawn, out="out", *, workers=1):
        target = self.folder / out
        factory = replace(self.factory, given=drawn.values)
        report = run_surrogates(self.inputs, target, factory, workers=workers)
        drawn.put_rejects(target)
        return report.report

    def run(self, server, name="openai", *, out="out", workers=1, **options):
        drawn = self.draw(server, name, **options)
        return drawn, self.fill(drawn, out, workers=workers)

    def records(self, out="out"):
        return [json.loads(line) for line in (self.folder / out / "records.jsonl").read_text("utf-8").splitlines()]

    def put_in(self, out="out"):
        """The surrogates of each document, in order."""
        return [[span["text"] for span in record["spans"]] for record in self.records(out)]

    def rejects(self, out="out"):
        path = self.folder / out / "rejects.jsonl"
        return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []

    def spent(self):
        with Store.open(self.store) as store:
            return [(run.status, spending(store, run.id)) for run in list_runs(store)]


def prompt_data(user):
    """The JSON object of a prompt."""
    return json.loads(user.partition("\n")[0])
