"""Values that replace known originals: different originals of one person and kind stay different, equal ones stay equal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from piiloom.foundation.seeding import mix
from piiloom.surrogates.kinds.kind import Draw
from piiloom.surrogates.numbered_values import NOBODY
from piiloom.surrogates.persona_assignment.persona import Persona
from piiloom.surrogates.planning import Plan, identity

# Facts of which a person has one, and what moves with the document's dates: their values come from the person or from the original alone.
FACTS: Final = frozenset({"age", "birth_date", "birth_year", "gender", "date", "datetime", "year", "month", "weekday", "time", "duration"})
_TRIES: Final = 12
_MORE_TRIES: Final = 48  # where the value must fit an article
_TURN: Final = 0xD1F


class OriginalValues:
    """The values that were put in for the originals of one document.

    The first phone number of a person is the one that the rest of the document would give them; each other one is drawn anew.
    """

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._turns: dict[tuple[int, int], int] = {}  # which of the owner's values of its kind it is: (owner, value number) -> 0, 1 …
        self._values: dict[tuple[str, str], int] = {}  # which value number has a value already
        self._others: dict[tuple[int, int], Persona] = {}
        counts: dict[tuple[int, str], int] = {}
        for mention, owner, value in zip(plan.mentions, plan.owners, plan.values, strict=True):
            if mention.original and NOBODY not in {owner, value} and (owner, value) not in self._turns:
                turn = counts.get((owner, mention.kind), 0)
                counts[owner, mention.kind] = turn + 1
                self._turns[owner, value] = turn

    def distinct(self, number: int, draw: Draw, make: Callable[[Draw], str], fits: Callable[[str], bool] | None = None) -> str:
        """Return the value that *make* draws for mention *number*: none that another original has, nor the original itself.

        It *fits* the articles before it, if that is given. Where no such value is found (there are few religions), the first one that is
        distinct is returned, else the first one that is not the original.
        """
        kind, value_number, owner = self._plan.mentions[number].kind, self._plan.values[number], self._plan.owners[number]
        if draw.owner is not None:
            draw = draw._replace(owner=self._other(owner, draw.owner, self._turns.get((owner, value_number), 0)))
        old = identity(kind, draw.original)
        first = distinct = ""
        for turn in range(_TRIES if fits is None else _MORE_TRIES):
            value = make(draw if not turn else self._again(draw, turn))
            first = first or value
            told = identity(kind, value)
            if told != old and self._values.get((kind, told), value_number) == value_number:
                distinct = distinct or value
                if fits is None or fits(value):
                    distinct = value
                    break
            if told != old and identity(kind, first) == old:
                first = value
        if distinct:
            self._values[kind, identity(kind, distinct)] = value_number
        return distinct or first

    def _other(self, owner: int, person: Persona, turn: int) -> Persona:
        if not turn:
            return person
        known = self._others.get((owner, turn))
        if known is None:
            known = self._others[owner, turn] = person.again(turn)
        return known

    @staticmethod
    def _again(draw: Draw, turn: int) -> Draw:
        owner = draw.owner.again(_TURN + turn) if draw.owner is not None else None
        return draw._replace(seed=mix(draw.seed, _TURN + turn), owner=owner)
