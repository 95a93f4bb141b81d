"""Compose an aside: fill a frame (sentence pattern) of the bank with values that do not matter."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from piiloom.corpus.marks import mark
from piiloom.foundation.words import count_words
from piiloom.generation.composer.filling import capitalised, fill, slot_name
from piiloom.generation.composer.qualifying import qualified
from piiloom.generation.composer.wording import TRIES, Band, draw_clear, expand_clear, in_band, marked_length, to_avoid
from piiloom.providers.errors import InvalidRequest
from piiloom.taxonomy.scenarios import Bank

Value = Mapping[str, str]
_AS_WRITTEN = frozenset({"code", "name"})


def compose_aside(
    bank: Bank,
    values: Sequence[Value],
    frame: int | None,
    others: Sequence[str],
    rng: random.Random,
    locale: str = "en_US",
    *,
    band: Band = (1, 45),
) -> str:
    """Fill *frame* (its index in *bank*) with *values*; None means a pattern that says for whom the text is posted.

    Small talk fills it up to *band*, (fewest, most) words. *others*: texts that the aside must not contain. Raises ``InvalidRequest``
    if there is no such frame, or if it does not take these values.
    """
    avoid = to_avoid(values, others)
    last = frame is not None and frame < len(bank.frames) and bank.frames[frame].last

    def draw() -> str:
        told = [_filled(bank, values, frame, avoid, rng, locale)]
        words = marked_length(told[0])
        for pattern in rng.sample(bank.talk.chatter, min(TRIES, len(bank.talk.chatter))) if words < band[0] else ():
            line = expand_clear(pattern, avoid, rng)
            if line is not None and words + count_words(line) <= band[1]:
                told.insert(0 if last else len(told), line)
                words += count_words(line)
            if words >= band[0]:
                break
        return " ".join(told)

    return in_band(draw, band)


def _filled(bank: Bank, values: Sequence[Value], frame: int | None, avoid: Sequence[str], rng: random.Random, locale: str) -> str:
    by_slot = {f"{slot_name(value['type'])}.{value['subtype']}": value for value in values}
    if frame is not None and not 0 <= frame < len(bank.frames):
        raise InvalidRequest("the bank has no such frame", remedy="Plan and compose with the same bank")
    patterns = bank.talk.second_hand if frame is None else (bank.frames[frame].text,)
    text = draw_clear(patterns, avoid, rng)
    try:
        filled = fill(text, {slot: value["text"] for slot, value in by_slot.items()}, lambda slot, v: mark(by_slot[slot]["id"], v), locale)
    except KeyError as error:
        raise InvalidRequest("the frame does not take these values", remedy="Plan and compose with the same bank") from error
    filled = qualified(filled, values, bank.talk, rng)
    return capitalised(filled, value_too=not _begins_as_written(filled, values))


def _begins_as_written(sentence: str, values: Sequence[Value]) -> bool:
    """Whether *sentence* begins with a value whose case must be kept, such as an identifier or a user name."""
    return any(sentence.startswith(f"[[{value['id']}|") and value["type"] in _AS_WRITTEN for value in values)
