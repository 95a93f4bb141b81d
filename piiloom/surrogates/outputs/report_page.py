"""The report of a run: tallies, sample passages, and the page ``report.html`` made of them.

Tallies are added in input order, so the report is the same for any chunk size. Samples of filled texts contain no original: the kind of a
known one replaces it. The page is one file without scripts, and everything in it is escaped.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from importlib.resources import files
from operator import itemgetter
from typing import Any, Final, NamedTuple

from piiloom.surrogates.documents import Document, Replaced
from piiloom.surrogates.same_values import RULE

# Most distinct literals that are counted separately, and most characters of each.
_MOST_GROUPS: Final = 1_000  # documents of which the report lists the groups
_MOST_LITERALS: Final = 10_000
_LONGEST: Final = 80
OTHERS: Final = "(others)"
PutIn = tuple[str, str, str | None]
_PUT_IN: Final = itemgetter(4, 5, 6)  # kind, entity type and subtype of a place


@dataclass(slots=True)
class RunTally:
    """Counts of documents, replaced ranges, unknown placeholders, and brackets left alone.

    ``put_in`` counts surrogates by (kind, entity type, subtype). ``engine`` sums the tallies of the documents.
    ``first`` is the first place of those that belong to no document. ``groups`` has the groups of the first documents, by id.
    """

    documents: int = 0
    replaced: int = 0
    put_in: Counter[PutIn] = field(default_factory=Counter)
    unknown: Counter[str] = field(default_factory=Counter)
    left: Counter[str] = field(default_factory=Counter)
    engine: Counter[str] = field(default_factory=Counter)
    first: dict[str, str] = field(default_factory=dict)
    groups: dict[str, dict[str, list[str]]] = field(default_factory=dict)

    def note(self, tallies: Mapping[str, int], where: str) -> None:
        """Add counts that belong to no document; *where* is their file and line."""
        self.engine.update(tallies)
        for name in tallies:
            self.first.setdefault(name, where)

    def take(self, document: Document, replaced: Replaced) -> None:
        """Count one document."""
        self.documents += 1
        self.replaced += len(replaced.placed)
        self.put_in.update(map(_PUT_IN, replaced.placed))
        for counter, ranges in ((self.unknown, replaced.unknown), (self.left, replaced.left)):
            for start, end in ranges:
                literal = document.text[start:end]
                counter[literal if len(literal) <= _LONGEST else literal[: _LONGEST - 1] + "…"] += 1
        if replaced.person_groups is not None and len(self.groups) < _MOST_GROUPS:
            self.groups[document.id] = replaced.person_groups
        if replaced.tallies:
            self.engine.update(replaced.tallies)

    def add(self, other: RunTally) -> None:
        """Add the counts of later documents. Literals after the first 10,000 distinct ones are counted together as ``OTHERS``."""
        self.documents += other.documents
        self.replaced += other.replaced
        self.put_in.update(other.put_in)
        self.engine.update(other.engine)
        self.first = {**other.first, **self.first}
        self.groups.update(list(other.groups.items())[: _MOST_GROUPS - len(self.groups)])
        for ours, theirs in ((self.unknown, other.unknown), (self.left, other.left)):
            for literal, count in theirs.items():
                ours[literal if literal in ours or len(ours) < _MOST_LITERALS else OTHERS] += count

    def by_kind(self) -> dict[str, int]:
        """Return the number of surrogates of each kind, most frequent first."""
        kinds: Counter[str] = Counter()
        for (kind, _, _), count in self.put_in.items():
            kinds[kind] += count
        return by_count(kinds)

    def by_type(self) -> dict[str, int]:
        """Return the number of surrogates of each "type.subtype" (or "type"), most frequent first."""
        types: Counter[str] = Counter()
        for (_, entity_type, subtype), count in self.put_in.items():
            types[f"{entity_type}.{subtype}" if subtype else entity_type] += count
        return by_count(types)


def by_count(counts: Mapping[str, int]) -> dict[str, int]:
    """Return *counts* sorted by count, highest first, then by name."""
    return dict(sorted(counts.items(), key=lambda one: (-one[1], one[0])))


LOOKED_AT: Final = 500  # documents at the beginning of the input, of which samples are made
_BEFORE, _LENGTH, _MOST_SAMPLES, _ANYWAY = 90, 420, 14, 6
_ORIGINAL: Final = re.compile(r"^([^:=]*[:=]).*?([>\])}*#]*)$", re.DOTALL)


class SamplePiece(NamedTuple):
    """A piece of a sample: ``kind`` is "" where nothing changed."""

    kind: str
    before: str
    after: str


class Sample(NamedTuple):
    """A passage of the document at ``place``; ``cut``: whether there is text before and after it."""

    place: str
    pieces: tuple[SamplePiece, ...]
    cut: tuple[bool, bool]


def samples_of(documents: Iterable[tuple[Document, Replaced]]) -> list[Sample]:
    """Return a sample of each document that is looked at and has a surrogate."""
    return [sample_of(document, done) for document, done in documents if document.number < LOOKED_AT and done.placed]


def sample_of(document: Document, replaced: Replaced) -> Sample:
    """Return the passage around the first surrogates."""
    text = document.text
    start = max(0, replaced.placed[0].start - _BEFORE)
    end = min(len(text), start + _LENGTH)
    pieces: list[SamplePiece] = []
    at = start
    for place in replaced.placed:
        if place.end > end and pieces:
            end = min(end, place.start)
            break
        if place.start > at:
            pieces.append(SamplePiece("", text[at : place.start], text[at : place.start]))
        # A tag is shown without a value that it bears, as in "<<PATIENT:Jack>>".
        tag = _ORIGINAL.sub(r"\1…\2", text[place.start : place.end])
        stood = f"‹{place.entity_type}›" if document.mentions is not None else tag
        pieces.append(SamplePiece(place.kind, stood, replaced.text[place.new_start : place.new_end]))
        at = place.end
    end = max(end, at)
    if end > at:
        pieces.append(SamplePiece("", text[at:end], text[at:end]))
    where = document.file if document.line is None else f"{document.file}:{document.line}"
    return Sample(where, tuple(pieces), (start > 0, end < len(text)))


class Chosen:
    """Of the samples, in input order, those that are shown: the first ones, and those with a kind that none before has."""

    def __init__(self) -> None:
        self.samples: list[Sample] = []
        self._kinds: set[str] = set()

    def add(self, samples: Iterable[Sample]) -> None:
        """Take over what is shown of *samples*."""
        for sample in samples:
            kinds = {piece.kind for piece in sample.pieces if piece.kind}
            if len(self.samples) < _MOST_SAMPLES and (len(self.samples) < _ANYWAY or kinds - self._kinds):
                self.samples.append(sample)
                self._kinds |= kinds


PAGE: Final = "report.html"
_MOST_ROWS: Final = 60
_SURE, _LIKELY = 0.9, 0.6
_BANDS: Final = (
    "sure (0.90 and more)",
    "likely (0.60 to 0.89)",
    "unsure (below 0.60)",
    "read by the vocabulary, without a rule",
    "given as spans, and the same values elsewhere",
)
_UNSEEN: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]")


def report_page(report: Mapping[str, Any], samples: Sequence[Sample]) -> str:
    """Return the page for *report* (the content of ``report.json``) and *samples*."""
    from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415 - needed once, at the end of a run
    from markupsafe import Markup  # noqa: PLC0415

    made = Environment(loader=PackageLoader(__package__), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    made.filters |= {"visible": visible_signs, "number": lambda count: f"{count:,}"}
    style = (files(__package__ or "") / "templates" / "report.css").read_text(encoding="utf-8")
    digest = b64encode(sha256(style.encode()).digest()).decode()
    engine = report["engine"]
    return made.get_template("report.html.j2").render(
        policy=f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'",
        style=Markup(style),  # noqa: S704 - our own file
        report=report,
        engine=engine,
        rules=_rules(engine.get("found_by_rule", [])),
        groups=_shares(engine.get("people", {}).get("groups", {})),
        kinds=_shares(report["replaced"]["by_kind"]),
        left={"unknown": _most(report["unknown"]["tags"]), "alone": _most(report["left_alone"]["brackets"])},
        residual=engine.get("looks_like_personal_information_still"),
        samples=samples,
    )


def visible_signs(text: object) -> str:
    """Return *text* with signs that nobody sees, or that turn the direction of others, told as [U+202E]."""
    return _UNSEEN.sub(lambda match: f"[U+{ord(match[0]):04X}]", str(text))


def _rules(rules: Sequence[Mapping[str, Any]]) -> list[tuple[str, list[Mapping[str, Any]], int]]:
    """Return the rules in groups by how sure they are: the group's name, its rules, and how many mentions they found."""
    bands: dict[str, list[Mapping[str, Any]]] = {name: [] for name in _BANDS}
    for rule in rules:
        bands[_band(rule)].append(rule)
    return [(name, found[:_MOST_ROWS], sum(one["count"] for one in found)) for name, found in bands.items() if found]


def _band(rule: Mapping[str, Any]) -> str:
    sure = rule["confidence"]
    if sure is None:
        return _BANDS[4 if rule["pattern"] in {"span", RULE} else 3]
    return _BANDS[0 if sure >= _SURE else 1 if sure >= _LIKELY else 2]


def _shares(counts: Mapping[str, int]) -> list[tuple[str, int, int]]:
    """Return name, count, and the width of its bar in twentieths of the largest."""
    most = max(counts.values(), default=0) or 1
    return [(name, count, round(20 * count / most)) for name, count in _most(counts)]


def _most(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    return list(counts.items())[:_MOST_ROWS]
