"""A stand-in for a model: answers every stage's prompt as a willing author would, reading nothing but the prompt.

``Author()`` is what ``LLMServer`` takes as its ``answer``. An answer depends on the author's seed and the prompt only, so
two runs that send the same prompts get the same replies, in any order and from any process. With *rates* the author
misbehaves at times (``tests.fakes.llm_tricks``); ``done`` counts what it did.
"""

from __future__ import annotations

import random
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from corpus.marks import MARK, mark, strip_marks
from foundation.seeding import derive_rng
from foundation.words import content_words, count_words
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
SITUATIONS = (
    "I am torn, since {0} and {1} both weigh on what I do about the {a} {n}",
    "My {n} is in pieces and between {0} and {1} I cannot tell which {a} {m} to mend",
    "Last week {0} was all I thought of until {1} came up and my {a} {n} gave way",
    "With {0} on one side and {1} on the other, I froze over a {a} {n}",
)
ASIDES = (
    "Oddly enough I mention {0} whenever the {a} {n} comes up",
    "My one other thought was {0} on the day the {a} {n} broke",
    "I once wrote down {0} on the back of a {a} {n}",
)
QUESTIONS = (
    "What should I do first about the {a} {n}, and what can wait?",
    "Would you fix the {a} {n} before I say anything, or leave it?",
    "Is it wise that I give up on the {n} now, or is there another way?",
    "How would you go about this {a} {n} if you were in my place?",
    "Who has dealt with such a {n} before, and what should I expect?",
)
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
        for trick in TRICKS[name]:
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
    return pattern.format(*values, a=rng.choice(ADJECTIVES), n=rng.choice(NOUNS), m=rng.choice(NOUNS))


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


def _sentence(patterns: tuple[str, ...]) -> Callable[[str, random.Random], dict[str, Any]]:
    def write(prompt: str, rng: random.Random) -> dict[str, Any]:
        marks = [mark(*m) for m in re.findall(rf"^- {MARK.pattern}", prompt, re.MULTILINE)]
        low, high = (int(_found(pattern, prompt)) for pattern in (r"(\d+) to \d+ words", r"\d+ to (\d+) words"))
        values = marks if len(patterns) > 3 else [" and ".join(marks)]
        text = _phrase(rng.choice(patterns), rng, *values)
        wanted = rng.randint(low, max(low, high - 4))
        while count_words(strip_marks(text).text) < wanted:
            text += " " + _phrase(rng.choice(PLACES), rng)
        return {"text": f"{text}."}

    return write


def _question(prompt: str, rng: random.Random) -> dict[str, Any]:
    banned = set().union(*(content_words(line) for line in prompt.splitlines() if line.startswith("- ")))
    while True:
        text = _phrase(rng.choice(QUESTIONS), rng)
        if not banned & content_words(text):
            return {"question": text}


def _post(prompt: str, rng: random.Random) -> dict[str, Any]:
    """The sentences in another order, the wanted value first: where another stands before it, it moves to the front."""
    head, _, task = prompt.partition("\n\nWrite one coherent post")
    sentences = [line[2:] for line in head.splitlines() if line.startswith("- ")]
    first = _found(r"the value \[\[(v\d+)\|", task)
    rng.shuffle(sentences)
    sentences.sort(key=lambda sentence: f"[[{first}|" not in sentence)
    opening = next(found for found in MARK.finditer(sentences[0]))
    if opening.group(1) != first:
        moved = next(found for found in MARK.finditer(sentences[0]) if found.group(1) == first)
        rest = sentences[0][: moved.start()] + "that" + sentences[0][moved.end() :]
        sentences[0] = f"Because of {moved.group()}, here goes: {rest}"
    return {"text": " ".join(sentences)}


def _span(prompt: str, _: random.Random) -> dict[str, Any]:
    """The fact's words, or the synonym that the tricks put there."""
    fact = _found(r"^Fact: (.*) \([^()]*\)$", prompt)
    text = prompt.partition("\nText:\n")[2]
    return {"span": next((words for words in (fact, synonym(fact)) if words in text), None)}


WRITERS: dict[str, Callable[[str, random.Random], dict[str, Any]]] = {
    "topics": _list("topics"),
    "subtopics": _list("subtopics"),
    "pii_value": _value,
    "situation": _sentence(SITUATIONS),
    "peripheral": _sentence(ASIDES),
    "question_draft": _question,
    "question_personal": _question,
    "question_abstracted": _question,
    "paraphrase": _post,
    "span_retrieval": _span,
}
