"""``tab``: is everything masked that would identify somebody, and how much else? After Pilán et al. 2022.

(The Text Anonymization Benchmark, Computational Linguistics 48(4).)

**Entities** are the mentions that an annotator gave the same ``value_id``; without one, those of the same type and text. An entity is
protected if *all* of its mentions that need masking are masked: only blanks and the signs ``MAY_STAY`` may stay, as in the authors'
script. It is direct if one of its mentions is a direct identifier, else quasi. What kind a mention is, the file says, or the table of
types does (``taxonomy.identifying``); those that need no masking ("none") matter to precision only. Types of predictions do not matter,
nor does relevance.

**Recall** is the share of protected entities, masked mentions, and masked tokens (runs of letters and digits) of them. **Precision** is
the share of predicted tokens, or mentions, that lie in one gold mention that needs masking. Each token counts once, by its information
content: 1, or what a language model says (``token_information``).

**Several annotators**: each is a gold standard of its own, and all counts are summed over documents and annotators before dividing, as
in the paper (micro). A predicted token thus counts once for each annotator. Figures called ``macro`` are the plain mean of what is
computed for each annotator of each document; where there is nothing to divide by, an annotator is left out of a mean.

By type: recall is that of the gold mentions of this type, precision that of what was predicted under it.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

import orjson

from piiloom.evaluation.inputs.documents import AnnotatedDocument, AnnotatedMention, IdentifierKind, Needs
from piiloom.evaluation.schemes.base import OVERALL, SchemeSettings
from piiloom.evaluation.schemes.masking import Ranges, TextRange, counting, found_ranges
from piiloom.evaluation.schemes.precision_recall import ratio
from piiloom.foundation.errors import DataError, UsageError
from piiloom.taxonomy.identifying import identifying_table

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# The information content of [start, end) of a document.
Weigh = Callable[[int, int], float]
_TOKEN = re.compile(r"\w+")
MAY_STAY = frozenset(",.-;:/&()[]–'\"’“”")
_LEVELS = ("entity", "mention", "token")
_KINDS: tuple[IdentifierKind, ...] = ("direct", "quasi")
_PREDICTED = ("precision", "weighted_precision", "mention_precision", "weighted_mention_precision")
_MACRO = ("macro_entity_recall_direct", "macro_entity_recall_quasi", "macro_weighted_precision")
# Each share takes two columns: its part and its whole.
_SHARES = (*(f"{level}_recall_{kind}" for level in _LEVELS for kind in _KINDS), *_PREDICTED, *_MACRO)
# First columns of each level: those of direct identifiers; those of quasi ones are two further on.
_AT_ENTITIES, _AT_MENTIONS, _AT_TOKENS = range(0, 2 * len(_LEVELS) * len(_KINDS), 2 * len(_KINDS))
_FIRST_PREDICTED = 2 * len(_LEVELS) * len(_KINDS)
_FIRST_MACRO = _FIRST_PREDICTED + 2 * len(_PREDICTED)
_MACRO_PRECISION = _FIRST_MACRO + 2 * len(_KINDS)
_Masked = tuple[str | None, bool, int, int]  # a mention's type, whether it is masked, its masked tokens, its tokens
_Rows = defaultdict[str, list[float]]  # the counts of one document by type
_Pieces = dict[TextRange, set[str]]  # what is predicted, and under which types, ``OVERALL`` among them


def uniform(_start: int, _end: int) -> float:
    """Return 1 for every range."""
    return 1.0


class TokenInformation:
    """A file of token probabilities. All of it is checked at once; kept is where each document stands in it, not its tokens."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._offsets: dict[str, tuple[int, int]] = {}
        for number, offset, line in _lines(path):
            where = f"{path.name}:{number}"
            name, *_ = _parsed(line, where)
            if name in self._offsets:
                raise DataError(f"id {name!r} is in line {self._offsets[name][0]} already", where=where, remedy="Give each document once")
            self._offsets[name] = (number, offset)
        if not self._offsets:
            raise DataError("holds no document", where=path.name, remedy='Write {"id": …, "tokens": […]} a line and document')

    def of(self, document: AnnotatedDocument) -> Weigh:
        """Return the information content of the ranges of *document*.

        Raises ``DataError`` if the file lacks it, or has tokens beyond the end of its text.
        """
        if document.id is None or document.id not in self._offsets:
            name = "a document without an id" if document.id is None else f"document {document.id!r}"
            raise DataError(f"has no token probabilities of {name}", where=self._path.name, remedy="Give those of all documents, by id")
        number, offset = self._offsets[document.id]
        with self._path.open("rb") as file:
            file.seek(offset)
            _, starts, ends, contents = _parsed(file.readline(), f"{self._path.name}:{number}")
        if document.text is not None and ends and ends[-1] > len(document.text):
            what = f"a token ends at {ends[-1]}, the text of document {document.id!r} at {len(document.text)}"
            raise DataError(what, where=f"{self._path.name}:{number}", remedy="Compute the probabilities from the same texts")

        def weigh(start: int, end: int) -> float:
            """Return -ln p of the least likely token that has a part of [start, end), as the paper's script does; 0 if there is none."""
            return max(contents[bisect_right(ends, start) : bisect_left(starts, end)], default=0.0)

        return weigh


