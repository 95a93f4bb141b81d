"""Small counts that pages need at every request."""

from __future__ import annotations

from dataclasses import dataclass

from piiloom.corpus.store.annotation_assignments import PLACES
from piiloom.corpus.store.database import Store

# Finished control records count and unfinished ones do not, so that annotators cannot tell how many there are.
# Two scans took half the time of one join.
_FINISHED = """
    SELECT count(*) FROM annotation_documents WHERE annotator = ? AND verdict <> 'open'
    AND record_id NOT IN (SELECT record_id FROM annotation_items WHERE role NOT IN ('work', 'control'))"""
# Records that the person has finished or could still get. Finishing one of them does not change their number.
# Parameters: now, person, person, person.
_SHARE = """{places}, others AS (SELECT record_id, count(*) AS taken FROM places WHERE annotator <> ? GROUP BY record_id),
    own AS (SELECT record_id FROM annotation_documents WHERE annotator = ? AND verdict <> 'open'),
    dealt AS (SELECT record_id FROM annotation_assignments WHERE annotator = ? AND state = 'assigned')
    SELECT count(*) FROM annotation_items i LEFT JOIN others ON others.record_id = i.record_id
    WHERE i.role = 'work' AND (i.record_id IN (SELECT record_id FROM own) OR (i.status IN ('generated', 'annotated')
        AND (coalesce(others.taken, 0) < i.wanted OR i.record_id IN (SELECT record_id FROM dealt))))""".replace("{places}", PLACES)


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnStanding:
    """One person's work: ``done`` records are finished, hidden controls among them; about ``left`` more can come.

    A finished control lowers ``left`` as any other record does, or people could tell controls. So ``left`` is too low by as many as
    the person has finished.
    """

    done: int
    left: int


def own_standing(store: Store, annotator: str, now: str) -> OwnStanding:
    """Return how far *annotator* is at *now* (a timestamp as in the event log)."""
    done = store.rows(_FINISHED, [annotator])[0][0]
    share = store.rows(_SHARE, [now, annotator, annotator, annotator])[0][0]
    return OwnStanding(done=done, left=max(0, share - done))
