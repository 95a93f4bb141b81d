"""A language model that knows the gold spans and errs at stated rates, behind the provider protocol.

It is no model, and figures made with it tell nothing about any: they tell what each phase makes of answers that are right so often. It
answers detection's three questions in JSON text as providers do. Errors are drawn from the seed, the text's id and the place, so that they
do not depend on the order in which texts are under way.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from piiloom.corpus.record import Record, Span
from piiloom.foundation.seeding import derive_rng
from piiloom.foundation.words import STOP_WORDS
from piiloom.providers.protocol import Completion, PromptCall, TokenUsage
from piiloom.providers.replies import with_data


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorRates:
    """Shares of answers that are wrong.

    Of the values that phase I asks for: ``missed``, ``mislabelled`` (given another of the kinds), ``altered`` (a letter changed), ``cut``
    (without its first or last word). ``invented``: wrong entries for each right one, half of them words that the text has, half such that
    it does not have. ``resolved``: phase II gives another of the candidates; ``outside``: a type that is none of them. ``verified``: phase
    III says the opposite.
    """

    missed: float = 0.1
    mislabelled: float = 0.03
    altered: float = 0.02
    cut: float = 0.03
    invented: float = 0.1
    resolved: float = 0.1
    outside: float = 0.02
    verified: float = 0.1

    def __str__(self) -> str:
        return ", ".join(f"{name} {getattr(self, name):.0%}" for name in self.__slots__)


NO_ERRORS = ErrorRates(missed=0, mislabelled=0, altered=0, cut=0, invented=0, resolved=0, outside=0, verified=0)


_WORDS = re.compile(r"[^\W\d_]{4,}")


class SimulatedLLM:
    """Answers about *records*, whose ids are the texts' ``item_id``."""

    name, model, endpoint, paid = "simulated", "knows-the-gold", "simulated", False

    def __init__(self, records: Sequence[Record], rates: ErrorRates, *, seed: int = 0) -> None:
        self._records: Mapping[str, Record] = {record.id: record for record in records}
        self._rates, self._seed = rates, seed

    async def complete(self, call: PromptCall) -> Completion:
        """Answer *call* from the gold spans of its text."""
        item_id, _, place = call.item_id.rpartition(" ")
        rng = derive_rng("simulated", self._seed, call.template, call.item_id, call.attempt)
        answer = {"detect_zero_shot": self._found, "detect_resolution": self._resolved, "detect_verification": self._verified}[call.stage]
        text = json.dumps(answer(self._records[item_id], int(place), call.variables, rng), ensure_ascii=False)
        completion = Completion(text=text, data=None, model=self.model, usage=TokenUsage(input=0, output=len(text) // 4))
        return with_data(completion, call.schema, provider=self.name)

    async def aclose(self) -> None:
        """Nothing is open."""

    def _found(self, record: Record, start: int, variables: Mapping[str, Any], rng: random.Random) -> dict[str, Any]:
        kinds = [entity["id"] for entity in variables["entities"]]
        end = start + len(variables["text"])
        here = [span for span in record.spans if start <= span.start and span.end <= end and span.subtype in kinds]
        told = dict.fromkeys((record.context[span.start : span.end], str(span.subtype), _before(record, span)) for span in here)
        found = []
        for value, kind, before in told:
            if rng.random() >= self._rates.missed:
                found.append({"type": self._kind(kind, kinds, rng), "text": self._value(value, rng), "before": before})
            if rng.random() < self._rates.invented:
                found.append({"type": rng.choice(kinds), **_invented(variables["text"], rng)})
        return {"found": found}

    def _kind(self, kind: str, kinds: Sequence[str], rng: random.Random) -> str:
        others = [one for one in kinds if one != kind]
        return rng.choice(others) if others and rng.random() < self._rates.mislabelled else kind

    def _value(self, value: str, rng: random.Random) -> str:
        words = value.split(" ")
        if len(words) > 1 and rng.random() < self._rates.cut:
            return " ".join(words[1:] if rng.random() < 0.5 else words[:-1])
        if rng.random() < self._rates.altered:
            at = rng.randrange(len(value))
            return value[:at] + rng.choice("aeiou") + value[at:]
        return value

    def _resolved(self, record: Record, start: int, variables: Mapping[str, Any], rng: random.Random) -> dict[str, str]:
        options = [entity["id"] for entity in variables["entities"]]
        if rng.random() < self._rates.outside:
            return {"type": "something_else"}
        gold = _at(record, start, start + len(variables["value"]))
        right = gold.subtype if gold is not None and gold.subtype in options else rng.choice(options)
        others = [one for one in options if one != right]
        return {"type": rng.choice(others) if others and rng.random() < self._rates.resolved else str(right)}

    def _verified(self, record: Record, start: int, variables: Mapping[str, Any], rng: random.Random) -> dict[str, bool]:
        gold = _at(record, start, start + len(variables["value"]))
        right = gold is not None and gold.subtype == variables["entity"]["id"]
        return {"confirmed": right != (rng.random() < self._rates.verified)}


def _invented(text: str, rng: random.Random) -> dict[str, str]:
    """A word that the text has, with what stands before it, or one that it does not have."""
    words = [one for one in _WORDS.finditer(text) if one.group().lower() not in STOP_WORDS]
    if words and rng.random() < 0.5:
        one = rng.choice(words)
        return {"text": one.group(), "before": " ".join(text[max(0, one.start() - 40) : one.start()].split()[-2:])}
    return {"text": "".join(rng.choices("bdfgklmnprst", k=4)) + rng.choice("aeiou"), "before": ""}


def _at(record: Record, start: int, end: int) -> Span | None:
    """The gold span that has most in common with ``[start, end)``."""
    common = [(min(span.end, end) - max(span.start, start), span) for span in record.spans]
    most = max(common, key=lambda one: one[0], default=(0, None))
    return most[1] if most[0] > 0 else None


def _before(record: Record, span: Span) -> str:
    return " ".join(record.context[max(0, span.start - 40) : span.start].split()[-2:])
