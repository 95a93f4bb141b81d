"""Train/test split that keeps groups together, gives the test split exactly the requested size, and spreads pairs over both.

If no choice of whole groups gives the exact size, as few records as possible are withheld from both splits, each with a
reason.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """Record ids by split, in input order, and (id, reason) of the records in neither."""

    train_ids: tuple[str, ...]
    test_ids: tuple[str, ...]
    withheld: tuple[tuple[str, str], ...]


def split_records(records: Iterable[Record], *, test_size: float, seed: int, near_duplicate_threshold: float = 0.5) -> Split:
    """Split *records*, an iterable that is read once; only contexts, group keys and pairs are kept in memory.

    The split depends on the records, the size and the seed, not on the order of the records. Raises ``UsageError`` for a size
    that leaves nothing to train on, and ``ReleaseError`` if an id occurs twice.
    """
    return split_members(
        [Member.of(record) for record in records], test_size=test_size, seed=seed, near_duplicate_threshold=near_duplicate_threshold
    )


def split_members(members: Sequence[Member], *, test_size: float, seed: int, near_duplicate_threshold: float = 0.5) -> Split:
    """Like ``split_records``, for members."""
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
            f"{len(ids)} records form {len(groups)} group(s) that cannot be divided, so a test split leaves nothing to train on",
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
    """Return the *count* test records to withhold: the last ones of the largest groups."""
    left: list[str] = []
    for group in sorted(chosen, key=lambda group: (-group.size, group.ids[0])):
        left += reversed(group.ids)
    return frozenset(left[:count])
