"""Small counts that pages need at every request."""

from __future__ import annotations

from piiloom.corpus.store.database import Store

# Finished control records count and unfinished ones do not, so that annotators cannot tell how many there are.
# Two scans took half the time of one join.
_FINISHED = """
    SELECT count(*) FROM annotation_documents WHERE annotator = ? AND verdict <> 'open'
    AND record_id NOT IN (SELECT record_id FROM annotation_items WHERE role NOT IN ('work', 'control'))"""
_TOTAL = "SELECT count(*) FROM annotation_items WHERE role = 'work'"


def own_standing(store: Store, annotator: str) -> tuple[int, int]:
    """Return how many records *annotator* has finished, and the total to show (never less than that)."""
    finished, total = store.rows(_FINISHED, [annotator])[0][0], store.rows(_TOTAL)[0][0]
    return finished, max(finished, total)
