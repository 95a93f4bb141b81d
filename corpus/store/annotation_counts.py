"""Small counts that a page needs at every turn."""

from __future__ import annotations

from piiloom.corpus.store.database import Store

# Finished control records count, unfinished ones do not: who annotates must not be able to tell how many there are.
# Two scans took half the time of one join.
_FINISHED = """
    SELECT count(*) FROM annotation_documents WHERE annotator = ? AND verdict <> 'open'
    AND record_id NOT IN (SELECT record_id FROM annotation_items WHERE role NOT IN ('work', 'control'))"""
_TOTAL = "SELECT count(*) FROM annotation_items WHERE role = 'work'"


def own_standing(store: Store, annotator: str) -> tuple[int, int]:
    """How many records *annotator* has finished, and how many there are for him to see."""
    finished, total = store.rows(_FINISHED, [annotator])[0][0], store.rows(_TOTAL)[0][0]
    return finished, max(finished, total)
