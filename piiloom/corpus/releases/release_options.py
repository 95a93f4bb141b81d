"""What a release is asked to be: its name, version and licence, which records it takes, and how they are split."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal, TypedDict, TypeVar, Unpack

from piiloom.corpus.formats.base import Json
from piiloom.corpus.releases.settings import GROUP_BY, Balance, GroupBy, OverlapBy, RecordChoice, SplitSettings
from piiloom.corpus.releases.sizes import parse_size
from piiloom.corpus.split_names import TEST, VALIDATION
from piiloom.foundation.errors import UsageError
from piiloom.taxonomy.locales import resolve_locale

T = TypeVar("T", SplitSettings, RecordChoice)

DEFAULT_VERSION = "1.0.0"
ANY_STATUS = "any"
STATUSES = (ANY_STATUS, "validated", "adjudicated", "generated", "imported")
_VERSION = re.compile(r"[0-9A-Za-z][0-9A-Za-z.+-]{0,63}")
_SIZES = {"test_size": TEST, "validation_size": VALIDATION}
_DEFAULTS = SplitSettings()
_ALL_RECORDS = RecordChoice()


class ReleaseOptions(TypedDict, total=False):
    """The options of a release as commands and the Python API take them; what is None or left out has its default.

    Sizes are a number of records, a fraction or 0, as numbers or text; ``run`` is an id or "last". See ``SplitSettings`` and
    ``RecordChoice`` for the others.
    """

    version: str | None
    license: str | None
    test_size: float | str | None
    validation_size: float | str | None
    folds: int | None
    seed: int | None
    group_by: str | Sequence[GroupBy] | None
    balance: Balance | None
    max_value_overlap: float | None
    overlap_by: OverlapBy | None
    status: str | None
    run: str | None
    locale: str | None
    min_agreement: float | None
    judged: Literal["any", "agree"] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseRequest:
    """A release that is asked for. ``license`` is free text, best an SPDX identifier; None: not stated.

    With ``test_if_divisible``, records that cannot be divided are all in the train split, and a note says so.

    Raises ``UsageError`` for an empty name, a version that is none, an unknown status or a share that is not between 0 and 1.
    """

    name: str
    version: str = DEFAULT_VERSION
    license: str | None = None
    split: SplitSettings = _DEFAULTS
    choice: RecordChoice = _ALL_RECORDS
    test_if_divisible: bool = False

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
    given = {option: value for option, value in options.items() if value is not None}
    unknown = given.keys() - ReleaseOptions.__annotations__.keys()
    if unknown:
        raise UsageError(f"a release has no option {min(unknown)!r}", remedy=f"It has: {', '.join(ReleaseOptions.__annotations__)}")
    choice = _picked(given, RecordChoice, run_id="run")
    if choice.locale is not None:
        choice = replace(choice, locale=resolve_locale(choice.locale))
    return ReleaseRequest(
        name=name,
        version=str(given.get("version", DEFAULT_VERSION)),
        license=options.get("license"),
        split=_split_settings(given),
        choice=choice,
        test_if_divisible=not given.keys() & {"test_size", "validation_size", "folds"},
    )


def _split_settings(given: dict[str, Any]) -> SplitSettings:
    folds = given.get("folds", 0)
    if folds < 0 or folds == 1:
        raise UsageError("there must be at least two folds", where="folds", remedy="Give 2 or more, or 0 for train and test splits")
    if "overlap_by" in given and "max_value_overlap" not in given:
        what = "there is no limit on shared values to keep"
        raise UsageError(what, where="overlap by", remedy="Set one with --max-value-overlap, or leave this out")
    sizes = {size: parse_size(str(given[size]), split) for size, split in _SIZES.items() if size in given}
    if folds and sizes:
        named = next(iter(sizes)).replace("_", " ")
        raise UsageError(f"folds and a {named} exclude each other", where="folds", remedy="Give one of them")
    if folds:
        sizes = {"test_size": 0}
    group_by = given.get("group_by", GROUP_BY)
    grouping = parse_group_by(group_by if isinstance(group_by, str) else ",".join(group_by) or "none")
    return replace(_picked(given | sizes, SplitSettings), group_by=grouping)


def _picked(given: dict[str, Any], settings: type[T], **renamed: str) -> T:
    """Return *settings* with those of *given* that are its fields; *renamed*: field → option."""
    names = {field.name: renamed.get(field.name, field.name) for field in fields(settings)}
    return settings(**{field: given[option] for field, option in names.items() if option in given})


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
