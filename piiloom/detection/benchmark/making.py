"""Make the benchmark: so many documents of each locale, over domains and lengths in turn, and write them to a folder.

The folder has ``benchmark.jsonl`` (native rows), ``look_alikes.jsonl`` and ``benchmark.json`` (options and counts). The same seed and
counts give the same bytes. A document depends only on the seed, its locale and its number, so a larger benchmark begins with the smaller
one.

Spoil documents as everyday life does: spacing, case, transliteration, errors of character recognition, other digits.

Each perturbation rewrites a text code point by code point, so the places of values move along exactly; values change like all else and
keep their labels. A value of which nothing is left keeps no place; those are counted.
"""

from __future__ import annotations

import json
import random
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from anyascii import anyascii

from piiloom.corpus.formats.base import ReadOptions, read_records
from piiloom.corpus.formats.native_rows import row_line, row_of
from piiloom.corpus.formats.registry import NativeFormat
from piiloom.corpus.record import Provenance, Record, SourceReference, Span
from piiloom.detection.benchmark.benchmark_options import BenchmarkOptions
from piiloom.detection.benchmark.carriers import Carrier, Length, read_own_carriers, shipped_carriers, word_count
from piiloom.detection.benchmark.composing import ValuePlace, compose
from piiloom.foundation.errors import DataError, OutputError, UsageError
from piiloom.foundation.noop import noop
from piiloom.foundation.seeding import derive_rng
from piiloom.foundation.whole_files import drafted, output_errors
from piiloom.foundation.words import trimmed
from piiloom.taxonomy.entities.catalogue_file import Domain
from piiloom.taxonomy.entities.entity_catalogue import LocaleCatalogue, load_catalogue
from piiloom.taxonomy.entity_types import shipped_taxonomy

# What stands in place of each code point of a text.
Rewritten = list[str]
Perturbation = Callable[[str, str, random.Random], Rewritten]

_OCR_RATE: Final = 0.02  # of code points, about that of a middling scan
_SPACING_RATE: Final = 0.08  # of blanks and of joints between groups of digits
_CONFUSED: Final = MappingProxyType(
    {
        "0": "O",
        "O": "0",
        "1": "l",
        "l": "1",
        "I": "l",
        "5": "S",
        "S": "5",
        "8": "B",
        "B": "8",
        "2": "Z",
        "6": "b",
        "9": "g",
        "m": "rn",
        "e": "c",
        "c": "e",
        "h": "b",
        "u": "v",
        "n": "u",
        "a": "o",
        "t": "f",
        "i": "j",
        ",": ".",
        ".": ",",
        ":": ";",
        "日": "目",
        "未": "末",
        "己": "已",
        "人": "入",
        "大": "太",
        "०": "o",
        "٠": ".",
        "٥": "o",
    }
)
_DIGITS: Final[Mapping[str, str]] = MappingProxyType({"ar": "٠١٢٣٤٥٦٧٨٩", "hi": "०१२३४५६७८९"})
_FULL_WIDTH: Final = "０１２３４５６７８９"


def spacing(text: str, locale: str, rng: random.Random) -> Rewritten:  # noqa: ARG001 - all perturbations are called alike
    """Double blanks, no-break blanks, blanks lost after a comma, and numbers grouped in other ways."""
    out: Rewritten = []
    for at, character in enumerate(text):
        before = text[at - 1] if at else ""
        if character == " " and rng.random() < _SPACING_RATE:
            out.append("" if before in ",;:" else rng.choice(("  ", "\u00a0", "\u2009")))
        elif character in "-./" and before.isdigit() and text[at + 1 : at + 2].isdigit() and rng.random() < _SPACING_RATE:
            out.append(rng.choice(("", " ", f" {character} ")))
        else:
            out.append(character)
    return out


def case(text: str, locale: str, rng: random.Random) -> Rewritten:  # noqa: ARG001
    """The whole text in capitals or in small letters."""
    change = str.upper if rng.random() < 0.4 else str.lower
    return [change(character) for character in text]


def transliteration(text: str, locale: str, rng: random.Random) -> Rewritten:  # noqa: ARG001
    """ASCII letters for all others: without the marks of Latin letters, romanised from other scripts."""
    return [character if character.isascii() else anyascii(character) for character in text]


