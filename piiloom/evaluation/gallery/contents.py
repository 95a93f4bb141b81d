"""All that the gallery shows, gathered from the counts and the kept documents; the template only lays it out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from piiloom.evaluation.gallery.breakdown import Matrix, charts, matrix
from piiloom.evaluation.gallery.collector import GalleryCollector
from piiloom.evaluation.gallery.counts import NOT_STATED, ErrorCounts, type_name
from piiloom.evaluation.gallery.errors import BOUNDARY, ERRORS, KINDS, MEANING, Row
from piiloom.evaluation.gallery.kept import KeptDocument
from piiloom.evaluation.gallery.marked import Stretch, stretches
from piiloom.evaluation.inputs.documents import Mention
from piiloom.evaluation.pages.cells import count, percent, short, visible
from piiloom.evaluation.pages.charts import Chart

_NAME = 80  # characters of an id in a heading
_OPTION = 60
_LABEL = 120  # of types, subjects and places of files in tables


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownMention:
    """A mention in words."""

    text: str
    type: str
    relevance: str
    subject: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownError:
    """An error in words. ``facets``: for each filter, the numbers of its options that hold, as a filter compares them."""

    kind: str
    also: tuple[str, ...]
    gold: tuple[ShownMention, ...]
    found: tuple[ShownMention, ...]
    facets: dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownDocument:
    """``after``: code points after the last stretch that are left out; ``has_text``: whether the files have a text to show."""

    name: str
    where: str
    question: str | None
    locale: str | None
    has_text: bool
    stretches: tuple[Stretch, ...]
    after: int
    errors: tuple[ShownError, ...]
    left_out: int
    shortened: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Facet:
    """A filter: its options as (value, name); a value is the numbers, apart by a space, one of which an error must have."""

    name: str
    title: str
    options: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GalleryContents:
    """``kinds``: (name, meaning, mentions in all documents, errors that are shown)."""

    title: str
    facts: tuple[tuple[str, str], ...]
    key_figures: tuple[tuple[str, str, str], ...]
    kinds: tuple[tuple[str, str, str, str], ...]
    charts: tuple[Chart, ...]
    matrix: Matrix
    facets: tuple[Facet, ...]
    documents: tuple[ShownDocument, ...]
    with_errors: int
    seed: int


def gallery_contents(collector: GalleryCollector, title: str, facts: Iterable[tuple[str, str]] = ()) -> GalleryContents:
    """Return the contents; *facts* (name, value) stand under the title."""
    counts, kept = collector.counts, collector.shown()
    facets = _Facets(kept)
    documents = tuple(_shown(document, facets) for document in kept)
    return GalleryContents(
        title=visible(title),
        facts=tuple((visible(name), visible(value)) for name, value in facts),
        key_figures=_key_figures(counts),
        kinds=tuple(
            (kind, MEANING[kind], count(counts.kinds[kind]), count(sum(row.kind == kind for one in kept for row in one.errors)))
            for kind in ERRORS
        ),
        charts=tuple(charts(counts)),
        matrix=matrix(counts),
        facets=facets.shown(),
        documents=documents,
        with_errors=counts.with_errors,
        seed=collector.options.seed,
    )


class _Facets:
    """The options of the filters: what occurs among the shown errors, numbered."""

    def __init__(self, documents: Sequence[KeptDocument]) -> None:
        rows = [(document, row) for document in documents for row in document.errors]
        self._options: dict[str, list[str]] = {
            "kind": list(KINDS),
            "type": sorted({type_name(one) for _, row in rows for one in _mentions(row)}),
            "relevance": ["high", "low", NOT_STATED],
            "locale": sorted({document.locale or NOT_STATED for document in documents}),
            "subject": sorted({one.subject or NOT_STATED for _, row in rows for one in row.counted}),
        }
        self._numbers = {name: {option: str(place) for place, option in enumerate(options)} for name, options in self._options.items()}

    def of(self, document: KeptDocument, row: Row) -> dict[str, str]:
        """Return the options that hold for an error: its kind alone, the types of both sides, the rest of gold if there is one."""
        held: dict[str, set[str]] = {
            "kind": {row.kind},
            "type": {type_name(one) for one in _mentions(row)},
            "relevance": {one.relevance or NOT_STATED for one in row.counted},
            "locale": {document.locale or NOT_STATED},
            "subject": {one.subject or NOT_STATED for one in row.counted},
        }
        return {name: " ".join(sorted(self._numbers[name][option] for option in options)) for name, options in held.items()}

    def shown(self) -> tuple[Facet, ...]:
        """Return the filters; those with a single option are left out."""
        titles = {"kind": "kind of error", "type": "type", "relevance": "relevance", "locale": "locale", "subject": "subject"}
        made = []
        for name, options in self._options.items():
            named = [(self._numbers[name][option], short(visible(option), _OPTION)) for option in options if option != "correct"]
            if name == "kind":
                place = ERRORS.index(BOUNDARY[0])
                named.insert(place, (" ".join(self._numbers[name][kind] for kind in BOUNDARY), "boundary (any)"))
            if len(named) > 1:
                made.append(Facet(name=name, title=titles[name], options=tuple(named)))
        return tuple(made)


def _mentions(row: Row) -> tuple[Mention, ...]:
    return (*row.gold, *row.found)


def _shown(document: KeptDocument, facets: _Facets) -> ShownDocument:
    made, after = stretches(document)
    return ShownDocument(
        name=short(visible(document.id if document.id is not None else document.where), _NAME),
        where=short(visible(document.where), _LABEL),
        question=None if document.question is None else visible(document.question),
        locale=None if document.locale is None else short(visible(document.locale), _LABEL),
        has_text=bool(document.excerpts),
        stretches=tuple(made),
        after=after,
        errors=tuple(_shown_error(document, row, facets) for row in document.errors),
        left_out=document.left_out,
        shortened=document.shortened,
    )


def _shown_error(document: KeptDocument, row: Row, facets: _Facets) -> ShownError:
    return ShownError(
        kind=row.kind,
        also=row.also,
        gold=tuple(map(_shown_mention, row.gold)),
        found=tuple(map(_shown_mention, row.found)),
        facets=facets.of(document, row),
    )


def _shown_mention(mention: Mention) -> ShownMention:
    return ShownMention(
        text=visible(mention.text),
        type=short(visible(type_name(mention)), _LABEL),
        relevance=mention.relevance or "",
        subject=short(visible(mention.subject or ""), _LABEL),
    )


def _key_figures(counts: ErrorCounts) -> tuple[tuple[str, str, str], ...]:
    kinds = counts.kinds

    def of_gold(number: int) -> str:
        return f"{percent(number / counts.gold if counts.gold else None)} of gold"

    boundary = sum(kinds[kind] for kind in BOUNDARY)
    extra = kinds["spurious"] + kinds["not in the text"]
    return (
        (count(counts.documents), "documents", f"{count(counts.with_errors)} with errors"),
        (count(counts.gold), "gold mentions", f"{count(counts.found)} predicted"),
        (count(kinds["correct"]), "correct", of_gold(kinds["correct"])),
        (count(kinds["missed"]), "missed", of_gold(kinds["missed"])),
        (count(extra), "spurious", f"{percent(extra / counts.found if counts.found else None)} of predicted"),
        (count(kinds["wrong type"]), "wrong type", of_gold(kinds["wrong type"])),
        (count(boundary), "boundary errors", of_gold(boundary)),
        (count(kinds["wrong relevance"]), "wrong relevance", of_gold(kinds["wrong relevance"])),
    )
