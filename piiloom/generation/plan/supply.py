"""The stories, texts and questions on which a request to the composer can draw, and how often each story would be told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from piiloom.foundation.errors import UsageError
from piiloom.foundation.seeding import derive_rng
from piiloom.foundation.words import counted
from piiloom.generation.plan.planning import pair_order, texts_planned, triplets_needed, without_pii
from piiloom.generation.settings.configuration import RunConfig
from piiloom.generation.stages.topics import Distinct
from piiloom.taxonomy.telling_plan import plan_of


@dataclass(frozen=True, slots=True, kw_only=True)
class DroppedTriplet:
    """A triplet that repeats an earlier one of its pair; ``code`` says in which way."""

    topic: str
    subtopic: str
    code: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PairTriplets:
    """The distinct (topic, subtopic) of a pair in order, as far as known.

    ``missing``: topics whose subtopics must be known before more can be listed. ``complete``: there are no more to be found.
    """

    found: tuple[tuple[str, str], ...]
    dropped: tuple[DroppedTriplet, ...]
    missing: tuple[str, ...]
    complete: bool


def topic_order(topics: Sequence[str], seed: int, pair: tuple[str, str]) -> list[str]:
    """Shuffle the topics of *pair* by *seed*, so that small sets of different seeds differ."""
    ordered = list(topics)
    derive_rng("topic order", seed, pair).shuffle(ordered)
    return ordered


def list_triplets(topics: Sequence[str], subtopics: Mapping[str, Sequence[str]], wanted: int) -> PairTriplets:
    """List up to *wanted* distinct triplets over *topics* (in order); *subtopics* may lack topics not yet asked about.

    A topic that was asked about and given up has an empty list.
    """
    seen = Distinct()
    found: list[tuple[str, str]] = []
    dropped: list[DroppedTriplet] = []
    longest = max((len(entries) for entries in subtopics.values()), default=0)
    for place in range(max(1, longest)):
        for position, topic in enumerate(topics):
            if len(found) == wanted:
                return PairTriplets(found=tuple(found), dropped=tuple(dropped), missing=(), complete=False)
            if topic not in subtopics:
                # Everything this round may still need, so that it can be asked for at once.
                still = [t for t in topics[position:] if t not in subtopics][: wanted - len(found)]
                return PairTriplets(found=tuple(found), dropped=tuple(dropped), missing=tuple(still), complete=False)
            if place >= len(subtopics[topic]):
                continue
            subtopic = subtopics[topic][place]
            code = seen.add(f"{topic} {subtopic}")
            if code is None:
                found.append((topic, subtopic))
            else:
                dropped.append(DroppedTriplet(topic=topic, subtopic=subtopic, code=code))
    return PairTriplets(found=tuple(found), dropped=tuple(dropped), missing=(), complete=True)


MOST_RECORDS = 50  # of a story; more repeat its sentences


@dataclass(frozen=True, slots=True, kw_only=True)
class Supply:
    """The number of stories (or scenarios), their questions, and the texts to be made of them.

    ``wordings``: those of the questions. ``plain``: stories without personal data besides. ``most``: the records of the most used story.
    """

    noun: str
    stories: int
    questions: int
    wordings: int
    plain: int
    texts: int
    most: int

    def __str__(self) -> str:
        asked = f"{counted(self.questions, 'question')} in {counted(self.wordings, 'wording')}"
        stories = f"{counted(self.texts, 'text')} from {counted(self.stories, self.noun)} with {asked}"
        plain = f", and {counted(self.plain, 'story')} without personal data" if self.plain else ""
        return f"{stories}{plain}, at most {counted(self.most, 'record')} of a {self.noun}"


def supply_of(config: RunConfig) -> Supply | None:
    """Return the supply of the pairs that the texts of the run *config* come to; None if a model writes them."""
    if config.provider != "composer":
        return None
    pairs, texts = pair_order(config), texts_planned(config.samples, config)
    bank = config.stories() if config.recipe == "story" else None
    plain = len(bank.plain) if bank is not None and config.share_without_pii else 0
    without = without_pii(texts, config)[1] if plain else 0
    needed = [count for place in range(len(pairs)) if (count := triplets_needed(texts - without, len(pairs), place))]
    pairs = pairs[: len(needed)]  # the files of others need not be read
    if bank is not None:
        told = list(map(bank.for_pair, pairs))
        numbers = [len(found) for found in told]
        asked = [story.questions[place].wordings for found in told for story in found for place in plan_of(story).askable]
    else:
        scenarios = list(map(config.composed_from().for_pair, pairs))
        numbers = [len(found) for found in scenarios]
        asked = [wordings for found in scenarios for one in found for wordings in one.questions.values()]
    most = max(-(-told // number) for told, number in zip((*needed, without), (*numbers, plain), strict=True) if number)
    return Supply(
        noun="scenario" if bank is None else "story",
        stories=sum(numbers),
        questions=len(asked),
        wordings=sum(map(len, asked)),
        plain=plain,
        texts=texts,
        most=min(most * config.records_per_text, config.samples),
    )


def check_supply(config: RunConfig) -> None:
    """Raise ``UsageError`` if the run would tell a story too often, unless that is asked for."""
    if config.samples <= MOST_RECORDS or config.repeat_stories or config.provider != "composer" or config.recipe != "story":
        return
    supply = supply_of(config)
    if supply is not None and supply.most > MOST_RECORDS:
        enough = config.samples * MOST_RECORDS // supply.most
        raise UsageError(
            f"the stories are too few: {supply}; above {MOST_RECORDS} their sentences repeat too often",
            where=f"--samples {config.samples}",
            remedy=f"Ask for about {enough:,} records, allow more --pairs, types or kinds, write stories of your own (docs/stories.md), "
            "name a model with --provider, or go on with --repeat-stories",
        )
