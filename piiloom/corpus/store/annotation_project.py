"""An annotation project: settings, annotators with login sessions, guidelines with questions, assignments, control records.

``piiloom.annotation_app`` defines the meaning of settings and roles, and which changes are allowed. Only the SHA-256 of a session's token
is stored, so a reader of the store cannot use a session. Times are ISO strings, as in the event log.

Each record has ``wanted`` places. An annotator takes one by finishing the record (document accepted or rejected), by holding an
unexpired lease, or by being assigned it. Whether somebody has finished is stored only in ``annotation_documents``, not here. The answer
to a control record is known: practice and test records, gold records, and records with a planted error.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from piiloom.corpus.store.database import Store, conditions, field_names


def read_settings(store: Store) -> dict[str, Any]:
    """Return the settings that were ever changed; all others have their default value."""
    return {name: json.loads(value) for name, value in store.rows("SELECT name, value FROM annotation_settings ORDER BY name")}


def put_setting(store: Store, name: str, value: Any) -> None:
    """Set *name* to *value* (a JSON value)."""
    with store.writing():
        store.change("DELETE FROM annotation_settings WHERE name = ?", [name])
        store.append("annotation_settings", ("name", "value"), [(name, json.dumps(value, ensure_ascii=False, sort_keys=True))])


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotatorRow:
    """One person. ``password_hash`` is None for a person without a password here, and never appears in ``repr``."""

    name: str
    display: str
    role: str
    password_hash: str | None = field(default=None, repr=False)
    oidc: str | None = None
    active: bool = True
    made_at: str


def add_annotator(store: Store, row: AnnotatorRow) -> None:
    """Add a person. The caller ensures that the name is free."""
    store.add("annotators", [row])


def change_annotator(store: Store, row: AnnotatorRow) -> None:
    """Update the row of the person ``row.name``, except ``made_at``."""
    store.change(
        "UPDATE annotators SET display = ?, role = ?, password_hash = ?, oidc = ?, active = ? WHERE name = ?",
        [row.display, row.role, row.password_hash, row.oidc, row.active, row.name],
    )


def find_annotator(store: Store, name: str) -> AnnotatorRow | None:
    """Return the person with exactly this name, or None."""
    return next(iter(store.objects(AnnotatorRow, "FROM annotators WHERE name = ?", [name])), None)


def list_annotators(store: Store) -> list[AnnotatorRow]:
    """Return all people, including inactive ones, in the order they were added."""
    return store.objects(AnnotatorRow, "FROM annotators ORDER BY made_at, name")


@dataclass(frozen=True, slots=True, kw_only=True)
class LoginRow:
    """A login session; it may have expired."""

    annotator: str
    made_at: str
    expires_at: str


def add_session(store: Store, token_sha256: str, row: LoginRow) -> None:
    """Save a new session."""
    columns = ("token_sha256", "annotator", "made_at", "expires_at", "ended")
    store.append("login_sessions", columns, [(token_sha256, row.annotator, row.made_at, row.expires_at, False)])


def find_session(store: Store, token_sha256: str) -> LoginRow | None:
    """Return the session of a token, or None if it is unknown or was ended. It may have expired."""
    return next(iter(store.objects(LoginRow, "FROM login_sessions WHERE token_sha256 = ? AND NOT ended", [token_sha256])), None)


def session_known(store: Store, token_sha256: str) -> bool:
    """Whether there is a session of a token, ended or not."""
    return bool(store.rows("SELECT 1 FROM login_sessions WHERE token_sha256 = ?", [token_sha256]))


def prolong_session(store: Store, token_sha256: str, expires_at: str) -> None:
    """Set the expiry time of a session, unless it was ended."""
    store.change("UPDATE login_sessions SET expires_at = ? WHERE token_sha256 = ? AND NOT ended", [expires_at, token_sha256])


def end_session(store: Store, token_sha256: str) -> None:
    """End one session for good."""
    store.change("UPDATE login_sessions SET ended = true WHERE token_sha256 = ?", [token_sha256])


def end_sessions(store: Store, annotator: str | None = None) -> None:
    """End all sessions of a person (None: of everybody) for good.

    Restoring a snapshot ends them all, since sessions that were ended later are active in it.
    """
    store.change("UPDATE login_sessions SET ended = true WHERE ?::VARCHAR IS NULL OR annotator = ?", [annotator, annotator])


def forget_sessions(store: Store, now: str) -> None:
    """Delete sessions that expired by *now*. Ended ones stay until then, so that their tokens cannot be used for a new session."""
    store.change("DELETE FROM login_sessions WHERE expires_at <= ?", [now])


@dataclass(frozen=True, slots=True, kw_only=True)
class Guideline:
    """One version of the guidelines; versions count from 1."""

    version: int
    markdown: str
    made_by: str
    made_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GuidelineQuestion:
    """A question about the guidelines, with or without a record. ``question`` is the event number of the asking."""

    question: int
    record_id: str | None
    asked_by: str
    asked_at: str
    text: str
    answer: str | None = None
    answered_by: str | None = None
    answered_at: str | None = None


def add_guideline(store: Store, row: Guideline) -> None:
    """Add a version."""
    store.add("guidelines", [row])


def load_guidelines(store: Store) -> list[Guideline]:
    """All versions, oldest first."""
    return store.objects(Guideline, "FROM guidelines ORDER BY version")


def newest_version(store: Store) -> int | None:
    """Return the version in force (the newest); None if there is none yet."""
    found: int | None = store.value("SELECT max(version) FROM guidelines")
    return found


def add_question(store: Store, row: GuidelineQuestion) -> None:
    """Add a question that was just asked."""
    store.add("guideline_questions", [row])


def set_answer(store: Store, question: int, answer: str, answered_by: str, answered_at: str) -> None:
    """Set or replace the answer to *question*."""
    store.change(
        "UPDATE guideline_questions SET answer = ?, answered_by = ?, answered_at = ? WHERE question = ?",
        [answer, answered_by, answered_at, question],
    )


def load_questions(store: Store, *, record_id: str | None = None, number: int | None = None) -> list[GuidelineQuestion]:
    """Return the questions that match all given conditions (record, number), oldest first."""
    clause = "WHERE (?::VARCHAR IS NULL OR record_id = ?) AND (?::BIGINT IS NULL OR question = ?) ORDER BY question"
    return store.objects(GuidelineQuestion, f"FROM guideline_questions {clause}", [record_id, record_id, number, number])


State = Literal["assigned", "leased", "released", "skipped"]
Why = Literal["resumed", "assigned", "new", "skipped"]
_RANKS: tuple[Why, ...] = ("resumed", "assigned", "new", "skipped")

# Parameter: now. UNION removes duplicates, so each person counts once per record.
PLACES = """
    WITH places AS (
        SELECT record_id, annotator FROM annotation_assignments WHERE state = 'assigned' OR (state = 'leased' AND leased_until > ?)
        UNION
        SELECT record_id, annotator FROM annotation_documents WHERE verdict IN ('accepted', 'rejected'))
