"""A stand-in for the model of a run: its replies are as long as a model's, so that an estimate can render every prompt.

Like the composer, it answers from the variables of a call, but without a scenario bank: each text holds the wanted values
and as many nonsense words as the plan asks for.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from itertools import cycle, islice
from typing import Any

from piiloom.corpus.alignment import mark
from piiloom.foundation.words import count_words
from piiloom.generation.item import MAIN, NOTHING
from piiloom.generation.settings.configuration import RunConfig
from piiloom.providers.protocol import Completion, JsonSchema, PromptCall

# Nonsense words as long as those of running text: 4.6 letters on average.
_FILLER = "mu velda tasi korunel lipra denolu sa rimtavo be gul fontera ip tarnok sel muvita dra kelposi ontel fa brunavi".split()
_SYLLABLES = "bra vel mo rin tas kel du fen lor ip sna wex gom tul pra zet".split()
_QUESTION_WORDS = 18
_REASON_WORDS = 16
# Mean lengths (in words) of what a capable model wrote for the recipe "case", through a loopback server.
_USE_WORDS, _STRIKE_WORDS, _SITUATION_WORDS, _CHANGE_WORDS, _TELLS_WORDS = 16, 8, 75, 32, 8
# Where a model's text length lies between the fewest (0) and the most words (1) allowed.
_WITHIN_BAND = 0.25


class StandIn:
    """A fake provider (``piiloom.providers.protocol.Provider``) under the name and model of the one that *config* names."""

    endpoint = "embedded"
    paid = False

    def __init__(self, config: RunConfig) -> None:
        self.name, self.model = config.provider, config.model or ""
        low, high = config.question_words
        self._question_words = min(max(_QUESTION_WORDS, low), high)
        self._answers: dict[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
            "topics": lambda known: {"topics": [_name(number) for number in range(known["count"])]},
            "subtopics": lambda known: {"subtopics": [_name(number + 100) for number in range(known["count"])]},
            "pii_value": lambda known: {"value": _value(known)},
            "value_in_text": lambda known: {"value": _value(known)},
            "situation": lambda known: {"text": _sentences(known)},
            "peripheral": lambda known: {"text": _sentences(known)},
            "question_draft": self._question,
            "question_personal": self._question,
            "question_abstracted": self._question,
            "paraphrase": lambda known: {"text": _post(known)},
            "span_retrieval": lambda _: {"span": None},
            "case_sheet": _sheet,
            "case_questions": self._questions,
            "case_post": lambda known: {"text": f"I {_woven(known['values'], known['words']['target'])}"},
            "case_question": self._question,
            "case_audit": lambda known: {"tells": [" ".join(_filler(_TELLS_WORDS))] * len(known["stretches"]), "missed": []},
            "case_plain": self._plain,
            "judge_relevance": lambda known: {"judgements": [_judgement(fact, score=2 * (not n)) for n, fact in enumerate(known["facts"])]},
            "case_closer_look": lambda known: {"facts": [_looked_at(fact) for fact in known["facts"]]},
            "judge_leak": lambda known: {"judgements": [_judgement(fact, where="nowhere") for fact in known["facts"]]},
        }

    async def complete(self, call: PromptCall) -> Completion:
        """Answer *call*; for a schema name without an answer here, make up a reply that fits the schema."""
        answer = self._answers.get(call.schema_name)
        schema = call.schema or {"type": "string"}
        data = _of_schema(schema, schema) if answer is None else answer(call.variables)
        return Completion(text=json.dumps(data, ensure_ascii=False), data=data, model=self.model)

    async def aclose(self) -> None:
        """Do nothing: no connection is open."""

    def _question(self, _: Mapping[str, Any]) -> dict[str, Any]:
        return {"question": f"{' '.join(['Should I', *_filler(self._question_words - 2)])}?"}

    def _plain(self, known: Mapping[str, Any]) -> dict[str, Any]:
        text = _filler(known["words"]["min"] + 2)
        asked = [f"{' '.join(['Should I', *_filler(self._question_words - 2 - number)])}?" for number in range(known["count"])]
        return {"text": f"{' '.join(text)}.", "questions": asked, "lookalikes": [{"kind": known["kinds"][0], "text": text[0]}]}

    def _questions(self, known: Mapping[str, Any]) -> dict[str, Any]:
        """Return questions of which the first names and depends on the first value, the second on the second, and so on."""
        decisions, values = len(known["decisions"]), known["values"]
        asked = [
            {
                "decision": number % decisions + 1,
                "question": f"Is it for {values[number % len(values)]['text']} that I {' '.join(_filler(self._question_words - 8))}?",
                "ledger": _ledger(values, number),
            }
            for number in range(known["count"])
        ]
        return {"questions": asked}


def _filler(number: int) -> list[str]:
    return list(islice(cycle(_FILLER), max(0, number)))


def _name(number: int) -> str:
    """Return two nonsense words for *number*, different from those of other numbers."""
    word = "".join(_SYLLABLES[(number // 16**place + 5 * place) % 16] for place in range(3))
    return f"{word} {_SYLLABLES[number % 16]}{_SYLLABLES[number // 16 % 16]}"


def _value(known: Mapping[str, Any]) -> str:
    """Return a made-up value as long as its subtype's examples on average, different from those of other value ids."""
    examples = [str(example) for example in known["subtype"]["examples"]] or ["velda"]
    length = sum(map(len, examples)) // len(examples)
    number = int(str(known["value_id"]).removeprefix("v"))
    words = _name(200 + number)
    return (words if length <= len(words) else f"{words}{_name(300 + number).replace(' ', '') * 4}"[:length]).strip()


