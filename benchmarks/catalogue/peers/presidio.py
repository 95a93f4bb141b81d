"""presidio-analyzer's own recognizers of countries: which there are, and which of our drawn values each takes for its own."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from typing import Any

TITLE = "presidio-analyzer"
PACKAGE = "presidio-analyzer"
REQUIREMENTS = ("presidio-analyzer==2.2.366", "spacy>=3.8,<4")


def measure(spec: dict[str, Any]) -> dict[str, Any]:
    """``countries``: by our locale, the folder of Presidio and the values of each entry. A recognizer is shown one value after another."""
    found = {}
    for locale, country in spec["countries"].items():
        found[locale] = [_tried(one, country["values"]) for one in _recognizers(country["folder"])]
    return {"recognizers": found, "generic": _generic(spec["countries"])}


def _recognizers(folder: str | None) -> Iterator[Any]:
    if folder is None:
        return
    from presidio_analyzer import EntityRecognizer

    package = importlib.import_module(f"presidio_analyzer.predefined_recognizers.country_specific.{folder}")
    for module in pkgutil.iter_modules(package.__path__):
        for _, one in inspect.getmembers(importlib.import_module(f"{package.__name__}.{module.name}"), inspect.isclass):
            if issubclass(one, EntityRecognizer) and one.__module__ == f"{package.__name__}.{module.name}":
                yield one()


def _tried(recognizer: Any, values: dict[str, list[str]]) -> dict[str, Any]:
    entities = recognizer.supported_entities
    shares = {}
    for entity, drawn in values.items():
        hits = 0
        for value in drawn:
            results = recognizer.analyze(value, entities, None)
            hits += any((one.start, one.end) == (0, len(value)) for one in results)
        if hits:
            shares[entity] = hits / len(drawn)
    has_check = type(recognizer).validate_result.__module__ != "presidio_analyzer.pattern_recognizer"
    return {"entity": entities[0], "language": recognizer.supported_language, "checked": has_check, "shares": shares}


def _generic(countries: dict[str, Any]) -> dict[str, dict[str, bool]]:
    """Whether the recognizers of all countries know this one: telephone numbers by default, forms of IBANs."""
    from presidio_analyzer.predefined_recognizers import PhoneRecognizer
    from presidio_analyzer.predefined_recognizers.generic.iban_patterns import regex_per_country

    regions = PhoneRecognizer.DEFAULT_SUPPORTED_REGIONS
    return {locale: {"phone": locale[3:] in regions, "iban": locale[3:] in regex_per_country} for locale in countries}
