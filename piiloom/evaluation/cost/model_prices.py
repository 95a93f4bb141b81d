"""The prices of a model that is known by its name alone, and the date they are of."""

from __future__ import annotations

from piiloom.foundation.errors import UsageError
from piiloom.providers.prices import ModelBook, ModelSpec, load_models


class PriceList:
    """Prices of all models: *given* ones for any model, if the user gave some, else those of *book* (None: as ``piiloom generate``)."""

    def __init__(self, *, given: ModelSpec | None = None, book: ModelBook | None = None) -> None:
        self._given = given
        self._book = book or load_models()
        self._known: dict[tuple[str, str | None], ModelSpec | None] = {}

    @property
    def dated(self) -> str | None:
        """The date of the prices; None if the user gave them, who alone knows it."""
        return None if self._given is not None else self._book.dated.isoformat()

    def find(self, model: str, provider: str | None = None) -> ModelSpec | None:
        """Return what is known of *model*, or of the model of which it is a dated snapshot; None if it has no known price.

        Without *provider*, all are searched. Raises ``UsageError`` if several have a model of that name at different prices.
        """
        if self._given is not None:
            return self._given
        if (model, provider) not in self._known:
            self._known[model, provider] = self._searched(model, provider)
        return self._known[model, provider]

    def _searched(self, model: str, provider: str | None) -> ModelSpec | None:
        providers = [provider] if provider is not None else list(self._book.models)
        found = [spec for name in providers if (spec := self._book.find(name, model)) is not None and spec.priced]
        if any(_prices(spec) != _prices(found[0]) for spec in found):
            raise UsageError(f"several providers have a model {model!r}, at different prices", remedy="Name the provider of each row")
        return found[0] if found else None


def _prices(spec: ModelSpec) -> tuple[float | None, ...]:
    return (spec.input, spec.cached, spec.output, spec.cache_write)
