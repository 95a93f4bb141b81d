"""What a run of surrogates is told, in one picklable object."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from datetime import date
from typing import Literal

from piiloom.surrogates.casting.groups import Weights

Strategy = Literal["consistent", "per-mention", "markov"]
Scope = Literal["document", "corpus"]
OnUnknown = Literal["keep", "error", "generic"]
Balance = Literal["exact", "weights", "cue"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """``locale`` is the language and country of the texts ("nl_NL").

    ``balance``: "exact" and "weights" share people out over the groups (``weights``); "cue" gives them names of the texts' own
    country, and only the genders are shared out, as with ``script`` "native", the script of that country. ``keep`` is the
    probability with which the Markov strategy repeats the surrogate of the mention before. ``anchor`` is the day about which dates
    lie that nothing tells. All known dates of a document move together.
    """

    seed: int = 0
    locale: str = "en_US"
    scope: Scope = "document"
    strategy: Strategy = "consistent"
    keep: float = 0.5
    balance: Balance = "exact"
    weights: Weights = field(default_factory=Weights)
    english_only: bool = False
    script: Literal["latin", "native"] = "latin"
    names: str | None = None
    anchor: date = date(2025, 6, 15)
    keep_weekdays: bool = False

    @property
    def own_names(self) -> bool:
        """Whether people bear names of the texts' own country."""
        return self.balance == "cue" or self.script == "native"

    @property
    def language(self) -> str:
        """ISO 639-1."""
        return self.locale.partition("_")[0]

    @property
    def country(self) -> str:
        """ISO 3166 alpha-2."""
        return self.locale.partition("_")[2] or "US"

    def to_json(self) -> dict[str, object]:
        """What a report says of the settings; no path."""
        return {
            "strategy": self.strategy,
            "keep": self.keep if self.strategy == "markov" else None,
            "scope": self.scope,
            "groups": self.balance,
            "weights": asdict(self.weights) if self.balance == "weights" else None,
            "english_only": self.english_only,
            "script": self.script,
            "keep_weekdays": self.keep_weekdays,
            "anchor": self.anchor.isoformat(),
        }