"""
# Parameters: now, person, person, person, besides. Records that somebody else has begun come before untouched ones: so records are
# completed sooner, and annotators overlap with many different people.
_BEST = """{places}, others AS (SELECT record_id, count(*) AS taken FROM places WHERE annotator <> ? GROUP BY record_id)
    SELECT i.record_id, CASE WHEN mine.state = 'leased' THEN 0 WHEN mine.state = 'assigned' THEN 1
            WHEN mine.state = 'skipped' THEN 3 ELSE 2 END AS rank, mine.leased_until
    FROM annotation_items i
    LEFT JOIN others ON others.record_id = i.record_id
    LEFT JOIN annotation_assignments mine ON mine.record_id = i.record_id AND mine.annotator = ?
    LEFT JOIN annotation_documents own ON own.record_id = i.record_id AND own.annotator = ?
    WHERE (i.role = 'work' OR (i.role = 'control' AND mine.state IS NOT NULL)) AND i.status IN ('generated', 'annotated')
        AND coalesce(own.verdict, 'open') = 'open'
        AND (i.role = 'control' OR mine.state = 'assigned' OR coalesce(others.taken, 0) < i.wanted)
        AND NOT list_contains(?::VARCHAR[], i.record_id)
        AND EXISTS (SELECT 1 FROM records r WHERE r.record_order = i.record_order)
    ORDER BY rank, CASE WHEN rank = 0 THEN mine.changed_at END DESC, CASE WHEN rank = 3 THEN mine.changed_at END,
        coalesce(others.taken, 0) > 0 DESC, i.priority DESC, i.record_order
    LIMIT 1""".replace("{places}", PLACES)
# A person never gets a control record made from a record that they have had, or from the same source as one that they have had.
_CONTROL = """
    WITH had AS (
        SELECT record_id FROM annotation_assignments WHERE annotator = ?
        UNION SELECT record_id FROM annotation_documents WHERE annotator = ?),
    sources AS (SELECT record_id FROM had UNION SELECT c.source_id FROM annotation_controls c JOIN had ON had.record_id = c.record_id)
    SELECT i.record_id FROM annotation_items i JOIN annotation_controls c ON c.record_id = i.record_id
    WHERE i.role = 'control' AND i.status IN ('generated', 'annotated') AND NOT list_contains(?::VARCHAR[], i.record_id)
        AND i.record_id NOT IN (SELECT record_id FROM had) AND c.source_id NOT IN (SELECT record_id FROM sources)
        AND EXISTS (SELECT 1 FROM records r WHERE r.record_order = i.record_order)
    ORDER BY md5(i.record_id || ?), i.record_id LIMIT 1"""
_PUT = """
    MERGE INTO annotation_assignments AS held
    USING (SELECT unnest(?::VARCHAR[]) AS record_id, unnest(?::VARCHAR[]) AS annotator, unnest(?::VARCHAR[]) AS state,
        unnest(?::VARCHAR[]) AS leased_until, unnest(?::VARCHAR[]) AS changed_at) AS given
    ON held.record_id = given.record_id AND held.annotator = given.annotator
    WHEN MATCHED THEN UPDATE SET state = given.state, leased_until = given.leased_until, changed_at = given.changed_at
    WHEN NOT MATCHED THEN INSERT BY NAME