def _lines(path: Path) -> Iterator[tuple[int, int, bytes]]:
    offset = 0
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    yield number, offset, line
                offset += len(line)
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror}", where=path.name, remedy="Check the path") from error


def _parsed(line: bytes, where: str) -> tuple[str, list[int], list[int], list[float]]:
    """Return the id, and the starts, the ends and the information contents of the tokens."""
    try:
        row = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise DataError("is not valid JSON", where=where, remedy="Write one JSON object a line") from error
    if not isinstance(row, dict) or not isinstance(row.get("id"), str) or not isinstance(row.get("tokens"), list):
        raise DataError("has not the two keys id (text) and tokens (a list)", where=where, remedy='Write {"id": …, "tokens": […]}')
    starts: list[int] = []
    ends: list[int] = []
    contents: list[float] = []
    for at, token in enumerate(row["tokens"]):
        spot = f"{where}: tokens[{at}]"
        start, end = _place(token, spot)
        if starts and (start < starts[-1] or end < ends[-1]):
            raise DataError("stands before the one before it", where=spot, remedy="Sort the tokens by start and end")
        starts.append(start)
        ends.append(end)
        contents.append(_content(token, spot))
    return row["id"], starts, ends, contents


def _place(token: Any, where: str) -> tuple[int, int]:
    start, end = (token.get("start"), token.get("end")) if isinstance(token, dict) else (None, None)
    if type(start) is not int or type(end) is not int or not 0 <= start < end:
        raise DataError("start and end are no range of the text", where=where, remedy="Leave out what stands for no text, such as [CLS]")
    return start, end


def _content(token: dict[str, Any], where: str) -> float:
    probability, logarithm = token.get("probability"), token.get("log_probability")
    if _is_number(probability) and logarithm is None and 0 < probability <= 1:
        return -math.log(probability)
    if _is_number(logarithm) and probability is None and -math.inf < logarithm <= 0:
        return -float(logarithm)
    raise DataError(
        "states no probability", where=where, remedy="Give either probability, 0 < p <= 1, or log_probability, its natural logarithm"
    )


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


@dataclass(slots=True)
class _TabEntity:
    direct: bool = False
    mentions: list[_Masked] = field(default_factory=list)


@dataclass(slots=True)
class _Annotator:
    """What one annotator says of one document."""

    to_mask: list[TextRange] = field(default_factory=list)
    entities: defaultdict[object, _TabEntity] = field(default_factory=lambda: defaultdict(_TabEntity))