def _sentences(known: Mapping[str, Any]) -> str:
    low, high = known["words"]["min"], known["words"]["max"]
    return _woven(known["values"], low + round(_WITHIN_BAND * (high - low)))


def _post(known: Mapping[str, Any]) -> str:
    """Return a text halfway between the target length and that of its sentences, since a model seldom cuts or pads much."""
    words, first = known["words"], known["first"]
    told = sum(count_words(sentence) for sentence in known["sentences"])
    wanted = min(max((words["target"] + told) // 2, words["min"]), words["max"])
    values = sorted(known["values"], key=lambda value: first is None or value["id"] != first["id"])
    return _woven(values, wanted)


def _woven(values: Sequence[Mapping[str, str]], words: int) -> str:
    """Return a text of *words* words that holds all *values* in order, marked and evenly spaced."""
    filler = _filler(words - sum(count_words(value["text"]) for value in values))
    gap = len(filler) // (len(values) + 1)
    pieces: list[str] = []
    for number, value in enumerate(values):
        pieces += [*filler[number * gap : (number + 1) * gap], mark(value["id"], value["text"])]
    return f"{' '.join([*pieces, *filler[len(values) * gap :]])}."


def _sheet(known: Mapping[str, Any]) -> dict[str, Any]:
    carried, ids = ([value["id"] for value in known["values"] if value["carried"] is starred] for starred in (True, False))
    kept = [*ids[: known["keep"]["most"]], *carried[: known["carry"]["most"]]]
    use, why = f"{' '.join(_filler(_USE_WORDS))}.", " ".join(_filler(_STRIKE_WORDS))
    facts = [
        {"id": value["id"], "strike": None, "holder": "self", "said": value["text"], "use": use}
        if value["id"] in kept
        else {"id": value["id"], "strike": why, "holder": "", "said": "", "use": ""}
        for value in known["values"]
    ]
    decisions = [f"{first} {' '.join(_filler(_REASON_WORDS - 1))}." for first in ("Whether", "How")]
    free, kind = known["free"][:1], known["kinds"][0]
    more = [{"id": name, "kind": kind, "holder": "self", "said": _name(500), "use": use} for name in free]
    return {"facts": facts, "situation": f"{' '.join(_filler(_SITUATION_WORDS))}.", "more": more, "decisions": decisions}


def _ledger(values: Sequence[Mapping[str, str]], deciding: int) -> list[dict[str, Any]]:
    change, nothing = {"change": f"{' '.join(_filler(_CHANGE_WORDS))}.", "weight": MAIN}, {"change": None, "weight": NOTHING}
    return [
        {"id": value["id"], "swapped_for": _name(400 + place), **(change if place == deciding % len(values) else nothing)}
        for place, value in enumerate(values)
    ]


def _judgement(fact: Mapping[str, Any], *, score: int = 0, **more: str) -> dict[str, Any]:
    return {"id": fact["id"], "reason": f"{' '.join(_filler(_REASON_WORDS))}.", **more, "score": score}


def _of_schema(part: JsonSchema, root: JsonSchema) -> Any:
    """Return a value that fits *part* of the schema *root*: a sentence for a string, one entry for a list."""
    if "$ref" in part:
        node: Any = root
        for step in str(part["$ref"]).removeprefix("#/").split("/"):
            node = node[step]
        return _of_schema(node, root)
    options = part.get("anyOf") or part.get("oneOf")
    if options:
        return _of_schema(options[0], root)
    kinds = part.get("type", "string")
    kind = kinds if isinstance(kinds, str) else kinds[0]
    if kind == "object":
        return {name: _of_schema(item, root) for name, item in part.get("properties", {}).items()}
    if kind == "array":
        return [_of_schema(part["items"], root)] if "items" in part else []
    plain = {"integer": 1, "number": 1, "boolean": True, "null": None}.get(kind, f"{' '.join(_filler(_REASON_WORDS))}.")
    return part["enum"][0] if "enum" in part else plain


def _looked_at(fact: Mapping[str, Any]) -> dict[str, Any]:
    return {"id": fact["id"], "without": f"{' '.join(_filler(_REASON_WORDS))}.", "needed": True}
