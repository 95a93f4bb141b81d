"""Small counts that a page needs at every turn."""

from __future__ import annotations

from corpus.store.database import Store

# Control records count as work: who annotates must not be able to tell them apart.
_STANDING = """
    SELECT count(*) FILTER (d.verdict IS NOT NULL AND d.verdict <> 'open'), count(*) FILTER (i.role = 'work' OR d.verdict IS NOT NULL)
    FROM annotation_items i LEFT JOIN annotation_documents d ON d.record_id = i.record_id AND d.annotator = ?
    WHERE i.role IN ('work', 'control')"""


def own_standing(store: Store, annotator: str) -> tuple[int, int]:
    """How many records *annotator* has finished, and how many there are for him to see."""
    finished, total = store.rows(_STANDING, [annotator])[0]
    return finished, total
