"""A stand-in for a model: answers every stage's prompt as a willing author would, reading nothing but the prompt.

``Author()`` is what ``LLMServer`` takes as its ``answer``. An answer depends on the author's seed and the prompt only, so
two runs that send the same prompts get the same replies, in any order and from any process. With *rates* the author
misbehaves at times (``tests.fakes.llm_tricks``); ``done`` counts what it did.
"""

from __future__ import annotations

import json
import random
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from piiloom.corpus.alignment import MARK, mark, strip_marks
from piiloom.foundation.seeding import derive_rng
from piiloom.foundation.words import content_words, count_words
from tests.fakes.llm_tricks import TRICKS, play_trick, synonym
from tests.fakes.llm_wire import Request

# Words that no value and no type of the taxonomy holds.
ADJECTIVES = (
    "wobbly brittle muddy squeaky crooked dented soggy creaky rusted cracked tangled frayed lopsided mossy chipped drafty smoky "
    "slippery battered faded leaky musty patched rattling scuffed splintered stubborn tilted warped worn"
).split()
NOUNS = (
    "lantern kettle gutter ladder hinge trellis bucket gate shutter drawer radiator mailbox doorbell umbrella blanket thermostat "
    "toaster hammock faucet banister chimney pantry skylight sprinkler wheelbarrow workbench birdhouse compost lampshade curtain "
    "staircase porch shelf cupboard gravel hedge puddle rope rug teapot"
).split()
PLACES = ("beside the {a} {n}", "under the {a} {n}", "behind that {a} {n}", "with the {a} {n}", "and the {a} {n}", "near this {a} {n}")
# By how many values a sentence holds.
SITUATIONS = {
    0: (
        "I am torn over what I do about the {a} {x} {n}",
        "My {x} {n} is in pieces and I cannot tell which {a} {m} to mend",
        "Last week the {x} {n} was all I thought of until my {a} {m} gave way",
    ),
    1: (
        "I am torn, since {0} weighs on what I do about the {a} {n}",
        "My {n} is in pieces and with {0} I cannot tell which {a} {m} to mend",
        "Last week {0} was all I thought of until my {a} {n} gave way",
    ),
    2: (
        "I am torn, since {0} and {1} both weigh on what I do about the {a} {n}",
        "My {n} is in pieces and between {0} and {1} I cannot tell which {a} {m} to mend",
        "Last week {0} was all I thought of until {1} came up and my {a} {n} gave way",
        "With {0} on one side and {1} on the other, I froze over a {a} {n}",
    ),
}
ASIDES = (
    "Oddly enough I mention {0} whenever the {a} {n} comes up",
    "My one other thought was {0} on the day the {a} {n} broke",
    "I once wrote down {0} on the back of a {a} {n}",
)
OPENINGS = (
    "I am writing this on behalf of {0}, who stands by the {a} {n}",
    "This comes from {0}, word for word, with a {a} {n} and all",
)
# By what a question may give away. The word of no language keeps any two questions apart.
QUESTIONS = {
    "neutral": (
        "What comes first about the {a} {x} {n}, the {m} or something {b}, and what can wait?",
        "Who has dealt with such a {a} {x} {n} and {b} {m} before, and how did it end?",
        "How would you go about this {a} {x} {n} when a {b} {m} stands in its way?",
    ),
    "personal": (
        "What should I do first about the {a} {x} {n}, and can my {b} {m} wait?",
        "Would you fix the {a} {x} {n} before I say anything of the {b} {m}, or leave it?",
        "Is it wise that I give up on the {a} {x} {n} now, or is the {b} {m} my way out?",
        "How would you go about this {a} {x} {n} with a {b} {m} if you were in my place?",
    ),
}
# What the prompt says of a question that must not speak of its writer.
NOT_LET_ON = "must not let on"
# What every template says before the fault of the reply before.
FAULT_TOLD = "could not be used:"
SYLLABLES = "bra vel mo rin tas kel du fen lor ip sna wex gom tul pra zet".split()


