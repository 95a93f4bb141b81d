"""``tab``: is everything masked that would identify somebody, and how much else? After Pilán et al. 2022.

(The Text Anonymization Benchmark, Computational Linguistics 48(4).)

**Entities** are the mentions that an annotator gave the same ``value_id``; without one, those of the same type and text. An entity is
protected if *all* of its mentions that need masking are covered (``coverage``) by what is predicted. It is direct if one of its
mentions is a direct identifier, else quasi. What kind a mention is, the file says, or the table of types does (``taxonomy.identifying``);
those that need no masking ("none") matter to precision only. Types of predictions do not matter, nor does relevance.

**Recall** is the share of protected entities, masked mentions, and masked tokens (runs of letters and digits) of them. **Precision** is
the share of predicted tokens, or mentions, that lie in one gold mention that needs masking. Each token counts once, by its information
content: 1, or what a language model says (``token_information``).

**Several annotators**: each is a gold standard of its own, and all counts are summed over documents and annotators before dividing, as
in the paper (micro). A predicted token thus counts once for each annotator. Figures called ``macro`` are the plain mean of what is
computed for each annotator of each document; where there is nothing to divide by, an annotator is left out of a mean.

By type: recall is that of the gold mentions of this type, precision that of what was predicted under it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from piiloom.evaluation.inputs.documents import Document, Identifier, Mention
from piiloom.evaluation.schemes.base import OVERALL, Needs, SchemeOptions
from piiloom.evaluation.schemes.coverage import Place, Ranges, counting, found_ranges
from piiloom.evaluation.schemes.precision_recall import share
from piiloom.evaluation.schemes.token_information import TokenInformation, Weigh, uniform
from piiloom.taxonomy.identifying import identifying_table

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_TOKEN = re.compile(r"\w+")
_LEVELS = ("entity", "mention", "token")
_KINDS: tuple[Identifier, ...] = ("direct", "quasi")
_PREDICTED = ("precision", "weighted_precision", "mention_precision", "weighted_mention_precision")
_MACRO = ("macro_entity_recall_direct", "macro_entity_recall_quasi", "macro_weighted_precision")
# Each share takes two columns: its part and its whole.
_SHARES = (*(f"{level}_recall_{kind}" for level in _LEVELS for kind in _KINDS), *_PREDICTED, *_MACRO)
_FIRST_PREDICTED = 2 * len(_LEVELS) * len(_KINDS)
_FIRST_MACRO = _FIRST_PREDICTED + 2 * len(_PREDICTED)
_MACRO_PRECISION = _FIRST_MACRO + 2 * len(_KINDS)

_Masked = tuple[str | None, bool, int, int]  # a mention's type, whether it is masked, its masked tokens, its tokens


@dataclass(slots=True)
class _Entity:
    direct: bool = False
    mentions: list[_Masked] = field(default_factory=list)


@dataclass(slots=True)
class _Annotator:
    """What one annotator says of one document."""

    to_mask: list[Place] = field(default_factory=list)
    entities: dict[object, _Entity] = field(default_factory=dict)


class TabScheme:
    """The scheme; see the module docstring. A gold mention without a place is never masked, a predicted one masks nothing."""

    name = "tab"
    needs: Needs = "places"
    columns = tuple(f"{name}_{what}" for name in _SHARES for what in ("part", "whole"))
    headline = ("entity_recall_direct", "entity_recall_quasi", "token_recall", "weighted_precision")

    def __init__(self, options: SchemeOptions) -> None:
        """Read the files that *options* name; raises ``DataError`` or ``ConfigError`` for a malformed one."""
        self._identifying = identifying_table(options.weights)
        self._information = TokenInformation(options.token_probabilities) if options.token_probabilities else None
        words = "|".join(re.escape(word) for word in options.may_stay)
        self._may_stay = re.compile(rf"\b(?:{words})\b", re.IGNORECASE) if words else None

    def count(self, gold: Document, found: Document) -> Mapping[str, Sequence[float]]:
        """Return part and whole of each share by type."""
        counts: dict[str, list[float]] = {OVERALL: [0.0] * len(self.columns)}
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
            figures[f"{level}_recall_direct"] = share(*direct)
            figures[f"{level}_recall_quasi"] = share(*quasi)
            figures[f"{level}_recall"] = share(direct[0] + quasi[0], direct[1] + quasi[1])
        return figures | {name: share(*pair) for name, pair in pairs.items()}

    def _annotators(self, gold: Document, ranges: Ranges) -> list[_Annotator]:
        """Return what each annotator says. A document without a mention has one annotator, who found none."""
        annotators: dict[str | None, _Annotator] = {}
        for mention in gold.mentions:
            annotator = annotators.setdefault(mention.annotator, _Annotator())
            kind = mention.identifier or self._identifying.of(mention.entity_type, mention.subtype).identifier
            if kind == "none":
                continue
            if mention.place is not None:
                annotator.to_mask.append(mention.place)
            key = mention.value_id if mention.value_id is not None else (mention.entity_type, mention.text)
            entity = annotator.entities.setdefault(key, _Entity())
            entity.direct |= kind == "direct"
            entity.mentions.append((mention.entity_type, *self._masked(mention, ranges)))
        # In a fixed order, since sums of floats depend on it.
        return [annotators[name] for name in sorted(annotators, key=lambda name: name or "")] or [_Annotator()]

    def _masked(self, mention: Mention, ranges: Ranges) -> tuple[bool, int, int]:
        """Return whether *mention* is masked, how many of its tokens are, and how many it has."""
        text, start = mention.text, mention.start
        tokens = [token.span() for token in _TOKEN.finditer(text)]
        if start is None:
            return False, 0, len(tokens)
        if ranges.hold(start, start + len(text)):
            return True, len(tokens), len(tokens)
        counted = self._counted(text)
        masked = {at for at in counted if ranges.hold(start + at, start + at + 1)}
        missing = [at for at in counted if at not in masked]
        left = sum(any(first <= at < last for at in missing) for first, last in tokens)
        return not missing, len(tokens) - left, len(tokens)

    def _counted(self, text: str) -> list[int]:
        counted = counting(text)
        if self._may_stay is None:
            return counted
        free = {at for word in self._may_stay.finditer(text) for at in range(*word.span())}
        # A mention of nothing but such words has to be masked like any other.
        return [at for at in counted if at not in free] or counted

    def _count_precision(self, counts: dict[str, list[float]], gold: Document, found: Document, annotators: list[_Annotator]) -> None:
        weigh = self._information.of(gold) if self._information else uniform
        to_mask = [Ranges(one.to_mask) for one in annotators]
        text = gold.text if gold.text is not None else found.text
        spans: set[tuple[str | None, Place]] = set()
        tokens: set[tuple[str | None, Place]] = set()
        for mention in found.mentions:
            if mention.place is not None and mention.start is not None:
                spans.add((mention.entity_type, mention.place))
                stands = mention.text if text is None else text[mention.start : mention.end]
                for token in _TOKEN.finditer(stands):
                    tokens.add((mention.entity_type, (mention.start + token.start(), mention.start + token.end())))
        for first, pieces in ((_FIRST_PREDICTED, tokens), (_FIRST_PREDICTED + 4, spans)):
            _add_pieces(counts[OVERALL], first, {place for _, place in pieces}, to_mask, weigh)
            for name in sorted({name for name, _ in pieces if name}):
                row = counts.setdefault(name, [0.0] * len(self.columns))
                _add_pieces(row, first, {place for kind, place in pieces if kind == name}, to_mask, weigh)


def _add_pieces(row: list[float], first: int, pieces: Iterable[Place], to_mask: Sequence[Ranges], weigh: Weigh) -> None:
    """Add masked tokens, or mentions, to the columns from *first* on: right and all, by number and by weight."""
    right = [0.0] * len(to_mask)
    whole = 0.0
    for place in sorted(pieces):  # floats are summed in the same order, whatever that of the mentions is
        weight = weigh(*place)
        whole += weight
        row[first + 1] += len(to_mask)
        for at, ranges in enumerate(to_mask):
            if ranges.hold(*place):
                row[first] += 1
                right[at] += weight
    row[first + 2] += sum(right)
    row[first + 3] += whole * len(to_mask)
    if first == _FIRST_PREDICTED and whole > 0:
        row[_MACRO_PRECISION] += sum(part / whole for part in right)
        row[_MACRO_PRECISION + 1] += len(to_mask)


def _count_recall(counts: dict[str, list[float]], annotator: _Annotator) -> None:
    own: dict[str, list[float]] = {}
    for entity in annotator.entities.values():
        kind = 0 if entity.direct else 2
        protected = all(masked for _, masked, _, _ in entity.mentions)
        for name in {OVERALL, *(one[0] or OVERALL for one in entity.mentions)}:
            row = own.setdefault(name, [0.0] * _FIRST_PREDICTED)
            row[kind] += protected
            row[kind + 1] += 1
        for entity_type, masked, tokens_masked, tokens in entity.mentions:
            for row in [own[OVERALL]] + ([own[entity_type]] if entity_type else []):
                row[kind + 4] += masked
                row[kind + 5] += 1
                row[kind + 8] += tokens_masked
                row[kind + 9] += tokens
    for name, row in own.items():
        total = counts.setdefault(name, [0.0] * (len(TabScheme.columns)))
        for at, value in enumerate(row):
            total[at] += value
        for kind in (0, 2):  # the mean over annotators, of entities
            if row[kind + 1]:
                total[_FIRST_MACRO + kind] += row[kind] / row[kind + 1]
                total[_FIRST_MACRO + kind + 1] += 1
