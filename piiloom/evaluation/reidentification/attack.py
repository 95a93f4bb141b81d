"""The attack: what is left in each document under each policy, how unique that is, and what links documents.

docs/reidentification.md states the attacker's rules.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from piiloom.evaluation.reidentification.figures import AttackFigures, PolicyFigures, policy_figures
from piiloom.evaluation.reidentification.linking import linked_by_rare_values
from piiloom.evaluation.reidentification.masking import still_read
from piiloom.evaluation.reidentification.register import RegisterBuilder
from piiloom.evaluation.reidentification.subjects import POLICIES, Policy, Subject, key_of, value_key
from piiloom.evaluation.reidentification.surrogate_names import SurrogateNames
from piiloom.evaluation.reidentification.uniqueness import alone, standings
from piiloom.foundation.errors import DataError, UsageError

NAME_TYPES: Final = ("name",)
RARE: Final = 3
_BITS: Final = {policy: 1 << number for number, policy in enumerate(POLICIES)}


class Attack:
    """Takes subjects in, one pass, and keeps numbers only.

    *policies*: those to attack; None: all that the subjects allow. *types*: the types that the attacker looks at; None: all. *name_types*:
    those whose surrogates are compared. *rare*: how many documents at most have a value that links them.
    """

    def __init__(
        self,
        *,
        policies: Sequence[Policy] | None = None,
        types: Collection[str] | None = None,
        name_types: Collection[str] = NAME_TYPES,
        rare: int = RARE,
    ) -> None:
        if rare < 2:
            raise UsageError("a value links two documents at least", where="--rare", remedy="Give 2 or more")
        self._policies = policies
        self._types = None if types is None else frozenset(types)
        self._name_types = frozenset(name_types)
        self._rare = rare
        self._builder = RegisterBuilder()
        self._names = SurrogateNames()
        self._records = 0
        self._allowed: set[Policy] = {"none", "all"}

    def add(self, subject: Subject) -> None:
        """Take one document in. Documents of the same text are about the same person, and what is left in any of them is known."""
        self._records += 1
        document = subject.document
        # A table of entities has no text: each of its documents is a person of its own.
        person = self._builder.person(key_of("document", str(self._records)) if document.text is None else key_of("text", document.text))
        self._allow(subject)
        bits = self._bits(subject)
        for number, (mention, left) in enumerate(zip(document.mentions, bits, strict=True)):
            entity_type = mention.entity_type or ""
            if self._types is not None and entity_type not in self._types:
                continue
            value = value_key(entity_type, mention.text)
            if value:
                self._builder.add(person, value, left)
            if subject.surrogates is not None and entity_type in self._name_types:
                surrogate = value_key(entity_type, subject.surrogates[number])
                if surrogate:
                    self._names.add(person, value, surrogate)

    def _allow(self, subject: Subject) -> None:
        if any(one.relevance is not None for one in subject.document.mentions):
            self._allowed.add("relevance-aware")
        if subject.found is not None:
            self._allowed.add("predictions")
        if subject.surrogates is not None:
            self._allowed.add("surrogates")

    def _bits(self, subject: Subject) -> list[int]:
        """Return, for each mention, the bits of the policies under which it can be read."""
        bits = [0] * len(subject.document.mentions)
        for policy in self._policies or self._allowed:
            for number, left in enumerate(still_read(subject, policy)):
                bits[number] |= _BITS[policy] * left
        return bits

    def figures(self) -> AttackFigures:
        """Return the figures. Raises ``DataError`` if there are no documents, ``UsageError`` for a policy that they do not allow."""
        if not self._records:
            raise DataError("there are no documents to attack", remedy="Name a file or release that has some")
        for policy in self._policies or ():
            if policy not in self._allowed:
                raise UsageError(_WHY_NOT[policy], where=f"--mask {policy}", remedy="Leave it out")
        register = self._builder.register()
        found: dict[Policy, PolicyFigures] = {}
        for policy in POLICIES:
            if policy in (self._policies or self._allowed):
                linked = linked_by_rare_values(register, _BITS[policy], self._rare)
                found[policy] = policy_figures(standings(register, _BITS[policy]), alone(register, _BITS[policy]), linked)
        return AttackFigures(
            records=self._records,
            documents=register.size,
            types=None if self._types is None else tuple(sorted(self._types)),
            name_types=tuple(sorted(self._name_types)),
            rare=self._rare,
            policies=found,
            surrogate_names=self._names.links(),
        )


_WHY_NOT: Final[dict[Policy, str]] = {
    "relevance-aware": "no value has a relevance",
    "predictions": "there are no predictions",
    "surrogates": "there are no surrogates",
}
