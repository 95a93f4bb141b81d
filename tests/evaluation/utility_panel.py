"""Records with a question, and a model that answers and judges them by rules that a test can follow by hand."""

from __future__ import annotations

import json
import re
from pathlib import Path

from piiloom.corpus.record import Record, Span
from piiloom.corpus.store.costs import spending
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.runs import list_runs
from piiloom.evaluation.utility.evaluating import ReadCases, judge_utility, prepared
from piiloom.evaluation.utility.options import VARIANTS, UtilitySettings
from piiloom.execution.retrying import RetryPolicy
from piiloom.taxonomy.entity_types import shipped_taxonomy
from tests.providers.provider_calls import MODELS

QUICK = RetryPolicy(attempts=4, base_s=0.001, cap_s=0.002, patience_s=1.0, limited_s=0.0)
PLACEHOLDER = re.compile(r"\[[A-Z]+_\d+\]")
ASTHMA = (
    "I am 34, I have asthma and live in Ghent.",
    "May I work at night?",
    [("34", "age", "low"), ("asthma", "health", "high"), ("Ghent", "location", "low")],
)


def record(name, context, question, values, *, group=None):
    """A record with a span at the first place of each of *values*: (value, type, relevance)."""
    spans = [
        Span(id=f"s{number}", start=context.index(value), end=context.index(value) + len(value), entity_type=kind, relevance=relevance)
        for number, (value, kind, relevance) in enumerate(sorted(values, key=lambda one: context.index(one[0])))
    ]
    return Record(id=name, context=context, question=question, spans=tuple(spans), group_keys=(group,) if group else ())


def asthmatics(count):
    return [record(f"r{number}", *ASTHMA) for number in range(count)]


def prompt_data(request):
    """The JSON object of a prompt."""
    return json.loads(request.user.partition("\n\nThat was the data")[0])


class Panel:
    """Answers with the context that it was given, and judges by placeholders: the answer with fewer of them is better.

    ``verdict`` replaces the verdict on pairs. ``spoil`` changes replies: it gets the kind of the request, its data and the reply.
    """

    def __init__(self, verdict=None, spoil=None):
        self._verdict = verdict or _fewer
        self._spoil = spoil or (lambda kind, data, reply: reply)

    def __call__(self, request):
        data = prompt_data(request)
        return self._spoil(request.schema_name, data, getattr(self, f"_{request.schema_name}")(data))

    def _utility_answer(self, data):
        return {"answer": f"Since you say: {data['post']} Yes."}

    def _utility_judge_pair(self, data):
        return {"reason": "It says more.", "better": self._verdict(data["first"], data["second"])}

    def _utility_judge_completeness(self, data):
        return {"reason": "Nothing is missing.", "grade": 4 - len(PLACEHOLDER.findall(data["answer"]))}

    def _utility_judge_disclosure(self, data):
        told = [
            {"id": fact["id"], "reason": "It says so.", **{name: 4 * (fact["value"] in data[of]) for name, of in _SEEN.items()}}
            for fact in data["facts"]
        ]
        return {"judgements": told}


_SEEN = {"context": "post", "answer": "answer"}


def _fewer(first, second):
    one, other = len(PLACEHOLDER.findall(first)), len(PLACEHOLDER.findall(second))
    return "tie" if one == other else "first" if one < other else "second"


class Bench:
    """Runs over a server, with their store in *folder*."""

    def __init__(self, folder: Path, records, variants=VARIANTS):
        self.variants = tuple(variants)
        self.cases, left_out = prepared(records, shipped_taxonomy(), self.variants)
        self.read = ReadCases(cases=self.cases, left_out=left_out, title="a test")
        self.store = folder / "replies.duckdb"

    def run(self, server, name="openai", *, watch=None, judge=None, second=None, price=None, **options):
        given = {"provider": name, "model": MODELS[name], "base_url": _url(server, name), "price": price, "replies": self.store}
        if judge is not None:
            given |= {"judge_provider": judge, "judge_model": MODELS[judge], "judge_base_url": _url(server, judge)}
        if second is not None:
            names = ("second_judge_provider", "second_judge_model", "second_judge_base_url")
            given |= dict(zip(names, (second, MODELS[second], _url(server, second)), strict=True))
        settings = UtilitySettings(**given, variants=self.variants, unpriced=True, **options)
        told = {"watch": watch} if watch else {}
        return judge_utility(self.read, settings, retry=QUICK, **told)

    def runs(self):
        with Store.open(self.store) as store:
            return [(run.status, spending(store, run.id)) for run in list_runs(store)]


def _url(server, name):
    return server.anthropic_url if name == "anthropic" else server.openai_url
