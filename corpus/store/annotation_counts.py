"""Small counts that a page needs at every turn."""

from __future__ import annotations

from corpus.store.database import Store

# Finished control records count, unfinished ones do not: who annotates must not be able to tell how many there are.
_STANDING = """
    SELECT count(*) FILTER (d.verdict IS NOT NULL AND d.verdict <> 'open'), count(*) FILTER (i.role = 'work')
    FROM annotation_items i LEFT JOIN annotation_documents d ON d.record_id = i.record_id AND d.annotator = ?
    WHERE i.role IN ('work', 'control')"""


def own_standing(store: Store, annotator: str) -> tuple[int, int]:
    """How many records *annotator* has finished, and how many there are for him to see."""
    finished, total = store.rows(_STANDING, [annotator])[0]
    return finished, max(finished, total)