class Author:
    """Writes replies; *rates* says how often which trick of ``llm_tricks`` is played (a name, or ``schema/name``).

    For the schemas in *all_tricks* it first plays each trick once, always on a first attempt, in whatever order the
    prompts come; then *rates* apply.
    """

    def __init__(self, seed: int = 0, rates: Mapping[str, float] | None = None, *, all_tricks: Iterable[str] = ()) -> None:
        self.seed, self.rates = seed, dict(rates or {})
        self._unplayed = {name: TRICKS[name] for name in all_tricks}
        self.done: Counter[tuple[str, str]] = Counter()
        self._lock = threading.Lock()

    def __call__(self, request: Request) -> Mapping[str, Any]:
        name = request.schema_name
        rng = derive_rng("author", self.seed, name, request.user)
        data = WRITERS[name](request.user, rng)
        with self._lock:
            for trick in (*self._next(request), self._drawn(name, rng)):
                spoilt = play_trick(trick, name, data, request.user, rng) if trick else data
                if trick and spoilt != data:
                    self.done[name, trick] += 1
                    return spoilt
        return data

    def _next(self, request: Request) -> list[str]:
        """The tricks still to be played on a first attempt."""
        tricks = () if FAULT_TOLD in request.user else self._unplayed.get(request.schema_name, ())
        return [trick for trick in tricks if not self.done[request.schema_name, trick]]

    def _drawn(self, name: str, rng: random.Random) -> str | None:
        point = rng.random()
        for trick in TRICKS.get(name, ()):
            share = self.rates.get(f"{name}/{trick}", self.rates.get(trick, 0.0))
            if point < share:
                return trick
            point -= share
        return None


def _found(pattern: str, prompt: str) -> str:
    match = re.search(pattern, prompt, re.MULTILINE)
    if match is None:
        raise AssertionError(f"the prompt has no {pattern}")
    return match.group(1)


def _phrase(pattern: str, rng: random.Random, *values: str) -> str:
    """*pattern* with two adjectives, two nouns and a word of no language, all different."""
    (a, b), (n, m) = rng.sample(ADJECTIVES, 2), rng.sample(NOUNS, 2)
    return pattern.format(*values, a=a, b=b, n=n, m=m, x=_invented(rng))


def _invented(rng: random.Random) -> str:
    return "".join(rng.sample(SYLLABLES, 3))


def _list(key: str) -> Callable[[str, random.Random], dict[str, Any]]:
    def write(prompt: str, rng: random.Random) -> dict[str, Any]:
        count = int(_found(r"^List (\d+) ", prompt))
        return {key: [f"{rng.choice(ADJECTIVES)} {noun} {_invented(rng)}" for noun in rng.sample(NOUNS, min(count, len(NOUNS)))]}

    return write


def _value(prompt: str, rng: random.Random) -> dict[str, Any]:
    """A value shaped like one of the examples: other digits in it, or, where it has none, words of no language."""
    examples = _found(r"^It looks like: (.*)$", prompt).split("; ")
    example = rng.choice(examples).replace('"', "")
    if any(c.isdigit() for c in example):
        return {"value": re.sub(r"\d", lambda _: str(rng.randint(1, 9)), example)}
    words = [_invented(rng) for _ in range(min(2, count_words(example)))]
    return {"value": " ".join(w.capitalize() if example[0].isupper() else w for w in words)}


def _marks(prompt: str) -> list[str]:
    """The values that the prompt lists, marked."""
    return [mark(*m) for m in re.findall(rf"^- {MARK.pattern}", prompt, re.MULTILINE)]


def _lengthened(text: str, prompt: str, rng: random.Random) -> dict[str, Any]:
    """*text* with as many words as the prompt wants at least, or some more."""
    low, high = (int(_found(pattern, prompt)) for pattern in (r"(\d+) to \d+ words", r"\d+ to (\d+) words"))
    wanted = rng.randint(low, max(low, min(high - 4, low + 12)))
    while count_words(strip_marks(text).text) < wanted:
        text += " " + _phrase(rng.choice(PLACES), rng)
    return {"text": f"{text}."}


def _situation(prompt: str, rng: random.Random) -> dict[str, Any]:
    """Sentences with two values at most, in any order."""
    values = _marks(prompt)
    rng.shuffle(values)
    groups = [values[place : place + 2] for place in range(0, len(values), 2)] or [[]]
    told = [_phrase(rng.choice(SITUATIONS[len(group)]), rng, *group) for group in groups]
    assert len(told) <= int(_found(r"Write one to (\d+) sentences", prompt))
    return _lengthened(". ".join(told), prompt, rng)


