"""What the labels of a token classifier say: of which kind a token is, and whether it begins or ends a mention.

Schemes are found in the labels themselves: BIO (also IOB1, where B is seldom), BILOU, BIOES (E for the last, S for a single one) and IO
(no prefixes). The prefix may stand before or behind the kind: ``B-PER``, ``B_PER``, ``PER-B``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from piiloom.foundation.errors import UsageError

Scheme = Literal["BIO", "BILOU", "BIOES", "IO"]

_OUTSIDE: Final = "O"
_ALSO_OUTSIDE: Final = frozenset({"OTHER", "0", "NONE", "OUTSIDE"})  # where no label is O
_BEFORE: Final = re.compile(r"([BIELSU])[-_ ](.+)", re.DOTALL)
_BEHIND: Final = re.compile(r"(.+)[-_ ]([BIELSU])", re.DOTALL)
_BEGINS: Final = frozenset("BSU")  # S and U: the only one of its mention
_ENDS: Final = frozenset("ELSU")
_UNNAMED: Final = re.compile(r"LABEL_\d+")


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelScheme:
    """The labels of a model, taken apart.

    ``kinds`` are the kinds of mentions, in the order of their first label. For each label: ``kind_of`` is the number of its kind, -1 for
    those outside of mentions; ``begins`` and ``ends`` tell whether it begins or ends a mention for sure.
    """

    scheme: Scheme
    kinds: tuple[str, ...]
    kind_of: tuple[int, ...]
    begins: tuple[bool, ...]
    ends: tuple[bool, ...]


def scheme_of(labels: Sequence[str]) -> LabelScheme:
    """Return how *labels*, in the order of their numbers, are to be read.

    Raises ``UsageError`` if none is outside of mentions, none inside, or if they were never named (``LABEL_0`` …).
    """
    if labels and all(_UNNAMED.fullmatch(label) for label in labels):
        remedy = "Name them in id2label of config.json, such as: O, B-PER, I-PER"
        raise UsageError("the labels of the model have no names (LABEL_0 …)", remedy=remedy)
    outside = [label.strip().upper() == _OUTSIDE for label in labels]
    if not any(outside):
        outside = [label.strip().upper() in _ALSO_OUTSIDE for label in labels]
    parts = _parts([label for label, out in zip(labels, outside, strict=True) if not out])
    if not any(outside) or not parts:
        what = "for what is no mention (O)" if parts else "for a kind of mention"
        raise UsageError(
            f"the model has no label {what}", remedy="Is it a token classifier for named entities? See id2label in config.json"
        )
    kinds = tuple(dict.fromkeys(kind for _, kind in parts.values()))
    prefixes = ["" if out else parts[label][0] for label, out in zip(labels, outside, strict=True)]
    return LabelScheme(
        scheme=_named(frozenset(prefixes)),
        kinds=kinds,
        kind_of=tuple(-1 if out else kinds.index(parts[label][1]) for label, out in zip(labels, outside, strict=True)),
        begins=tuple(prefix in _BEGINS for prefix in prefixes),
        ends=tuple(prefix in _ENDS for prefix in prefixes),
    )


def _parts(labels: Sequence[str]) -> Mapping[str, tuple[str, str]]:
    """Prefix and kind of each label: on the side where all labels have a prefix, otherwise none has one."""
    for form, prefix, kind in ((_BEFORE, 1, 2), (_BEHIND, 2, 1)):
        found = {label: form.fullmatch(label) for label in labels}
        if labels and all(found.values()):
            return {label: (match[prefix], match[kind]) for label, match in found.items() if match}
    return {label: ("", label) for label in labels}


def _named(prefixes: frozenset[str]) -> Scheme:
    if prefixes & {"L", "U"}:
        return "BILOU"
    if prefixes & {"E", "S"}:
        return "BIOES"
    return "BIO" if prefixes & {"B", "I"} else "IO"
