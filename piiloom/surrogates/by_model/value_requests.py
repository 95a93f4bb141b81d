"""Build the requests: one for each value of a document that a model shall draw."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from piiloom.foundation.seeding import mix, seed_of
from piiloom.surrogates.by_model.kinds import BY_MODEL, has_latin_letters
from piiloom.surrogates.by_model.sentences import Sentence, sentence_of
from piiloom.surrogates.documents import Document
from piiloom.surrogates.fitting import ANY, VOWEL, genitive_follows, needed_sound
from piiloom.surrogates.kinds.registry import KINDS
from piiloom.surrogates.planned_people import NOBODY
from piiloom.surrogates.planning import PERSON, DocumentPlan

_LETTERS: Final = 3
# Initial letters, repeated roughly as often as English names and nouns begin with them. Rare letters would lead to odd values.
_FIRST: Final = "AAABBBBCCCCDDDEEFFFGGGHHHIIJKLLLMMMMNNOOPPPPRRRSSSSSTTTUVW"
_VOWELS: Final = "AAAEEIIOO"


class ValueRequest(NamedTuple):
    """A request for one value.

    ``numbers`` are the value numbers of the document's plan that share the value. ``sentence``, ``start`` and ``end`` are those of its
    first mention. ``document`` is the document's index in the input, ``id`` its id. ``sound`` is the initial sound that an English
    article before it requires; ``genitive``: an -s follows. ``originals`` are the known original values, which must not be used.
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
        """The item id in the journal."""
        return f"{self.document}/v{self.numbers[0] + 1}"

    def letters(self, seed: int, language: str) -> list[str]:
        """Return three initial letters to propose to the model; none if the language is not in Latin script.

        The newest models have no temperature setting, so variety must come from the prompt.
        """
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
    """The mentions of one value (``places``, indices into the plan's mentions) and its value numbers."""

    def __init__(self) -> None:
        self.places: list[int] = []
        self.numbers: dict[int, None] = {}


def requests_of(document: Document, plan: DocumentPlan, language: str) -> Iterator[ValueRequest]:
    """Yield the requests of a planned document, in text order.

    A value that belongs to a person (an occupation, an employer) is one request for all its mentions. If several documents share that
    person, the value is left to code, which draws the same one in each of them.
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


def _request(document: Document, plan: DocumentPlan, value: _Value, language: str) -> ValueRequest:
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
        # Mentions with contradictory articles cannot all be satisfied, so the first article counts.
        sound=next((sound for one in mentions if (sound := needed_sound(plan.text, one.start, language)) != ANY), ANY),
        genitive=any(genitive_follows(plan.text, one.end) for one in mentions),
        originals=tuple(dict.fromkeys(one.original for one in mentions if one.original)),
    )


def _sendable(sentence: Sentence) -> bool:
    """Whether the sentence can be encoded as UTF-8; one with a lone surrogate cannot be sent."""
    try:
        "".join(sentence).encode()
    except UnicodeEncodeError:
        return False
    return True