def _aside(prompt: str, rng: random.Random) -> dict[str, Any]:
    patterns = OPENINGS if "on behalf of somebody" in prompt else ASIDES
    return _lengthened(_phrase(rng.choice(patterns), rng, " and ".join(_marks(prompt))), prompt, rng)


def _question(prompt: str, rng: random.Random) -> dict[str, Any]:
    banned = set().union(*(content_words(line) for line in prompt.splitlines() if line.startswith("- ")))
    patterns = QUESTIONS["neutral" if NOT_LET_ON in prompt else "personal"]
    while True:
        text = _phrase(rng.choice(patterns), rng)
        if not banned & content_words(text):
            return {"question": text}


def _post(prompt: str, rng: random.Random) -> dict[str, Any]:
    """The sentences in another order, the wanted value first: where another stands before it, it moves to the front."""
    head, _, task = prompt.partition("\n\nWrite one coherent text")
    sentences = [line[2:] for line in head.splitlines() if line.startswith("- ")]
    rng.shuffle(sentences)
    wanted = re.search(r"the value \[\[(v\d+)\|", task)
    if wanted is not None:
        sentences.sort(key=lambda sentence: f"[[{wanted[1]}|" not in sentence)
        sentences[0] = _led(sentences[0], wanted[1])
    return {"text": " ".join(sentences)}


def _led(sentence: str, first: str) -> str:
    """*sentence* with the value *first* before all others."""
    found = list(MARK.finditer(sentence))
    if found[0].group(1) == first:
        return sentence
    moved = next(later for later in found if later.group(1) == first)
    return f"Because of {moved.group()}, here goes: {sentence[: moved.start()]}that{sentence[moved.end() :]}"


def _span(prompt: str, _: random.Random) -> dict[str, Any]:
    """The fact's words, or the synonym that the tricks put there."""
    fact = _found(r"^Fact: (.*) \([^()]*\)$", prompt)
    text = prompt.partition("\nText:\n")[2]
    return {"span": next((words for words in (fact, synonym(fact)) if words in text), None)}


def _judged(prompt: str, rng: random.Random) -> dict[str, Any]:
    """A grade for each fact of the list, drawn; with a place where the list says which facts are masked."""
    shown, _ = json.JSONDecoder().raw_decode(prompt)
    entries = []
    for fact in shown["facts"]:
        score = rng.randint(0, 4)
        places = ("question", "sentence") if fact.get("masked") else ("question",)
        where = {"where": rng.choice(places) if score else "nowhere"} if "masked" in fact else {}
        entries.append({"id": fact["id"], "reason": f"It is about the {_phrase('{a} {n}', rng)}.", **where, "score": score})
    return {"judgements": entries}


# Facts as the prompts of the recipe ``case`` list them: "- v1: asthma (health …".
_FACT = re.compile(r"^- (v\d+): (.*?) \(", re.MULTILINE)


def _sheet(prompt: str, rng: random.Random) -> dict[str, Any]:
    """A use for each fact, for as many as may be kept, and two decisions."""
    names = [name for name, _ in _FACT.findall(prompt)]
    decisions = [_phrase(f"{asked} about the {{a}} {{n}}", rng) for asked in ("what to do", "whom to tell")]
    if not names:
        return {"facts": [], "situation": _phrase("There is a {a} {n} in the way.", rng), "more": [], "decisions": decisions}
    starred = re.findall(r"^- (v\d+): .* \*\)$", prompt, re.MULTILINE)
    plain = [name for name in names if name not in starred]
    most = int(_found(r"^Keep \d+ to (\d+) of", prompt))
    kept = {*plain[:most], *(starred[: int(_found(r"and besides \d+ to (\d+) of", prompt))] if starred else ())}
    facts: list[dict[str, Any]] = [
        {"id": name, "strike": None, "holder": "self", "said": "", "use": _phrase("it goes with the {a} {n}", rng)}
        if name in kept
        else {"id": name, "strike": _phrase("no {n} comes up", rng), "holder": "", "said": "", "use": ""}
        for name in names
    ]
    free = _found(r"Its ids: (v\d+),", prompt)
    use = _phrase("it goes with the {b} {m}", rng)
    more = [{"id": free, "kind": "relationship", "holder": "self", "said": _invented(rng), "use": use}] if rng.random() < 0.5 else []
    return {"facts": facts, "situation": _phrase("There is a {a} {n} in the way of a {b} {m}.", rng), "more": more, "decisions": decisions}


