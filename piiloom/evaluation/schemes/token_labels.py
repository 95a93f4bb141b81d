r"""``token``: each token has the types of the mentions that cover it, and each type of a token is found or not.

Tokens are ``\w+|[^\w\s]``. A token that a mention covers in part has its type, too; one that mentions of several types cover has
all of these types. Counts are of (token, type): tokens without a type on either side are in none of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from piiloom.evaluation.inputs.documents import Document, Needs
from piiloom.evaluation.schemes.base import OVERALL, type_key
from piiloom.evaluation.schemes.precision_recall import PrecisionRecall
from piiloom.evaluation.schemes.tokens import Cover, token_count, token_cover


class TokenScheme(PrecisionRecall):
    """The scheme; see the module docstring. A mention without a place counts with the tokens of its value, none of which is found."""

    name = "token"
    needs: Needs = "places"

    def count(self, gold: Document, found: Document) -> Mapping[str, Sequence[float]]:
        """Return tp, fp and fn by type."""
        cover = token_cover(gold, found)
        wanted, lost = _labels(gold, cover)
        given, idle = _labels(found, cover)
        counts: dict[str, list[float]] = {OVERALL: [0, 0, 0]}
        for name in wanted.keys() | given.keys():
            tokens, others = wanted.get(name, set()), given.get(name, set())
            hits = len(tokens & others)
            row = (hits, len(others) - hits + idle[name], len(tokens) - hits + lost[name])
            counts[OVERALL] = [sum(two) for two in zip(counts[OVERALL], row, strict=True)]
            counts[name] = list(row)
        return counts


def _labels(document: Document, cover: Cover) -> tuple[dict[str, set[int]], Counter[str]]:
    """Return the starts of the tokens of each type, and how many tokens of each type are in mentions without a place."""
    tokens: dict[str, set[int]] = {}
    without: Counter[str] = Counter()
    for one in document.mentions:
        name = type_key(one)
        starts = tokens.setdefault(name, set())
        if one.start is None or one.end is None:
            without[name] += token_count(one.text)
        else:
            starts.update(cover(one.start, one.end))
    return tokens, without
