"""Compare two releases of a store: settings, records, splits, and the labels and texts of records that both have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Literal

from piiloom.corpus.formats.base import Json
from piiloom.corpus.record import Record, Span
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.releases import ReleaseRow, get_release, new_values_of, release_places, release_records_at

ChangeKind = Literal["added", "removed", "boundaries", "type", "relevance", "value"]

_CHUNK = 500
# Differences of these fields are told; the others follow from the records, or name the release.
_COMPARED = ("version", "license", "split_settings", "record_choice", "piiloom", "schema_version")


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelChange:
    """One difference of a label. ``before`` and ``after``: a type or a relevance, or else the span as "type: text"."""

    kind: ChangeKind
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordChange:
    """The differences of one record that both releases have: of its texts, and of its labels in text order."""

    record_id: str
    context: bool
    question: bool
    labels: tuple[LabelChange, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseDiff:
    """What leads from the release ``before`` to the release ``after``.

    ``settings``: (name, before, after). ``added`` and ``removed``: (record id, split). ``moved``: (record id, split before, split after).
    All are sorted by record id.
    """

    before: str
    after: str
    same_content: bool
    settings: tuple[tuple[str, object, object], ...]
    added: tuple[tuple[str, str], ...]
    removed: tuple[tuple[str, str], ...]
    moved: tuple[tuple[str, str, str], ...]
    changed: tuple[RecordChange, ...]

    def kinds(self) -> dict[str, int]:
        """Count the differences of the changed records by kind: texts by record, labels one by one."""
        counts = Counter(change.kind for record in self.changed for change in record.labels)
        texts = {"context": sum(one.context for one in self.changed), "question": sum(one.question for one in self.changed)}
        return {name: count for name, count in (*texts.items(), *sorted(counts.items())) if count}

    def to_json(self) -> Json:
        """Return the differences as JSON values."""
        return {
            "before": self.before,
            "after": self.after,
            "same_content": self.same_content,
            "settings": [{"name": name, "before": before, "after": after} for name, before, after in self.settings],
            "added": [{"record": record_id, "split": split} for record_id, split in self.added],
            "removed": [{"record": record_id, "split": split} for record_id, split in self.removed],
            "moved": [{"record": record_id, "before": before, "after": after} for record_id, before, after in self.moved],
            "changed": [
                {
                    "record": one.record_id,
                    "context": one.context,
                    "question": one.question,
                    "labels": [asdict(label) for label in one.labels],
                }
                for one in self.changed
            ],
            "kinds": self.kinds(),
        }


def compare_releases(store: Store, before: str, after: str) -> ReleaseDiff:
    """Compare two releases of *store*. Raises ``ReleaseError`` if one is unknown."""
    old, new = get_release(store, before), get_release(store, after)
    left, right = release_places(store, old), release_places(store, new)
    both = [record_id for record_id in left if record_id in right]
    return ReleaseDiff(
        before=before,
        after=after,
        same_content=old.content_sha256 is not None and old.content_sha256 == new.content_sha256,
        settings=tuple(_settings(old, new)),
        added=tuple((record_id, split) for record_id, (_, split) in right.items() if record_id not in left),
        removed=tuple((record_id, split) for record_id, (_, split) in left.items() if record_id not in right),
        moved=tuple((one, left[one][1], right[one][1]) for one in both if left[one][1] != right[one][1]),
        changed=tuple(_changed(store, old, new, {one: (left[one][0], right[one][0]) for one in both})),
    )


def record_change(old: Record, new: Record) -> RecordChange | None:
    """Return the differences of two versions of a record in texts and labels; None if there are none."""
    labels = tuple(_label_changes(old, new))
    if (old.context, old.question) == (new.context, new.question) and not labels:
        return None
    return RecordChange(record_id=old.id, context=old.context != new.context, question=old.question != new.question, labels=labels)


def _settings(old: ReleaseRow, new: ReleaseRow) -> Iterator[tuple[str, object, object]]:
    for field in _COMPARED:
        one, other = getattr(old, field), getattr(new, field)
        if isinstance(one, Mapping):
            names = [*one, *(name for name in other if name not in one)]
            yield from ((name, one.get(name), other.get(name)) for name in names if one.get(name) != other.get(name))
        elif one != other:
            yield field, one, other


def _changed(store: Store, old: ReleaseRow, new: ReleaseRow, orders: Mapping[str, tuple[int, int]]) -> Iterator[RecordChange]:
    """Compare the records whose stored revisions differ, or which have values drawn anew in one of the releases."""
    drawn = {one.record_id for row in (old, new) for one in new_values_of(store, row)}
    wanted = [pair for record_id, pair in orders.items() if pair[0] != pair[1] or record_id in drawn]
    for at in range(0, len(wanted), _CHUNK):
        chunk = wanted[at : at + _CHUNK]
        ones = release_records_at(store, old, [one for one, _ in chunk])
        others = release_records_at(store, new, [other for _, other in chunk])
        yield from (change for pair in zip(ones, others, strict=True) if (change := record_change(*pair)) is not None)


def _label_changes(old: Record, new: Record) -> Iterator[LabelChange]:
    same_text = old.context == new.context
    for one, other in _paired(old, new):
        before = None if one is None else f"{one.entity_type}: {one.text_in(old.context)}"
        after = None if other is None else f"{other.entity_type}: {other.text_in(new.context)}"
        if one is None or other is None:
            yield LabelChange(kind="added" if one is None else "removed", before=before, after=after)
            continue
        if same_text and (one.start, one.end) != (other.start, other.end):
            yield LabelChange(kind="boundaries", before=before, after=after)
        elif not same_text and one.text_in(old.context) != other.text_in(new.context):
            yield LabelChange(kind="value", before=before, after=after)
        if one.entity_type != other.entity_type:
            yield LabelChange(kind="type", before=one.entity_type, after=other.entity_type)
        if one.relevance != other.relevance:
            yield LabelChange(kind="relevance", before=one.relevance, after=other.relevance)


def _paired(old: Record, new: Record) -> list[tuple[Span | None, Span | None]]:
    """Pair the spans of two versions of a record, in text order; a span without a partner is paired with None.

    In the same text, partners have the same range, or else overlap. In texts that differ they have the same type and words, or else
    the same id.
    """
    left, right = list(old.spans), list(new.spans)
    pairs: list[tuple[Span | None, Span | None]] = []
    for are_partners in _SAME_TEXT if old.context == new.context else _OTHER_TEXT:
        for one in list(left):
            other = next((other for other in right if are_partners(old, one, new, other)), None)
            if other is not None:
                pairs.append((one, other))
                left.remove(one)
                right.remove(other)
    pairs += [(one, None) for one in left] + [(None, other) for other in right]
    return sorted(pairs, key=lambda pair: min(span.start for span in pair if span is not None))


# Whether two spans of two versions are partners: (version, span, other version, its span). In the order in which they are tried.
_Partners = Callable[[Record, Span, Record, Span], bool]
_SAME_TEXT: tuple[_Partners, ...] = (
    lambda _, one, __, other: (one.start, one.end) == (other.start, other.end),
    lambda _, one, __, other: one.start < other.end and other.start < one.end,
)
_OTHER_TEXT: tuple[_Partners, ...] = (
    lambda old, one, new, other: (one.entity_type, one.text_in(old.context)) == (other.entity_type, other.text_in(new.context)),
    lambda _, one, __, other: one.id == other.id,
)