class TabScheme:
    """The scheme; see the module docstring. A gold mention without a place is never masked, a predicted one masks nothing."""

    name = "tab"
    needs: Needs = "places"
    columns = tuple(f"{name}_{what}" for name in _SHARES for what in ("part", "whole"))
    headline = ("entity_recall_direct", "entity_recall_quasi", "token_recall", "weighted_precision")

    def __init__(self, options: SchemeSettings) -> None:
        """Read the files that *options* name; raises ``DataError`` or ``ConfigError`` for a malformed one."""
        self._identifying = identifying_table(options.weights)
        self._information = TokenInformation(options.token_probabilities) if options.token_probabilities else None
        words = "|".join(re.escape(word) for word in options.may_stay)
        self._may_stay = re.compile(rf"\b(?:{words})\b", re.IGNORECASE) if words else None

    def count(self, gold: AnnotatedDocument, found: AnnotatedDocument) -> Mapping[str, Sequence[float]]:
        """Return part and whole of each share by type."""
        width = len(self.columns)
        counts: _Rows = defaultdict(lambda: [0.0] * width, {OVERALL: [0.0] * width})
        annotators = self._annotators(gold, found_ranges(found))
        for annotator in annotators:
            _count_recall(counts, annotator)
        self._count_precision(counts, gold, found, annotators)
        return counts

    def figures(self, totals: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
        """Return all shares, those of direct and quasi identifiers also together."""
        pairs = {name: (totals[..., 2 * at], totals[..., 2 * at + 1]) for at, name in enumerate(_SHARES)}
        figures = {}
        for level in _LEVELS:
            direct, quasi = (pairs.pop(f"{level}_recall_{kind}") for kind in _KINDS)
            figures[f"{level}_recall_direct"] = ratio(*direct)
            figures[f"{level}_recall_quasi"] = ratio(*quasi)
            figures[f"{level}_recall"] = ratio(direct[0] + quasi[0], direct[1] + quasi[1])
        return figures | {name: ratio(*pair) for name, pair in pairs.items()}

    def _annotators(self, gold: AnnotatedDocument, ranges: Ranges) -> list[_Annotator]:
        """Return what each annotator says. A document without a mention has one annotator, who found none."""
        annotators: defaultdict[str | None, _Annotator] = defaultdict(_Annotator)
        for mention in gold.mentions:
            annotator = annotators[mention.annotator]
            kind = mention.identifier or self._identifying.of(mention.entity_type, mention.subtype).identifier
            if kind == "none":
                continue
            if mention.place is not None:
                annotator.to_mask.append(mention.place)
            key = mention.value_id if mention.value_id is not None else (mention.entity_type, mention.text)
            entity = annotator.entities[key]
            entity.direct |= kind == "direct"
            entity.mentions.append((mention.entity_type, *self._masked(mention, ranges)))
        # In a fixed order, since sums of floats depend on it.
        return [annotators[name] for name in sorted(annotators, key=lambda name: name or "")] or [_Annotator()]

    def _masked(self, mention: AnnotatedMention, ranges: Ranges) -> tuple[bool, int, int]:
        """Return whether *mention* is masked, how many of its tokens are, and how many it has."""
        text, start = mention.text, mention.start
        if start is None or ranges.hold(start, start + len(text)):
            tokens = len(_TOKEN.findall(text))
            return (False, 0, tokens) if start is None else (True, tokens, tokens)
        left = ranges.uncovered(start, self._counted(text))
        masked = [bisect_left(left, token.start()) == bisect_left(left, token.end()) for token in _TOKEN.finditer(text)]
        return not left, sum(masked), len(masked)

    def _counted(self, text: str) -> list[int]:
        counted = [at for at, sign in enumerate(text) if not (sign.isspace() or sign in MAY_STAY)] or counting(text)
        if self._may_stay is None:
            return counted
        free = {at for word in self._may_stay.finditer(text) for at in range(*word.span())}
        # A mention of nothing but such words has to be masked like any other.
        return [at for at in counted if at not in free] or counted

    def _count_precision(self, counts: _Rows, gold: AnnotatedDocument, found: AnnotatedDocument, annotators: Sequence[_Annotator]) -> None:
        weigh = self._information.of(gold) if self._information else uniform
        to_mask = [Ranges(one.to_mask) for one in annotators]
        spans, tokens = _predicted(found, gold.text if gold.text is not None else found.text)
        _add_pieces(counts, _FIRST_PREDICTED, tokens, to_mask, weigh)
        _add_pieces(counts, _FIRST_PREDICTED + 4, spans, to_mask, weigh)
        for row in counts.values():
            right, whole = row[_FIRST_PREDICTED + 2], row[_FIRST_PREDICTED + 3]
            if whole > 0:  # the sum of what is right to each annotator, over what each is asked about
                row[_MACRO_PRECISION] = len(to_mask) * right / whole
                row[_MACRO_PRECISION + 1] = len(to_mask)


def _predicted(found: AnnotatedDocument, text: str | None) -> tuple[_Pieces, _Pieces]:
    """Return the mentions, and their tokens."""
    spans: _Pieces = {}
    tokens: _Pieces = {}
    for mention in found.mentions:
        start, end = mention.start, mention.end
        if start is not None and end is not None:
            name = mention.entity_type or OVERALL
            spans.setdefault((start, end), {OVERALL}).add(name)
            for token in _TOKEN.finditer(mention.text if text is None else text[start:end]):
                first, last = token.span()
                tokens.setdefault((start + first, start + last), {OVERALL}).add(name)
    return spans, tokens


def _add_pieces(counts: _Rows, first: int, pieces: _Pieces, to_mask: Sequence[Ranges], weigh: Weigh) -> None:
    """Add masked tokens, or mentions, to the four columns from *first* on: right and all, by number and by weight."""
    number = len(to_mask)
    second, third, fourth = first + 1, first + 2, first + 3
    for place, names in sorted(pieces.items(), key=itemgetter(0)):  # sums of floats in the same order, whatever that of the mentions is
        start, end = place
        weight = weigh(start, end)
        right = 0
        for ranges in to_mask:
            right += ranges.hold(start, end)
        for name in names:
            row = counts[name]
            row[first] += right
            row[second] += number
            row[third] += right * weight
            row[fourth] += number * weight


def _count_recall(counts: _Rows, annotator: _Annotator) -> None:
    """Add what is masked of what *annotator* wants masked, by level and kind; entities also as the share of this document."""
    entities: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0, 0, 0])  # by type: protected and all, direct and quasi
    for entity in annotator.entities.values():
        kind = 0 if entity.direct else 2
        names, protected = {OVERALL}, True
        for entity_type, masked, tokens_masked, tokens in entity.mentions:
            protected = protected and masked
            names.add(entity_type or OVERALL)
            for total in (counts[OVERALL], counts[entity_type]) if entity_type else (counts[OVERALL],):
                total[_AT_MENTIONS + kind] += masked
                total[_AT_MENTIONS + kind + 1] += 1
                total[_AT_TOKENS + kind] += tokens_masked
                total[_AT_TOKENS + kind + 1] += tokens
        for name in names:
            row = entities[name]
            row[kind] += protected
            row[kind + 1] += 1
    for name, row in entities.items():
        total = counts[name]
        for kind in (0, 2):
            if row[kind + 1]:
                total[_AT_ENTITIES + kind] += row[kind]
                total[_AT_ENTITIES + kind + 1] += row[kind + 1]
                total[_FIRST_MACRO + kind] += row[kind] / row[kind + 1]
                total[_FIRST_MACRO + kind + 1] += 1