def ocr(text: str, locale: str, rng: random.Random) -> Rewritten:  # noqa: ARG001
    """Characters taken for others that look like them, marks lost, blanks lost or put in."""
    return [character if rng.random() >= _OCR_RATE else _misread(character, rng) for character in text]


def _misread(character: str, rng: random.Random) -> str:
    if character == " ":
        return rng.choice(("", "  "))
    if character in _CONFUSED:
        return _CONFUSED[character]
    bare = unicodedata.normalize("NFD", character)[0]
    if bare != character:
        return bare
    return f"{character} " if character.isalpha() else character


def other_digits(text: str, locale: str, rng: random.Random) -> Rewritten:  # noqa: ARG001
    """The digits of the locale's own script; full-width ones where it has none."""
    digits = _DIGITS.get(locale[:2], _FULL_WIDTH)
    return [digits[int(character)] if character.isascii() and character.isdigit() else character for character in text]


PERTURBATIONS: Final[Mapping[str, Perturbation]] = MappingProxyType(
    {"spacing": spacing, "case": case, "transliteration": transliteration, "ocr": ocr, "digits": other_digits}
)


def perturb(
    name: str, text: str, places: Sequence[Sequence[ValuePlace]], locale: str, rng: random.Random
) -> tuple[str, tuple[tuple[ValuePlace, ...], ...]]:
    """Return *text* after the perturbation *name*, and each list of *places* moved along. Raises ``UsageError`` for an unknown name."""
    if name not in PERTURBATIONS:
        raise UsageError(f"there is no perturbation {name!r}", remedy=f"Known: {', '.join(PERTURBATIONS)}")
    rewritten = PERTURBATIONS[name](text, locale, rng)
    starts = [0, *accumulate(map(len, rewritten))]
    changed = "".join(rewritten)
    return changed, tuple(tuple(_moved(changed, starts, listed)) for listed in places)


def _moved(changed: str, starts: Sequence[int], places: Iterable[ValuePlace]) -> Iterable[ValuePlace]:
    """Move *places*; blanks that a perturbation put at the ends of a value are not part of it."""
    for place in places:
        start, end = trimmed(changed, starts[place.start], starts[place.end])
        if start < end:
            yield ValuePlace(start, end, place.what)


BENCHMARK: Final = "benchmark"
_COUNTED: Final = ("documents", "domains", "lengths", "forms", "entities", "look_alikes", "perturbations")


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkDocument:
    """A record, and where look-alikes stand in it."""

    record: Record
    look_alikes: tuple[ValuePlace, ...]
    domain: Domain
    length: Length
    form: str
    perturbation: str | None
    words: int


@dataclass(slots=True)
class BenchmarkCounts:
    """What was made so far."""

    named: dict[str, Counter[str]] = field(default_factory=lambda: {name: Counter() for name in _COUNTED})
    words: int = 0
    lost_values: int = 0

    def add(self, document: BenchmarkDocument) -> None:
        """Count *document*."""
        self.words += document.words
        found: dict[str, Sequence[str]] = {
            "documents": [document.record.locale],
            "domains": [document.domain],
            "lengths": [document.length],
            "forms": [document.form],
            "entities": [span.subtype or span.entity_type for span in document.record.spans],
            "look_alikes": [place.what for place in document.look_alikes],
            "perturbations": [document.perturbation] if document.perturbation else [],
        }
        for name, values in found.items():
            self.named[name].update(values)

    def to_json(self) -> dict[str, Any]:
        """The counts as JSON values, in a fixed order."""
        counted = {name: dict(sorted(numbers.items())) for name, numbers in self.named.items()}
        return {**counted, "words": self.words, "lost_values": self.lost_values}


