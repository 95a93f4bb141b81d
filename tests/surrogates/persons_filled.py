"""Fill texts for the tests of people and dates: with the placeholders of the text itself, or with given spans."""

from __future__ import annotations

from functools import cache

from piiloom.pii_values.names.index import open_names
from piiloom.pii_values.names.pools import NamePools
from piiloom.surrogates.documents import Document, Replaced
from piiloom.surrogates.engine import Engine
from piiloom.surrogates.engine_report import known_given_names
from piiloom.surrogates.inputs.given_spans import mentions_of
from piiloom.surrogates.placeholders import Finder, auto_mapping
from piiloom.surrogates.placeholders.reading import kind_of_span, linked
from piiloom.surrogates.settings import EngineSettings


@cache
def pools() -> NamePools:
    """The names that all these tests draw from."""
    return NamePools(open_names())


def filled(text: str, locale: str = "en_US", *, count: int = 1, links: tuple[str, ...] = (), **settings: object) -> list[Replaced]:
    """Fill *text* as *count* documents of one corpus; each gets other people and days."""
    engine = Engine(EngineSettings(seed=7, locale=locale, **settings), pools(), Finder(linked(auto_mapping([text]), links)))  # type: ignore[arg-type]
    return list(engine.replace_all([Document(n, str(n), text, "memory") for n in range(count)]))


def filled_spans(text: str, marks: list[tuple[str, ...]], locale: str = "en_US") -> list[str]:
    """Replace the words in *marks* (words, type, maybe a subtype; in text order) and return what was put in."""
    spans, at = [], 0
    for words, entity_type, *subtype in marks:
        start = text.index(words, at)
        at = start + len(words)
        spans.append({"start": start, "end": at, "type": entity_type, **({"subtype": subtype[0]} if subtype else {})})
    mentions = mentions_of(spans, text, kind_of_span).mentions
    engine = Engine(EngineSettings(seed=7, locale=locale), pools(), genders=known_given_names(pools(), locale[3:]))
    done = next(engine.replace_all([Document(0, "0", text, "memory", mentions=mentions)]))
    return [done.text[place.new_start : place.new_end] for place in done.placed]


def ids(done: Replaced) -> list[str]:
    """The value ids of a filled document, in text order."""
    return [place.value_id for place in done.placed]


def words(done: Replaced) -> list[str]:
    """What was put in, in text order."""
    return [done.text[place.new_start : place.new_end] for place in done.placed]