"""
_HELD = """
    SELECT count(*), arg_min(a.record_id, a.changed_at) FROM annotation_assignments a JOIN annotation_items i USING (record_id)
    LEFT JOIN annotation_documents d ON d.record_id = a.record_id AND d.annotator = a.annotator
    WHERE a.annotator = ? AND a.state = 'leased' AND a.leased_until > ? AND coalesce(d.verdict, 'open') = 'open'
        AND i.status IN ('generated', 'annotated')"""
# These three queries look at one record only, because they run while the write lock is held.
# A single joined statement took twice as long: the tables are large, and DuckDB scans them whole for a join.
_ITEM = "SELECT role, status, wanted, record_order FROM annotation_items WHERE record_id = ?"
_STATES = "SELECT annotator, state, leased_until FROM annotation_assignments WHERE record_id = ?"
_VERDICTS = "SELECT annotator, verdict FROM annotation_documents WHERE record_id = ?"
_LOADS = """
    SELECT a.annotator, count(*) FROM annotation_assignments a
    LEFT JOIN annotation_documents d ON d.record_id = a.record_id AND d.annotator = a.annotator
    WHERE a.state = 'assigned' AND coalesce(d.verdict, 'open') = 'open' GROUP BY a.annotator"""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordAssignment:
    """The state of a record for one person. ``leased_until`` is a timestamp as in the event log, None unless leased."""

    record_id: str
    annotator: str
    state: State
    leased_until: str | None = None
    changed_at: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordStanding:
    """A record of the work list as one person sees it.

    ``others``: how many of the ``wanted`` places other people have taken. ``stored``: whether the store still has the record.
    """

    role: str
    status: str
    wanted: int
    state: State | None
    leased_until: str | None
    finished: bool
    others: int
    stored: bool


def put_assignments(store: Store, rows: Sequence[RecordAssignment]) -> None:
    """Insert or update assignments. If *rows* has a pair of record and person twice, the last one counts."""
    last = {(row.record_id, row.annotator): row for row in rows}
    if not last:
        return
    store.change(_PUT, [[getattr(row, name) for row in last.values()] for name in field_names(RecordAssignment)])


def load_assignments(store: Store, *, annotator: str | None = None, record_id: str | None = None) -> list[RecordAssignment]:
    """Return all assignments, or those of a person and/or a record, sorted by record and person."""
    condition, parameters = conditions(("annotator = ?", annotator), ("record_id = ?", record_id))
    return store.objects(RecordAssignment, f"FROM annotation_assignments {condition} ORDER BY record_id, annotator", parameters)


def best_offer(store: Store, person: str, now: str, besides: Collection[str] = ()) -> tuple[str, Why, str | None] | None:
    """Choose the next record for *person*: (record id, why, end of their lease of it if any). None if nothing is left.

    The order: leased records (last changed first), assigned records, new records by priority, and skipped ones (longest ago first).
    Records in *besides* are left out. *now* is a timestamp as in the event log.
    """
    found = store.rows(_BEST, [now, person, person, person, list(besides)])
    return (found[0][0], _RANKS[found[0][1]], found[0][2]) if found else None


def best_control(store: Store, person: str, besides: Collection[str] = ()) -> str | None:
    """Choose a control record that is new to *person*; None if there is none. The order is pseudo-random and differs per person."""
    found = store.rows(_CONTROL, [person, person, list(besides), person])
    return str(found[0][0]) if found else None


def held_open(store: Store, person: str, now: str) -> tuple[int, str | None]:
    """Return how many unfinished records *person* has leased, and the id of the one with the oldest change (None if none)."""
    count, oldest = store.rows(_HELD, [person, now])[0]
    return count, oldest


def ever_had(store: Store, person: str) -> int:
    """Count the records that *person* has ever been given, in any state. The number never decreases."""
    return int(store.value("SELECT count(*) FROM annotation_assignments WHERE annotator = ?", [person]))


def standing(store: Store, person: str, record_id: str, now: str) -> RecordStanding | None:
    """Return the state of *record_id* for *person*; None if the record is not in the work list."""
    item = store.rows(_ITEM, [record_id])
    if not item:
        return None
    role, status, wanted, order = item[0]
    states = {annotator: (state, until) for annotator, state, until in store.rows(_STATES, [record_id])}
    verdicts = dict(store.rows(_VERDICTS, [record_id]))
    live = {name for name, (state, until) in states.items() if state == "assigned" or (state == "leased" and until > now)}
    taken = live | {name for name, verdict in verdicts.items() if verdict in {"accepted", "rejected"}}
    state, leased_until = states.get(person, (None, None))
    return RecordStanding(
        role=role,
        status=status,
        wanted=wanted,
        state=state,
        leased_until=leased_until,
        finished=verdicts.get(person, "open") != "open",
        others=len(taken - {person}),
        stored=bool(store.rows("SELECT 1 FROM records WHERE record_order = ?", [order])),
    )


def assigned_loads(store: Store) -> dict[str, int]:
    """Count the assigned, unfinished records of each person; people without any are left out."""
    return dict(store.rows(_LOADS))


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlRow:
    """A control record. ``source_id`` is the record it was made from; ``entry`` holds the known answer as JSON values."""

    record_id: str
    kind: str
    source_id: str
    entry: Mapping[str, Any]


def add_controls(store: Store, rows: Sequence[ControlRow]) -> None:
    """Add *rows*. The caller ensures that none of their records has a row yet."""
    store.add("annotation_controls", rows, encoded=["entry"], sort_keys=True)


def load_controls(store: Store, kinds: Collection[str] | None = None) -> list[ControlRow]:
    """Return all control records, or those of *kinds*, sorted by record id."""
    condition, parameters = conditions(("list_contains(?::VARCHAR[], kind)", kinds))
    return store.objects(ControlRow, f"FROM annotation_controls {condition} ORDER BY record_id", parameters, decoded=["entry"])


def find_control(store: Store, record_id: str) -> ControlRow | None:
    """Return the control row of *record_id*, or None."""
    return next(iter(store.objects(ControlRow, "FROM annotation_controls WHERE record_id = ?", [record_id], decoded=["entry"])), None)


def known_record_ids(store: Store, record_ids: Collection[str]) -> set[str]:
    """Return those of *record_ids* that exist in the store."""
    return set(store.column("SELECT DISTINCT id FROM records WHERE id IN (SELECT unnest(?::VARCHAR[]))", [list(record_ids)]))


def control_orders(store: Store, record_ids: Collection[str]) -> dict[str, int]:
    """Return the ``record_order`` of each of *record_ids* that is stored with status "control"."""
    return dict(
        store.rows(
            "SELECT id, record_order FROM records WHERE status = 'control' AND id IN (SELECT unnest(?::VARCHAR[]))", [list(record_ids)]
        )
    )


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
    done = store.value(_FINISHED, [annotator])
    share = store.value(_SHARE, [now, annotator, annotator, annotator])
    return OwnStanding(done=done, left=max(0, share - done))