def make_benchmark(
    options: BenchmarkOptions,
    counts: BenchmarkCounts,
    watch: Callable[[int, int], object] = noop,
    carriers: Mapping[str, Sequence[Carrier]] | None = None,
) -> Iterator[BenchmarkDocument]:
    """Yield the documents, by locale, and count them in *counts*. *watch* is told how many of how many are done.

    *carriers*, by locale, are taken instead of those that ship; what domains and lengths they lack is left out.

    Raises ``UsageError`` where no carrier fits.
    """
    total, done = sum(map(options.count, options.locales)), 0
    for locale in options.locales:
        catalogue = load_catalogue(locale, unconfirmed=True)  # a value of a form that no source confirms is personal all the same
        decks = _Decks(locale, options, shipped_carriers(locale) if carriers is None else carriers.get(locale, ()), whole=carriers is None)
        for number in range(options.count(locale)):
            document = _document(number, decks.carrier(number), catalogue, options, counts)
            counts.add(document)
            yield document
            done += 1
            watch(done, total)


class _Decks:
    """The *carriers* of one locale by domain and length; each is used before one is used again. *whole*: no domain and length lacks one."""

    def __init__(self, locale: str, options: BenchmarkOptions, carriers: Sequence[Carrier], *, whole: bool) -> None:
        cells = [(domain, length) for length in options.lengths for domain in options.domains]
        self._by_cell: dict[tuple[Domain, Length], list[Carrier]] = {}
        for domain, length in cells:
            fitting = [one for one in carriers if one.domain == domain and length in one.lengths]
            if not fitting and not whole:
                continue
            if not fitting:
                raise UsageError(f"no carrier of {locale} is of the domain {domain} and the length {length}")
            derive_rng("benchmark deck", options.seed, locale, domain, length).shuffle(fitting)
            self._by_cell[domain, length] = fitting
        self._cells = list(self._by_cell)
        if not self._cells:
            raise UsageError(f"no carrier of {locale} is of these domains and lengths", remedy="Ask for others, or add carriers")

    def carrier(self, number: int) -> tuple[Carrier, Length]:
        """The carrier of the document *number*, and its length."""
        round_number, at = divmod(number, len(self._cells))
        cell = self._cells[at]
        fitting = self._by_cell[cell]
        return fitting[round_number % len(fitting)], cell[1]


def _document(
    number: int, chosen: tuple[Carrier, Length], catalogue: LocaleCatalogue, options: BenchmarkOptions, counts: BenchmarkCounts
) -> BenchmarkDocument:
    carrier, length = chosen
    rng = derive_rng(BENCHMARK, options.seed, carrier.locale, number)
    composed = compose(carrier, length, catalogue, rng)
    perturbation = options.perturbations[number % len(options.perturbations)] if options.perturbations else None
    text, values, look_alikes = composed.text, composed.values, composed.look_alikes
    if perturbation is not None:
        text, (values, look_alikes) = perturb(perturbation, text, (values, look_alikes), carrier.locale, rng)
    counts.lost_values += len(composed.values) - len(values)
    record = Record(
        id=f"{carrier.locale}-{carrier.domain}-{length}-{number:05d}{f'-{perturbation}' if perturbation else ''}",
        context=text,
        locale=carrier.locale,
        spans=tuple(_spans(text, values, catalogue)),
        source=SourceReference(file=carrier.file, id=carrier.id),
        group_keys=(f"carrier:{carrier.id}",),
        provenance=Provenance(stage=BENCHMARK, seed=options.seed),
    )
    return BenchmarkDocument(
        record=record,
        look_alikes=look_alikes,
        domain=carrier.domain,
        length=length,
        form=carrier.form,
        perturbation=perturbation,
        words=word_count(text, carrier.locale),
    )


def _spans(text: str, values: Sequence[ValuePlace], catalogue: LocaleCatalogue) -> Iterator[Span]:
    ids: dict[str, str] = {}
    for number, place in enumerate(values, 1):
        value = text[place.start : place.end]
        yield Span(
            id=f"s{number}",
            start=place.start,
            end=place.end,
            entity_type=catalogue.entities[place.what].entity_type,
            subtype=place.what,
            value_id=ids.setdefault(value, f"v{len(ids) + 1}"),
        )


ROWS: Final = "benchmark.jsonl"
LOOK_ALIKES: Final = "look_alikes.jsonl"
ABOUT: Final = "benchmark.json"
_SCHEMA: Final = 1