def _ledger(prompt: str, rng: random.Random) -> dict[str, Any]:
    """Questions of which each turns on a fact of its own, and every other one names it."""
    facts = dict(_FACT.findall(prompt))
    names = list(facts)
    rng.shuffle(names)
    wanted = int(_found(r"^Give (\d+) question", prompt))
    decisions = len(re.findall(r"^\d+\. ", prompt, re.MULTILINE))
    questions = []
    for number, deciding in enumerate(names[:wanted] or [None] * wanted):
        lines = [
            {"id": name, "swapped_for": _invented(rng), "change": _phrase("mend the {n} first", rng), "weight": "main advice"}
            if name == deciding
            else {"id": name, "swapped_for": _invented(rng), "change": None, "weight": "nothing"}
            for name, _ in _FACT.findall(prompt)
        ]
        asked = _phrase(rng.choice(QUESTIONS["personal"]), rng)
        if deciding and number % 2:
            asked = f"{asked.rstrip('?')} with {facts[deciding]}?"
        questions.append({"decision": number % decisions + 1, "question": asked, "ledger": lines})
    return {"questions": questions}


def _whole_post(prompt: str, rng: random.Random) -> dict[str, Any]:
    """Sentences with two values at most, as many words as are wanted."""
    values = _marks(prompt)
    groups = [values[place : place + 2] for place in range(0, len(values), 2)]
    told = [_phrase(rng.choice(SITUATIONS[len(group)]), rng, *group) for group in groups]
    text = ". ".join(told) or _phrase("I have a {n}", rng)
    low = int(_found(r"\((\d+) to \d+\)", prompt))
    while count_words(strip_marks(text).text) < low:
        text += " " + _phrase(rng.choice(PLACES), rng)
    return {"text": f"{text}."}


def _without_values(prompt: str, rng: random.Random) -> dict[str, Any]:
    """A text of nobody with a look-alike, and as many questions as are wanted."""
    low, text = int(_found(r"(\d+) to \d+ words", prompt)), f"Order {rng.randrange(10**6):06}"
    order = text
    while count_words(text) < low:
        text += " " + _phrase(rng.choice(PLACES), rng)
    asked = [_phrase("Should the {a} {n} go before the {b} {m}?", rng) for _ in range(int(_found(r"Questions: (\d+)", prompt)))]
    return {"text": f"{text}.", "questions": asked, "lookalikes": [{"kind": "order_number", "text": order}]}


def _nothing_missed(prompt: str, rng: random.Random) -> dict[str, Any]:
    stretches = re.findall(r"^\d+\. ", prompt.partition("The same in stretches:")[2], re.MULTILINE)
    return {"tells": [_phrase("it is about the {n}", rng) for _ in stretches], "missed": []}


def _looked_closer(prompt: str, rng: random.Random) -> dict[str, Any]:
    """What an answer would lack without each fact of the list, and whether it is needed, drawn."""
    shown, _ = json.JSONDecoder().raw_decode(prompt)
    return {
        "facts": [
            {"id": fact["id"], "without": f"It lacks the {_phrase('{a} {n}', rng)}.", "needed": rng.random() < 0.5}
            for fact in shown["facts"]
        ]
    }


def _more_lines(prompt: str, rng: random.Random) -> dict[str, Any]:
    questions = len(re.findall(r"^Question \d+:", prompt, re.MULTILINE))
    names = [name for name, _ in _FACT.findall(prompt)]
    return {
        "lines": [
            {"question": number, "id": name, "swapped_for": _invented(rng), "change": None, "weight": "nothing"}
            for number in range(1, questions + 1)
            for name in names
        ]
    }


WRITERS: dict[str, Callable[[str, random.Random], dict[str, Any]]] = {
    "topics": _list("topics"),
    "subtopics": _list("subtopics"),
    "pii_value": _value,
    "value_in_text": _value,
    "situation": _situation,
    "peripheral": _aside,
    "question_draft": _question,
    "question_personal": _question,
    "question_abstracted": _question,
    "paraphrase": _post,
    "span_retrieval": _span,
    "judge_relevance": _judged,
    "judge_leak": _judged,
    "case_sheet": _sheet,
    "case_questions": _ledger,
    "case_post": _whole_post,
    "case_plain": _without_values,
    "case_question": _question,
    "case_audit": _nothing_missed,
    "case_ledger": _more_lines,
    "case_closer_look": _looked_closer,
}
