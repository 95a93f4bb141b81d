"""Settings of the surrogate engine, in one picklable object."""

from __future__ import annotations

from dataclasses import InitVar, asdict, dataclass, field
from datetime import date
from typing import Literal

from piiloom.foundation.errors import UsageError
from piiloom.foundation.seeding import secret_key
from piiloom.pii_values.names.regions import region_of
from piiloom.surrogates.persona_assignment.groups import Weights
from piiloom.taxonomy.locales import resolve_locale

Strategy = Literal["consistent", "per-mention", "markov"]
Scope = Literal["document", "corpus"]
OnUnknown = Literal["keep", "error", "generic"]
Balance = Literal["balanced", "weights", "cue"]
GroupsBy = Literal["person", "document"]
SameValue = Literal["document", "corpus", "off"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineSettings:
    """Settings of the engine. ``locale`` is the language and country of the texts ("nl_NL").

    All draws and date shifts depend on ``key``, which stays secret: nothing that a run writes but the vault holds it. It is random, or
    that of ``seed``, which makes a run reproducible, also for whoever wants to undo it.

    ``balance``: "balanced" and "weights" distribute people over the groups of gender and region (by ``weights``). With "cue", or with
    ``script`` "native" (the script of the texts' country), all names are of the texts' country and only genders are distributed.
    ``keep`` is the probability with which the Markov strategy repeats the surrogate of the previous mention. ``names`` is the path of
    a names index, None for the default. Dates that the text does not tell are drawn relative to ``anchor``; all known dates of a
    document move by the same shift, with ``keep_weekdays`` by whole weeks. ``same_value`` is where known originals are replaced, too,
    that no span marks: in their own document, in all documents of the corpus, or nowhere. With ``person_groups`` records
    state the group of each person. With ``groups_by`` "document" all people of a document have one group, and documents are balanced.
    """

    seed: InitVar[int | None] = None
    key: bytes = field(default=b"", repr=False)
    locale: str = "en_US"
    scope: Scope = "document"
    strategy: Strategy = "consistent"
    keep: float = 0.5
    balance: Balance = "balanced"
    weights: Weights = field(default_factory=Weights)
    english_only: bool = False
    script: Literal["latin", "native"] = "latin"
    names: str | None = None
    anchor: date = date(2025, 6, 15)
    keep_weekdays: bool = False
    same_value: SameValue = "document"
    person_groups: bool = False
    groups_by: GroupsBy = "person"

    def __post_init__(self, seed: int | None) -> None:
        if seed is not None or not self.key:
            object.__setattr__(self, "key", secret_key(seed))

    @property
    def own_names(self) -> bool:
        """Whether people bear names of the texts' own country."""
        return self.balance == "cue" or self.script == "native"

    @property
    def language(self) -> str:
        """Language of the texts (ISO 639-1)."""
        return self.locale.partition("_")[0]

    @property
    def country(self) -> str:
        """Country of the texts (ISO 3166 alpha-2); US if the locale has none."""
        return self.locale.partition("_")[2] or "US"

    def to_json(self) -> dict[str, object]:
        """Return the settings that a report shows; no paths."""
        return {
            "strategy": self.strategy,
            "keep": self.keep if self.strategy == "markov" else None,
            "scope": self.scope,
            "groups": "exact" if self.balance == "balanced" else self.balance,  # its name in reports from the beginning
            "groups_by": self.groups_by,
            "weights": asdict(self.weights) if self.balance == "weights" else None,
            "english_only": self.english_only,
            "script": self.script,
            "keep_weekdays": self.keep_weekdays,
            "anchor": self.anchor.isoformat(),
        }


def checked_locale(locale: str) -> str:
    """Return the locale that *locale* names. Raises ``UsageError`` for an unknown locale, or a country of which no names are known."""
    try:
        found = resolve_locale(locale)
        region_of(found.partition("_")[2])
    except UsageError as error:
        raise UsageError(error.message, where="--locale", remedy=error.remedy) from None
    return found