def write_benchmark(
    out: Path,
    documents: Iterator[BenchmarkDocument],
    options: BenchmarkOptions,
    counts: BenchmarkCounts,
    *,
    force: bool,
    carriers: Mapping[str, Any] | None = None,
) -> None:
    """Write *documents* into the folder *out*; ``benchmark.json`` comes last, so a folder that has it is complete.

    *carriers* tells of carriers that are not those that ship.

    Raises ``OutputError`` if the folder has files that would be replaced (unless *force*) or cannot be written.
    """
    with output_errors(out):
        if not force and any((out / name).exists() for name in (ROWS, LOOK_ALIKES, ABOUT)):
            raise OutputError("there is a benchmark already", where=str(out), remedy="Give another folder, or --force to replace it")
        with drafted(out / ROWS) as rows, drafted(out / LOOK_ALIKES) as look_alikes:
            (out / ABOUT).unlink(missing_ok=True)
            for document in documents:
                rows.write(row_line(row_of(document.record)))
                look_alikes.write(row_line(_look_alikes_of(document)))
        about = {"schema": _SCHEMA, "options": options.part(BenchmarkOptions).model_dump(), "counts": counts.to_json()} | (
            {"carriers": carriers} if carriers else {}
        )
        with drafted(out / ABOUT) as file:
            file.write((json.dumps(about, ensure_ascii=False, indent=1) + "\n").encode())


def make_folder(
    out: Path,
    options: BenchmarkOptions,
    *,
    carriers: Path | None = None,
    with_shipped: bool = False,
    force: bool = False,
    watch: Callable[[tuple[int, int]], object] = noop,
) -> dict[str, Any]:
    """Make a benchmark in the folder *out*, and return its counts.

    The carriers are those that ship, or those in the folder *carriers* (*with_shipped*: both). Of these, domains and lengths that are not
    named are left out where there are none. *watch* gets the numbers of the documents that are done and of all.

    Raises ``UsageError`` for a named locale, domain or length without a carrier, and the errors of ``write_benchmark`` and
    ``read_own_carriers``.
    """
    own = None
    if carriers is not None:
        own = read_own_carriers(carriers, with_shipped=with_shipped, locales=options.locales)
        named = options.model_fields_set
        if "locales" not in named:
            options = options.model_copy(update={"locales": tuple(own.by_locale)})
        own.require(options.locales, options.domains if "domains" in named else (), options.lengths if "lengths" in named else ())
    elif with_shipped:
        raise UsageError("there are no other carriers", where="--with-shipped", remedy="Add --carriers DIR, or leave it out")
    counts, about = BenchmarkCounts(), own.to_json() if own else None
    made = make_benchmark(options, counts, lambda done, total: watch((done, total)), own.by_locale if own else None)
    write_benchmark(out, made, options, counts, force=force, carriers=about)
    return counts.to_json() | ({"carriers": about} if about else {})


def benchmark_document(folder: Path, document_id: str) -> Record:
    """Return a document of the benchmark in *folder*. Raises ``UsageError`` if there is none of that id."""
    read_benchmark(folder)
    options = ReadOptions(taxonomy=shipped_taxonomy(), blank_contexts=True)  # the documents have types that ship
    found = next((one for one in read_records(NativeFormat(), folder / ROWS, options) if one.id == document_id), None)
    if found is None:
        raise UsageError(f"there is no document {document_id!r}", where=str(folder / ROWS), remedy="Its lines begin with their ids")
    return found


def _look_alikes_of(document: BenchmarkDocument) -> dict[str, Any]:
    text = document.record.context
    found = [{"start": one.start, "end": one.end, "text": text[one.start : one.end], "kind": one.what} for one in document.look_alikes]
    facts = {"domain": document.domain, "length": document.length, "form": document.form, "perturbation": document.perturbation}
    return {"id": document.record.id, **facts, "look_alikes": found}


def read_benchmark(folder: Path) -> dict[str, Any]:
    """Return what ``benchmark.json`` in *folder* says; raises ``DataError`` if it is missing or not ours."""
    path = folder / ABOUT
    try:
        about: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        ours = about["schema"] == _SCHEMA and isinstance(about["counts"], dict)
    except (OSError, ValueError, KeyError, TypeError):
        ours = False
    if not ours:
        raise DataError("is not the folder of a benchmark", where=str(folder), remedy="piiloom benchmark make writes one")
    return about
