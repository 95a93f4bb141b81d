"""How a model misbehaves: each trick spoils a good reply in one way that real models show."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping
from typing import Any

from piiloom.corpus.alignment import MARK, mark, strip_marks
from piiloom.foundation.seeding import derive_rng

Trick = Callable[[str, str, random.Random], str]
VOWELS = "aeiou"
CONSONANTS = "bdfgklmnprstvz"


def synonym(value: str) -> str:
    """Other words for *value*, always the same: two words of no language, so that nothing takes them for a misspelling."""
    rng = derive_rng("synonym", value)
    return " ".join("".join(rng.choice(CONSONANTS) + rng.choice(VOWELS) for _ in range(4)) for _ in range(2))


def _one_mark(change: Callable[[str, str, random.Random], str]) -> Trick:
    """Changes one mark: *change* gets its id and surface."""

    def trick(text: str, _: str, rng: random.Random) -> str:
        marks = list(MARK.finditer(text))
        if not marks:
            return text
        chosen = rng.choice(marks)
        return text[: chosen.start()] + change(chosen.group(1), chosen.group(2), rng) + text[chosen.end() :]

    return trick


def _other_case(name: str, surface: str, rng: random.Random) -> str:
    return mark(name, rng.choice([surface.upper(), surface.swapcase(), surface.capitalize()]))


def _broken(name: str, surface: str, rng: random.Random) -> str:
    return rng.choice([f"[[{name} {surface}]]", f"[[{name}|{surface}]", f"[{name}|{surface}]]", f"[[{name}: {surface}"])


def _duplicate(text: str, _: str, rng: random.Random) -> str:
    marks = list(MARK.finditer(text))
    if not marks:
        return text
    chosen = rng.choice(marks)
    return f"{text.rstrip('.')}, yes {rng.choice([chosen.group(), chosen.group(2)])}."


def _meta(text: str, _: str, rng: random.Random) -> str:
    opening = rng.choice(["As an AI language model, I", "Here is the rewritten text:"])
    return f"{opening} {text.split(' ', 1)[-1]}"


def _leak(text: str, prompt: str, rng: random.Random) -> str:
    """The question with a value of the post, where the prompt lists any."""
    values = re.findall(r"^- (.*) \([^()]*\)$", prompt, re.MULTILINE)
    return f"Given {rng.choice(values)}, {text}" if values else text


def _type_word(text: str, prompt: str, rng: random.Random) -> str:
    types = re.findall(r"^- .* \(([^(),]*)\)$", prompt, re.MULTILINE)
    return f"Leaving my {rng.choice(types)} aside, {text}" if types else text


MARKED: dict[str, Trick] = {
    "case": _one_mark(_other_case),
    "synonym": _one_mark(lambda name, surface, _: mark(name, synonym(surface))),
    "dropped": _one_mark(lambda *_: "it"),
    "duplicated": _duplicate,
    "marks_lost": lambda text, _, rng: strip_marks(text).text,
    "marks_broken": _one_mark(_broken),
    "inside_word": _one_mark(lambda name, surface, _: f"pre{surface}ish"),
    "short": lambda text, *_: " ".join(MARK.findall(text)[0]) if MARK.search(text) else "No.",
    "long": lambda text, *_: text + " and so it goes on and on" * 400,
    "meta": _meta,
}
QUESTION: dict[str, Trick] = {
    "leak": _leak,
    "type_word": _type_word,
    "no_question": lambda text, *_: text.replace("?", "."),
    "long": lambda text, *_: f"{' '.join(['Now really'] * 40)}, {text}",
    "meta": _meta,
}
VALUE: dict[str, Trick] = {
    "quoted": lambda text, *_: f'"{text}"',
    "long": lambda text, *_: " ".join([text] * 9),
    "taken": lambda text, prompt, _: next(iter(re.findall(r"nor overlap with: ([^;\n]*)", prompt)), text),
}
LIST: dict[str, Callable[[list[str]], list[str]]] = {
    "empty": lambda entries: [],
    "repeats": lambda entries: [entries[0], *entries[:-1], entries[0].title()],
    "long": lambda entries: [f"{entries[0]} and all that", *entries[1:]],
}
SPAN: dict[str, Trick] = {
    "not_in_text": lambda text, *_: f"{text} or so",
    "part_of_word": lambda text, *_: text[:-1],
}
Entries = list[dict[str, Any]]
JUDGED: dict[str, Callable[[Entries], Entries]] = {
    "one_unjudged": lambda entries: entries[1:],
    "one_judged_twice": lambda entries: [*entries, entries[0]],
    "stranger_judged": lambda entries: [{**entries[0], "id": "v1"}, *entries[1:]],
    "off_the_scale": lambda entries: [{**entries[0], "score": 7}, *entries[1:]],
    "no_reason": lambda entries: [*entries[:-1], {**entries[-1], "reason": " "}],
    "wordy_reason": lambda entries: [*entries[:-1], {**entries[-1], "reason": "and so it goes on " * 40}],
}
LEAKS = JUDGED | {"leak_nowhere": lambda entries: [{**entries[0], "score": 4, "where": "nowhere"}, *entries[1:]]}
_KINDS: Mapping[str, Mapping[str, Any]] = {
    "text": MARKED,
    "question": QUESTION,
    "value": VALUE,
    "topics": LIST,
    "subtopics": LIST,
    "span": SPAN,
    "judgements": JUDGED,
}
_KEYS = {
    "topics": "topics",
    "subtopics": "subtopics",
    "pii_value": "value",
    "value_in_text": "value",
    "situation": "text",
    "peripheral": "text",
    "question_draft": "question",
    "question_personal": "question",
    "question_abstracted": "question",
    "paraphrase": "text",
    "span_retrieval": "span",
    "judge_relevance": "judgements",
    "judge_leak": "judgements",
}


def _tricks_on(schema: str) -> Mapping[str, Any]:
    return LEAKS if schema == "judge_leak" else _KINDS[_KEYS[schema]]


# What can go wrong with the reply to each schema.
TRICKS: dict[str, tuple[str, ...]] = {schema: ("wrong_keys", *_tricks_on(schema)) for schema in _KEYS}


def play_trick(trick: str, schema: str, data: Mapping[str, Any], prompt: str, rng: random.Random) -> Mapping[str, Any]:
    """*data* spoilt by *trick*; unchanged where there is nothing to spoil."""
    key = _KEYS[schema]
    if trick == "wrong_keys":
        return {f"the_{key}": data[key]}
    if isinstance(data[key], list):
        return {key: _tricks_on(schema)[trick](data[key])}
    return data if data[key] is None else {key: _tricks_on(schema)[trick](data[key], prompt, rng)}
