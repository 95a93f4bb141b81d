"""Check before a run that it can write about its own entity types: that values can be drawn, and that texts exist for them."""

from __future__ import annotations

from collections.abc import Sequence

from piiloom.foundation.errors import UsageError
from piiloom.taxonomy.entity_types import Pair, Taxonomy
from piiloom.taxonomy.own_type_asides import types_for_asides
from piiloom.taxonomy.own_types import ALL_TYPES, OwnTypes
from piiloom.taxonomy.scenarios import Bank
from piiloom.taxonomy.story_bank import StoryBank

REMEDY = (
    "Add some to a bank file of your own and name it with --bank (docs/own-types.md shows one), take the pair out of the types "
    "file, choose other pairs with --pairs, or name a model with --provider"
)


def check_drawable(own: OwnTypes, provider: str) -> None:
    """Raise ``UsageError`` for types whose values only a model can give if *provider* is the composer."""
    asked = [one.name for one in own if one.asks_model()]
    if asked and provider == "composer":
        raise UsageError(
            f"the composer has no values of {', '.join(asked)}: they come from a model",
            where="--types",
            remedy="Give the type a lexicon or a pattern, or name another --provider",
        )


def check_writable(own: OwnTypes, taxonomy: Taxonomy, bank: Bank) -> None:
    """Raise ``UsageError`` if *bank* lacks a pair that the types file names, or has no sentence with one of the *own* types."""
    told = types_in_bank(bank)
    for one in own:
        named = one.pairs if one.pairs != ALL_TYPES else () if one.name in told else taxonomy.mates(one.name)
        pairs = [(min(one.name, mate), max(one.name, mate)) for mate in named]
        missing = ", ".join("+".join(pair) for pair in pairs if pair not in bank.pairs)
        if missing or one.name not in told:
            raise UsageError(
                f"the bank has no scenario of {missing}" if missing else f"the bank has no sentence that holds the type {one.name!r}",
                where="--types",
                remedy=REMEDY,
            )


def types_in_bank(bank: Bank) -> set[str]:
    """Return the names of the types of which *bank* has sentences."""
    told = {kind for scenario in bank.scenarios.values() for kind in (*scenario.pair, *scenario.also)}
    return told | {kind for frame in bank.frames for kind, _ in frame.slots}


def check_tellable(own: OwnTypes, taxonomy: Taxonomy, stories: StoryBank, asked: Sequence[Pair] | None) -> None:
    """Raise ``UsageError`` if *stories* lack a pair with one of the *own* types, or have no story with one of these types.

    *asked*: the pairs to check; None checks all pairs that the types file names.
    """
    told = stories.own_story_types | {one.name for one in types_for_asides(own, stories.own_story_types)}
    for one in own:
        if asked is not None:
            pairs = [pair for pair in asked if one.name in pair]
        else:
            named = one.pairs if one.pairs != ALL_TYPES else () if one.name in told else taxonomy.mates(one.name)
            pairs = [(min(one.name, mate), max(one.name, mate)) for mate in named]
        missing = ", ".join("+".join(pair) for pair in pairs if pair not in stories.pairs)
        if missing or (asked is None and one.name not in told):
            said = f"there is no story of {missing}" if missing else f"there is no story that holds the type {one.name!r}"
            raise UsageError(said, where="--types", remedy=REMEDY)
