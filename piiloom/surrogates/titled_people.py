"""General tags after the same title are one person: a note says "Mr. [NAME]" at each mention of its patient, a judgment "mevrouw [naam]".

General tags without a number are somebody new at each mention. Where a text has two of one title in a sentence ("Mr. [NAME] told Mr.
[NAME]"), nothing is known of that title's other mentions, and all stay somebody new.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from piiloom.surrogates.mentions import Mention
from piiloom.surrogates.persona_assignment.groups import Cues, title_before
from piiloom.surrogates.side_by_side import OWN_INDEX
from piiloom.surrogates.writers import is_anybody

_SENTENCE_ENDS: Final = (". ", "! ", "? ", "\n", ".\t")


def told_by_titles(text: str, mentions: Sequence[Mention], cues: Cues | None) -> Sequence[Mention]:
    """Return *mentions* with those after one title as one person; the same object if no title stands before two of them."""
    if cues is None:
        return mentions
    titled: dict[str, list[int]] = {}
    for number, mention in enumerate(mentions):
        if mention[2] == "person" and is_anybody(mention) and not mention[9]:
            title = title_before(text, mention[0], cues)
            if title and title not in cues.professions:
                titled.setdefault(title, []).append(number)
    out: list[Mention] | None = None
    for numbers in titled.values():
        if len(numbers) < 2 or _meet(text, mentions, numbers):
            continue
        out = out or list(mentions)
        for number in numbers:
            out[number] = out[number]._replace(index=f"{OWN_INDEX}{numbers[0]}", same="document")
    return mentions if out is None else out


def _meet(text: str, mentions: Sequence[Mention], numbers: Sequence[int]) -> bool:
    """Whether two of the mentions stand in one sentence."""
    for one, two in pairwise(numbers):
        words = text[mentions[one].end : mentions[two].start].rsplit(maxsplit=1)  # without the title, whose full stop ends no sentence
        if len(words) < 2 or not any(sign in f"{words[0]} " for sign in _SENTENCE_ENDS):
            return True
    return False
