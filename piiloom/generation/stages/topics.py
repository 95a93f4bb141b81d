"""Stage 1: what people would post about so that both types of a pair matter.

In: a pair of PII types. Out: up to ``topics_per_pair`` topics of one to three words. Runs once a pair, not once an item.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from rapidfuzz import fuzz, process

from piiloom.foundation.words import count_words
from piiloom.generation.stage import Fault, PromptRequest, StageContext, ask, list_schema
from piiloom.taxonomy.entity_types import Pair

# Token-sorted similarity (0-100, rapidfuzz) from which two short phrases count as one; "night shift" and "night shifts"
# score 96, "school fees" and "school trips" 64, "location" and "relocation" 89.
NEAR_DUPLICATE = 90.0


@dataclass(frozen=True, slots=True, kw_only=True)
class DroppedPhrase:
    """A listed phrase that was not kept; ``code`` says why."""

    phrase: str
    code: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PhraseList:
    """Accepted phrases in their order, and the dropped ones."""

    kept: tuple[str, ...]
    dropped: tuple[DroppedPhrase, ...] = ()


def normalised(phrase: str) -> str:
    """Normalize *phrase* for comparison: lower case, words only, single spaces."""
    return " ".join(re.findall(r"\w+", phrase.casefold()))


class Distinct:
    """A set of phrases that detects repetitions; phrases like a *banned* one count as repetitions, too."""

    def __init__(self, banned: Iterable[str] = ()) -> None:
        self._exact: set[str] = set()
        self._normalised: list[str] = [normalised(phrase) for phrase in banned]

    def add(self, phrase: str) -> str | None:
        """Add *phrase* and return None; if it repeats an earlier one, return how: duplicate_exact, _normalised or _near."""
        if phrase in self._exact:
            return "duplicate_exact"
        folded = normalised(phrase)
        if folded in self._normalised:
            return "duplicate_normalised"
        if process.extractOne(folded, self._normalised, scorer=fuzz.token_sort_ratio, score_cutoff=NEAR_DUPLICATE):
            return "duplicate_near"
        self._exact.add(phrase)
        self._normalised.append(folded)
        return None


def clean_list(entries: Sequence[str], *, at_most: int, banned: Iterable[str] = (), words: tuple[int, int] = (1, 3)) -> PhraseList:
    """Keep the first *at_most* valid entries: *words* (fewest, most) long, no repetition and not *banned*. Drop the rest with a code."""
    seen = Distinct(banned)
    kept: list[str] = []
    dropped: list[DroppedPhrase] = []
    for entry in entries:
        phrase = " ".join(entry.split())
        if not words[0] <= count_words(phrase) <= words[1]:
            code: str | None = "wrong_length"
        elif len(kept) == at_most:
            code = "too_many"
        else:
            code = seen.add(phrase)
        if code is None:
            kept.append(phrase)
        else:
            dropped.append(DroppedPhrase(phrase=phrase, code=code))
    return PhraseList(kept=tuple(kept), dropped=tuple(dropped))


NAME = "topics"
TEMPLATES: tuple[str, ...] = ("topics",)


def pair_key(pair: Pair) -> str:
    """Return the key of a pair in the store: ``age+health``."""
    return "+".join(pair)


async def run(pair: Pair, ctx: StageContext) -> PhraseList:
    """Ask for the topics of *pair*; raises ``ItemRejected`` if no reply is usable."""
    count = ctx.config.topics_per_pair if ctx.stories is None else len(ctx.stories.for_pair(pair))  # each story is told
    return await list_phrases(NAME, pair, pair_key(pair), count, ctx, banned=pair)


async def list_phrases(
    name: str, pair: Pair, key: str, count: int, ctx: StageContext, *, banned: tuple[str, ...], **more: str
) -> PhraseList:
    """Ask for up to *count* phrases at the stage *name*; *more* are variables of its own. Raises ``ItemRejected`` if no reply is usable."""

    def accept(data: Any) -> PhraseList:
        if ctx.stories is not None:
            return PhraseList(kept=tuple(data[name]))
        phrases = clean_list(data[name], at_most=count, banned=banned)
        if not phrases.kept:
            raise Fault(f"no_{name}", f"none of the entries is a new {name.removesuffix('s')} of one to three words")
        return phrases

    known = {"count": count, "language": ctx.locale.language_name, "seed": ctx.config.seed}
    question = PromptRequest(
        stage=name,
        template=name,
        variables={"types": ctx.type_variables(pair), **more, **known},
        schema=list_schema(name),
        item_id=key,
    )
    phrases, _ = await ask(question, ctx, accept)
    return phrases
