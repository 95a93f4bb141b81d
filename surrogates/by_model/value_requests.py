"""What is asked for: one request for each value of a document that a model is to draw."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from piiloom.surrogates.by_model.kinds import BY_MODEL, has_latin_letters
from piiloom.surrogates.by_model.sentences import Sentence, sentence_of
from piiloom.surrogates.documents import Document
from piiloom.surrogates.fitting import ANY, VOWEL, genitive_follows, needed_sound
from piiloom.surrogates.kinds.registry import KINDS
from piiloom.surrogates.planning import NOBODY, PERSON, Plan
from piiloom.surrogates.seeds import mix, seed_of

_LETTERS: Final = 3
# How often English names and nouns begin with a letter, roughly; rare ones would lead to odd values.
_FIRST: Final = "AAABBBBCCCCDDDEEFFFGGGHHHIIJKLLLMMMMNNOOPPPPRRRSSSSSTTTUVW"
_VOWELS: Final = "AAAEEIIOO"


class ValueRequest(NamedTuple):
    """One value: ``numbers`` are the value numbers of the document's plan that share it; the sentence is that of the first mention.

    ``document`` is the place in the input, ``id`` the document's; ``start`` and ``end`` are the first mention's. ``sound`` is what
    an English article before it asks for, ``genitive``: an -s hangs on it. ``originals`` are what is known to have stood there.
    """

    document: int
    id: str
    numbers: tuple[int, ...]
    kind: str
    start: int
    end: int
    sentence: Sentence
    sound: int
    genitive: bool
    originals: tuple[str, ...]

    @property
    def item_id(self) -> str:
        """What the journal calls it."""
        return f"{self.document}/v{self.numbers[0] + 1}"

    def letters(self, seed: int, language: str) -> list[str]:
        """First letters to propose: the newest models take no temperature, so that variety must come from the prompt."""
        if not has_latin_letters(language):
            return []
        own = seed_of("first letters", seed, self.document, self.numbers[0])
        letters = _VOWELS if self.sound == VOWEL else _FIRST if self.sound == ANY else _FIRST.translate(dict.fromkeys(map(ord, "AEIOU")))
        found: dict[str, None] = {}
        turn = 0
        while len(found) < _LETTERS:
            found.setdefault(letters[mix(own, turn) % len(letters)])
            turn += 1
        return list(found)


class _Value:
    """The mentions of one value, by their numbers."""

    def __init__(self) -> None:
        self.places: list[int] = []
        self.numbers: dict[int, None] = {}


def requests_of(document: Document, plan: Plan, language: str) -> Iterator[ValueRequest]:
    """The requests of a planned document, in text order.

    What belongs to a person (an occupation, an employer) is one value for them. If the corpus shares that person, it is left to code,
    which draws the same everywhere.
    """
    values: dict[tuple[object, ...], _Value] = {}
    for place, mention in enumerate(plan.mentions):
        if mention.kind not in BY_MODEL:
            continue
        owner = plan.owners[place]
        if owner != NOBODY and KINDS[mention.kind].owner == PERSON:
            if plan.clusters[owner].corpus:
                continue
            key: tuple[object, ...] = (mention.kind, owner, mention.index or mention.original)
        else:
            key = (plan.values[place],)
        value = values.setdefault(key, _Value())
        value.places.append(place)
        value.numbers.setdefault(plan.values[place])
    for value in values.values():
        request = _request(document, plan, value, language)
        if _sendable(request.sentence):
            yield request


def _request(document: Document, plan: Plan, value: _Value, language: str) -> ValueRequest:
    first = plan.mentions[value.places[0]]
    mentions = [plan.mentions[place] for place in value.places]
    return ValueRequest(
        document=document.number,
        id=document.id,
        numbers=tuple(value.numbers),
        kind=first.kind,
        start=first.start,
        end=first.end,
        sentence=sentence_of(plan.text, plan.mentions, value.places[0], known=document.mentions is not None),
        # Articles that contradict each other cannot both be met: the first one counts.
        sound=next((sound for one in mentions if (sound := needed_sound(plan.text, one.start, language)) != ANY), ANY),
        genitive=any(genitive_follows(plan.text, one.end) for one in mentions),
        originals=tuple(dict.fromkeys(one.original for one in mentions if one.original)),
    )


def _sendable(sentence: Sentence) -> bool:
    """Whether UTF-8 can hold it: a lone surrogate cannot be sent."""
    try:
        "".join(sentence).encode()
    except UnicodeEncodeError:
        return False
    return True
