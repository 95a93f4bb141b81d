"""Train and test: no group parted, the test split exactly as large as asked for, pairs spread over both.

Where whole groups cannot make up the exact count, the fewest possible records are withheld from both splits, each with
its reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from piiloom.corpus.record import Record
from piiloom.corpus.releases.choosing import choose_groups
from piiloom.corpus.releases.grouping import Group, Member, group_members
from piiloom.corpus.releases.sizes import size_of_test
from piiloom.foundation.errors import ReleaseError, UsageError
from piiloom.foundation.seeding import derive_rng

TRAIN, TEST = SPLITS = ("train", "test")


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """Record ids by split, in the order in which the records came, and (id, reason) of those in neither."""

    train_ids: tuple[str, ...]
    test_ids: tuple[str, ...]
    withheld: tuple[tuple[str, str], ...]


def split_records(records: Iterable[Record], *, test_size: float, seed: int, near_duplicate_threshold: float = 0.5) -> Split:
    """Split *records*; each is read once and only its context, keys and pair are kept.

    The split depends on the records, the size and the seed, not on the records' order. ``UsageError`` for a size that
    leaves no train split, ``ReleaseError`` when an id comes twice.
    """
    return split_members(
        [Member.of(record) for record in records], test_size=test_size, seed=seed, near_duplicate_threshold=near_duplicate_threshold
    )


def split_members(members: Sequence[Member], *, test_size: float, seed: int, near_duplicate_threshold: float = 0.5) -> Split:
    """``split_records`` for what is kept of the records."""
    ids = [member.id for member in members]
    if len(set(ids)) < len(ids):
        raise ReleaseError("a record id occurs twice", remedy="Split each record once")
    count = size_of_test(test_size, len(ids))
    if not count:
        return Split(train_ids=tuple(ids), test_ids=(), withheld=())
    groups = group_members(members, near_duplicate_threshold=near_duplicate_threshold)
    chosen = choose_groups(groups, count, derive_rng("train-test split", seed))
    test = {record_id for group in chosen for record_id in group.ids}
    if len(test) == len(ids):
        raise UsageError(
            f"{len(ids)} records form {len(groups)} group(s) that cannot be parted, so a test split leaves nothing to train on",
            remedy="Ask for a test size of 0, or generate more records",
        )
    surplus = _surplus(chosen, len(test) - count)
    reason = f"its group is too large for a test split of exactly {count} records and must not be parted"
    return Split(
        train_ids=tuple(record_id for record_id in ids if record_id not in test),
        test_ids=tuple(record_id for record_id in ids if record_id in test and record_id not in surplus),
        withheld=tuple((record_id, reason) for record_id in ids if record_id in surplus),
    )


def _surplus(chosen: Sequence[Group], count: int) -> frozenset[str]:
    """The *count* test records to withhold: the last ones of the largest groups, where they are missed least."""
    left: list[str] = []
    for group in sorted(chosen, key=lambda group: (-group.size, group.ids[0])):
        left += reversed(group.ids)
    return frozenset(left[:count])
