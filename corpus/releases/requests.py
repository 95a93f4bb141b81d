"""What a release is asked to be: its name, version and licence, which records it takes, and how they are split."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypedDict, Unpack

from piiloom.corpus.formats.base import Json
from piiloom.corpus.releases.settings import GROUP_BY, Balance, GroupBy, OverlapBy, RecordChoice, SplitSettings
from piiloom.foundation.errors import UsageError

DEFAULT_VERSION = "1.0.0"
ANY_STATUS = "any"
STATUSES = (ANY_STATUS, "validated", "adjudicated", "generated", "imported")
_VERSION = re.compile(r"[0-9A-Za-z][0-9A-Za-z.+-]{0,63}")
_DEFAULTS = SplitSettings()
_ALL_RECORDS = RecordChoice()


class ReleaseOptions(TypedDict, total=False):
    """The fields of ``ReleaseRequest``, ``SplitSettings`` and ``RecordChoice`` as keywords; what is left out has its default."""

    version: str
    license: str | None
    test_size: float | None
    validation_size: float | None
    folds: int
    seed: int
    group_by: Sequence[GroupBy]
    balance: Balance | None
    max_value_overlap: float | None
    overlap_by: OverlapBy
    status: str
    run_id: str | None
    locale: str | None
    min_agreement: float | None
    judged: Literal["any", "agree"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseRequest:
    """A release that is asked for. ``license`` is free text, best an SPDX identifier; None: not stated.

    Raises ``UsageError`` for an empty name, a version that is none, an unknown status or a share that is not between 0 and 1.
    """

    name: str
    version: str = DEFAULT_VERSION
    license: str | None = None
    split: SplitSettings = _DEFAULTS
    choice: RecordChoice = _ALL_RECORDS

    def __post_init__(self) -> None:
        if not self.name.strip():
            raise UsageError("a release needs a name", remedy="Give one with --name")
        if not _VERSION.fullmatch(self.version):
            remedy = "Letters, digits, dots, + and -, for example 1.2.0"
            raise UsageError("this is not a version", where="version", remedy=remedy)
        if self.license is not None and not (self.license.strip() and self.license.isprintable()):
            raise UsageError("a licence is one line of text", where="license", remedy="Give its SPDX identifier, for example CC-BY-4.0")
        if self.choice.status not in STATUSES:
            raise UsageError(f"unknown status {self.choice.status!r}", where="status", remedy=f"Known: {', '.join(STATUSES)}")
        for where, share in (("min agreement", self.choice.min_agreement), ("max value overlap", self.split.max_value_overlap)):
            if share is not None and not 0 <= share <= 1:
                raise UsageError("the share is not between 0 and 1", where=where, remedy="Give for example 0.8")


def requested(name: str, **options: Unpack[ReleaseOptions]) -> ReleaseRequest:
    """Return the request that *options* describe. Raises ``UsageError`` if they contradict each other or a value is not possible."""
    folds = options.get("folds", 0)
    if folds < 0 or folds == 1:
        raise UsageError("there must be at least two folds", where="folds", remedy="Give 2 or more, or 0 for train and test splits")
    for size in ("test_size", "validation_size"):
        if folds and options.get(size) is not None:
            raise UsageError(f"folds and a {size.replace('_', ' ')} exclude each other", where="folds", remedy="Give one of them")
    test_size, validation_size = options.get("test_size"), options.get("validation_size")
    split = SplitSettings(
        test_size=(0 if folds else _DEFAULTS.test_size) if test_size is None else test_size,
        validation_size=_DEFAULTS.validation_size if validation_size is None else validation_size,
        folds=folds,
        seed=options.get("seed", _DEFAULTS.seed),
        group_by=tuple(options.get("group_by", GROUP_BY)),
        balance=options.get("balance"),
        max_value_overlap=options.get("max_value_overlap"),
        overlap_by=options.get("overlap_by", _DEFAULTS.overlap_by),
    )
    choice = RecordChoice(
        status=options.get("status", ANY_STATUS),
        run_id=options.get("run_id"),
        locale=options.get("locale"),
        min_agreement=options.get("min_agreement"),
        judged=options.get("judged", "any"),
    )
    return ReleaseRequest(
        name=name, version=options.get("version", DEFAULT_VERSION), license=options.get("license"), split=split, choice=choice
    )


def parse_group_by(text: str) -> tuple[GroupBy, ...]:
    """Parse ``"all"``, ``"none"``, or a list as ``"keys,values"``; raises ``UsageError`` for anything else."""
    if text in {"all", "none"}:
        return GROUP_BY if text == "all" else ()
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if name not in GROUP_BY:
            remedy = f"Give all, none, or some of {', '.join(GROUP_BY)}, separated by commas"
            raise UsageError(f"records cannot be grouped by {name!r}", where="group by", remedy=remedy)
    return tuple(name for name in GROUP_BY if name in names)


def settings_json(settings: SplitSettings | RecordChoice) -> Json:
    """Return the fields as JSON values, as a release keeps them."""
    held: dict[str, Any] = asdict(settings)
    return {name: list(value) if isinstance(value, tuple) else value for name, value in held.items()}
