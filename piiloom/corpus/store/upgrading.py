"""The store's schema as a list of migrations, and the upgrade of a store to the newest schema.

To change the schema, add a decorated function below; never change an old one. Each migration runs in its own transaction.

Only tiny tables have a primary key, because DuckDB keeps the hashed keys in memory (about 210 bytes a row). Elsewhere each module's
queries replace or skip duplicates themselves, which is safe because only one process writes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb

from piiloom.corpus.store.store_files import attached, duckdb_errors, identifier, raise_if_interrupted, remove_files, sync, translate
from piiloom.foundation.errors import NotAStore, OutputError, PiiloomError, StoreError, StoreTooNew

Apply = Callable[[duckdb.DuckDBPyConnection], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Migration:
    """One migration. ``apply`` upgrades a store from ``version - 1`` to ``version``; the caller has opened a transaction."""

    version: int
    summary: str
    apply: Apply


class Migrations:
    """An ordered list of migrations, numbered from 1 without gaps."""

    def __init__(self, steps: Iterable[Migration] = ()) -> None:
        self._steps = list(steps)

    @property
    def steps(self) -> tuple[Migration, ...]:
        """All steps in order."""
        return tuple(self._steps)

    @property
    def latest(self) -> int:
        """The schema version after all migrations."""
        return len(self._steps)

    def register(self, version: int, summary: str) -> Callable[[Apply], Apply]:
        """Decorator: register the function as the migration to *version*. Raises ``ValueError`` if that is not the next version."""
        if version != self.latest + 1:
            raise ValueError(f"migration {version} cannot follow {self.latest}")

        def add(apply: Apply) -> Apply:
            self._steps.append(Migration(version=version, summary=summary, apply=apply))
            return apply

        return add

    def after(self, version: int) -> tuple[Migration, ...]:
        """Return the migrations that a store of *version* still needs."""
        return tuple(self._steps[version:])


MIGRATIONS = Migrations()


@MIGRATIONS.register(1, "runs, plan items, paid replies, stage results, rejects, records and their spans")
def _core_tables(connection: duckdb.DuckDBPyConnection) -> None:
    connection.execute("""
        CREATE TABLE runs (
            id VARCHAR PRIMARY KEY, created_order BIGINT NOT NULL, provider VARCHAR NOT NULL, model VARCHAR,
            seed HUGEINT NOT NULL, samples BIGINT NOT NULL, config VARCHAR NOT NULL, config_digest VARCHAR NOT NULL,
            status VARCHAR NOT NULL);
        CREATE TABLE plan_items (plan_index BIGINT NOT NULL, run_id VARCHAR NOT NULL, item VARCHAR NOT NULL);
        CREATE TABLE stage_results (
            plan_index BIGINT NOT NULL, run_id VARCHAR NOT NULL, stage VARCHAR NOT NULL, payload VARCHAR NOT NULL);
        CREATE TABLE shared_results (
            key VARCHAR NOT NULL, run_id VARCHAR NOT NULL, stage VARCHAR NOT NULL, payload VARCHAR NOT NULL);
        CREATE TABLE rejects (
            plan_index BIGINT, key VARCHAR, run_id VARCHAR NOT NULL, stage VARCHAR NOT NULL, reason_code VARCHAR NOT NULL,
            detail VARCHAR, attempts BIGINT NOT NULL, last_reply VARCHAR);
        CREATE TABLE completions (
            key VARCHAR NOT NULL, run_id VARCHAR NOT NULL, stage VARCHAR NOT NULL, item_id VARCHAR NOT NULL,
            attempt BIGINT NOT NULL, provider VARCHAR NOT NULL, endpoint VARCHAR, model VARCHAR, template VARCHAR,
            rendered_sha256 VARCHAR, reply VARCHAR, verdict VARCHAR, fault VARCHAR, input_tokens BIGINT NOT NULL,
            cached_tokens BIGINT NOT NULL, output_tokens BIGINT NOT NULL, cost_usd DOUBLE, retries BIGINT NOT NULL);
        CREATE TABLE completion_verdicts (key VARCHAR NOT NULL, run_id VARCHAR NOT NULL, verdict VARCHAR, fault VARCHAR);
        CREATE SEQUENCE record_order;
        CREATE TABLE records (
            id VARCHAR NOT NULL, record_order BIGINT NOT NULL, run_id VARCHAR, plan_index BIGINT, status VARCHAR NOT NULL,
            revision BIGINT NOT NULL, locale VARCHAR NOT NULL, context VARCHAR NOT NULL, question VARCHAR, plan VARCHAR,
            source VARCHAR, group_keys VARCHAR, provenance VARCHAR);
        CREATE TABLE spans (
            record_order BIGINT NOT NULL, position INTEGER NOT NULL, id VARCHAR NOT NULL, span_start BIGINT NOT NULL,
            span_end BIGINT NOT NULL, entity_type VARCHAR NOT NULL, relevance VARCHAR, subtype VARCHAR, value_id VARCHAR,
            subject VARCHAR);
    """)


@MIGRATIONS.register(2, "releases, their members and what they withhold")
def _releases(connection: duckdb.DuckDBPyConnection) -> None:
    connection.execute("""
        CREATE TABLE releases (
            name VARCHAR PRIMARY KEY, created_order BIGINT NOT NULL, seed HUGEINT NOT NULL, test_size VARCHAR NOT NULL,
            run_id VARCHAR, status_filter VARCHAR NOT NULL);
        CREATE TABLE release_members (
            release_name VARCHAR NOT NULL, split VARCHAR NOT NULL, record_order BIGINT NOT NULL);
        CREATE TABLE release_withheld (
            record_id VARCHAR NOT NULL, release_name VARCHAR NOT NULL, position BIGINT NOT NULL, reason VARCHAR NOT NULL);
    """)


@MIGRATIONS.register(3, "every call from sending to verdict, prompts, judgements, batches; rejects that are tried again")
def _calls(connection: duckdb.DuckDBPyConnection) -> None:
    # Few columns and one JSON column: the time of a commit grows with the number of columns it writes (20 columns took twice as
    # long as 4), and every call is written here three times.
    connection.execute("""
        CREATE TABLE call_events (
            key VARCHAR NOT NULL, run_id VARCHAR NOT NULL, kind VARCHAR NOT NULL, stage VARCHAR NOT NULL,
            item_id VARCHAR NOT NULL, attempt BIGINT NOT NULL, entry VARCHAR NOT NULL);
        INSERT INTO call_events
            SELECT key, run_id, CASE WHEN reply IS NULL THEN 'failed' ELSE 'reply' END, stage, item_id, attempt,
                CASE WHEN reply IS NULL
                THEN json_object('try', retries + 1, 'code', 'unavailable', 'message', fault, 'maybe_billed', false, 'charge_usd', 0.0,
                    'final', true)
                ELSE json_object('try', retries + 1, 'provider', provider, 'endpoint', endpoint, 'model', model, 'template', template,
                    'rendered_sha256', rendered_sha256, 'reply', reply, 'finish_reason', 'stop',
                    'error', CASE WHEN verdict = 'error' THEN fault END, 'input', input_tokens, 'cached', cached_tokens,
                    'cache_write', 0, 'output', output_tokens, 'cost_usd', cost_usd, 'latency_s', 0.0, 'retries', retries,
                    'batch', false) END
            FROM completions ORDER BY rowid;
        INSERT INTO call_events
            SELECT key, run_id, 'verdict', stage, item_id, attempt, json_object('verdict', verdict, 'fault', fault)
            FROM completions WHERE reply IS NOT NULL AND verdict IN ('accepted', 'refused_by_validator') ORDER BY rowid;
        INSERT INTO call_events
            SELECT v.key, v.run_id, 'verdict', c.stage, c.item_id, c.attempt, json_object('verdict', v.verdict, 'fault', v.fault)
            FROM completion_verdicts v JOIN (SELECT DISTINCT key, run_id, stage, item_id, attempt FROM completions) c
            ON c.key = v.key AND c.run_id = v.run_id ORDER BY v.rowid;
        DROP TABLE completion_verdicts;
        DROP TABLE completions;
        CREATE TABLE prompt_texts (sha256 VARCHAR NOT NULL, text VARCHAR);
        CREATE TABLE judgements (
            record_id VARCHAR NOT NULL, run_id VARCHAR NOT NULL, plan_index BIGINT NOT NULL, kind VARCHAR NOT NULL,
            value_id VARCHAR, span_id VARCHAR, planned VARCHAR, score DOUBLE NOT NULL, verdict VARCHAR NOT NULL,
            agrees BOOLEAN NOT NULL, reason VARCHAR NOT NULL, provider VARCHAR, model VARCHAR);
        CREATE TABLE batches (
            id VARCHAR NOT NULL, run_id VARCHAR NOT NULL, provider VARCHAR NOT NULL, endpoint VARCHAR, model VARCHAR,
            remote_id VARCHAR, state VARCHAR NOT NULL, requests BIGINT NOT NULL, created_at VARCHAR NOT NULL, detail VARCHAR);
        CREATE TABLE batch_requests (
            batch_id VARCHAR NOT NULL, run_id VARCHAR NOT NULL, custom_id VARCHAR NOT NULL, key VARCHAR NOT NULL,
            stage VARCHAR NOT NULL, item_id VARCHAR NOT NULL, attempt BIGINT NOT NULL, worst_usd DOUBLE);
        ALTER TABLE rejects ADD COLUMN lifted BOOLEAN DEFAULT false;
    """)


@MIGRATIONS.register(4, "annotation: events, documents, work list, people, guidelines, adjudications")
def _annotation(connection: duckdb.DuckDBPyConnection) -> None:
    # The events are the source of truth. All other tables here can be rebuilt from them, except secrets (password hashes, sessions).
    connection.execute("""
        CREATE SEQUENCE annotation_event;
        CREATE TABLE annotation_events (
            event BIGINT NOT NULL, happened_at VARCHAR NOT NULL, actor VARCHAR NOT NULL, kind VARCHAR NOT NULL, record_id VARCHAR,
            client VARCHAR, sequence BIGINT, guideline INTEGER, entry VARCHAR NOT NULL);
        CREATE TABLE annotation_documents (
            record_id VARCHAR NOT NULL, annotator VARCHAR NOT NULL, version BIGINT NOT NULL, verdict VARCHAR NOT NULL,
            flagged BOOLEAN NOT NULL, guideline INTEGER, changed_at VARCHAR NOT NULL, event BIGINT NOT NULL, state VARCHAR NOT NULL);
        CREATE TABLE annotation_items (
            record_id VARCHAR NOT NULL, record_order BIGINT NOT NULL, status VARCHAR NOT NULL, role VARCHAR NOT NULL,
            wanted INTEGER NOT NULL, priority DOUBLE NOT NULL, reasons VARCHAR NOT NULL, facts VARCHAR NOT NULL,
            changed_at VARCHAR NOT NULL);
        CREATE TABLE annotation_assignments (
            record_id VARCHAR NOT NULL, annotator VARCHAR NOT NULL, state VARCHAR NOT NULL, leased_until VARCHAR,
            changed_at VARCHAR NOT NULL);
        CREATE TABLE annotation_controls (
            record_id VARCHAR NOT NULL, kind VARCHAR NOT NULL, source_id VARCHAR NOT NULL, entry VARCHAR NOT NULL);
        CREATE TABLE annotation_settings (name VARCHAR NOT NULL, value VARCHAR NOT NULL);
        CREATE TABLE annotators (
            name VARCHAR NOT NULL, display VARCHAR NOT NULL, role VARCHAR NOT NULL, password_hash VARCHAR, oidc VARCHAR,
            active BOOLEAN NOT NULL, made_at VARCHAR NOT NULL);
        CREATE TABLE login_sessions (
            token_sha256 VARCHAR NOT NULL, annotator VARCHAR NOT NULL, made_at VARCHAR NOT NULL, expires_at VARCHAR NOT NULL,
            ended BOOLEAN NOT NULL);
        CREATE TABLE guidelines (version INTEGER NOT NULL, markdown VARCHAR NOT NULL, made_by VARCHAR NOT NULL, made_at VARCHAR NOT NULL);
        CREATE TABLE guideline_questions (
            question BIGINT NOT NULL, record_id VARCHAR, asked_by VARCHAR NOT NULL, asked_at VARCHAR NOT NULL, text VARCHAR NOT NULL,
            answer VARCHAR, answered_by VARCHAR, answered_at VARCHAR);
        CREATE TABLE adjudications (
            record_id VARCHAR NOT NULL, adjudicator VARCHAR NOT NULL, outcome VARCHAR NOT NULL, document VARCHAR NOT NULL,
            made_at VARCHAR NOT NULL, event BIGINT NOT NULL);
    """)


@MIGRATIONS.register(5, "entity types of the store's own")
def _own_types(connection: duckdb.DuckDBPyConnection) -> None:
    connection.execute("CREATE TABLE own_types (position INTEGER NOT NULL, name VARCHAR NOT NULL, definition VARCHAR NOT NULL)")


@MIGRATIONS.register(6, "releases with version, content hash, licence, all settings, notes, leakage, and values drawn anew")
def _frozen_releases(connection: duckdb.DuckDBPyConnection) -> None:
    # Earlier releases were split by group keys and near-duplicate contexts, and took all revisions of a run and a status.
    connection.execute("""
        ALTER TABLE releases ADD COLUMN version VARCHAR DEFAULT '1.0.0';
        ALTER TABLE releases ADD COLUMN content_sha256 VARCHAR;
        ALTER TABLE releases ADD COLUMN license VARCHAR;
        ALTER TABLE releases ADD COLUMN piiloom VARCHAR;
        ALTER TABLE releases ADD COLUMN schema_version INTEGER;
        ALTER TABLE releases ADD COLUMN split_settings VARCHAR;
        ALTER TABLE releases ADD COLUMN record_choice VARCHAR;
        ALTER TABLE releases ADD COLUMN left_out VARCHAR DEFAULT '{}';
        ALTER TABLE releases ADD COLUMN notes VARCHAR DEFAULT '[]';
        ALTER TABLE releases ADD COLUMN leakage VARCHAR;
        UPDATE releases SET
            split_settings = json_object('test_size', test_size::JSON, 'validation_size', 0, 'folds', 0, 'seed', seed::VARCHAR::JSON,
                'group_by', ['keys', 'contexts'], 'balance', NULL, 'max_value_overlap', NULL, 'overlap_by', 'redraw'),
            record_choice = json_object('status', status_filter, 'run_id', run_id, 'locale', NULL, 'min_agreement', NULL, 'judged', 'any');
        CREATE TABLE release_values (
            release_name VARCHAR NOT NULL, record_order BIGINT NOT NULL, span_start BIGINT NOT NULL, span_end BIGINT NOT NULL,
            value VARCHAR NOT NULL);
    """)


@MIGRATIONS.register(7, "releases frozen when native rows had spaces have no content hash")
def _hashes_of_other_rows(connection: duckdb.DuckDBPyConnection) -> None:
    # The hash is that of the rows as they are written, which are now written without spaces.
    connection.execute("UPDATE releases SET content_sha256 = NULL")


@MIGRATIONS.register(8, "suggestions of detectors for annotators")
def _suggestions(connection: duckdb.DuckDBPyConnection) -> None:
    # What people make of suggestions is in the annotation events, not here.
    connection.execute("""
        CREATE TABLE suggestion_runs (
            id VARCHAR NOT NULL, detector VARCHAR NOT NULL, model VARCHAR, made_by VARCHAR NOT NULL, made_at VARCHAR NOT NULL);
        CREATE TABLE suggested_records (run_id VARCHAR NOT NULL, record_id VARCHAR NOT NULL, record_order BIGINT NOT NULL);
        CREATE TABLE suggestions (
            id VARCHAR NOT NULL, run_id VARCHAR NOT NULL, record_id VARCHAR NOT NULL, record_order BIGINT NOT NULL,
            revision BIGINT NOT NULL, span_start BIGINT NOT NULL, span_end BIGINT NOT NULL, entity_type VARCHAR NOT NULL,
            relevance VARCHAR, subtype VARCHAR, score DOUBLE, detector VARCHAR NOT NULL, found_by VARCHAR, withdrawn VARCHAR);
    """)


APPLICATION = "piiloom"
_VERSION_TABLE = """
    CREATE TABLE IF NOT EXISTS schema_version (version INTEGER NOT NULL, application VARCHAR NOT NULL, summary VARCHAR NOT NULL)
"""


def upgrade(
    connection: duckdb.DuckDBPyConnection, path: Path, migrations: Migrations, *, is_new: bool = False, keep_copy: bool = True
) -> None:
    """Upgrade the store to ``MIGRATIONS.latest``. Do nothing if it is there already.

    *is_new*: the file is known to be empty. *keep_copy*: back it up first; False for a store that is itself a temporary copy.

    Raises ``NotAStore`` (a DuckDB file with other tables), ``StoreTooNew``, ``OutputError`` (no room for the backup or for a
    migration) and ``StoreError`` if a migration fails. The caller must then close the connection, which rolls that migration back.
    """
    version = 0 if is_new else version_of(connection, path)
    refuse_newer(version, migrations, path, what="store", remedy="Upgrade piiloom, or use another file with --store")
    pending = migrations.after(version)
    if pending:
        backup = back_up(connection, path, version) if version and keep_copy else None
        _apply(connection, path, pending, backup)


def refuse_newer(version: int, migrations: Migrations, path: Path, *, what: str, remedy: str) -> None:
    """Raise ``StoreTooNew`` if *version* is newer than the newest of *migrations*."""
    if version > migrations.latest:
        raise StoreTooNew(
            f"the {what} has schema version {version}; this piiloom knows versions up to {migrations.latest}",
            where=str(path),
            remedy=remedy,
        )


def version_of(connection: duckdb.DuckDBPyConnection, path: Path) -> int:
    """Return the schema version of an open file, 0 for a database without tables. Raises ``NotAStore`` if it has other tables."""
    with duckdb_errors(path):
        # Query the version table directly first: listing the tables takes DuckDB 7 ms, 1.5 times as long as opening the file.
        try:
            found = connection.execute("SELECT max(version) FROM schema_version WHERE application = ?", [APPLICATION]).fetchall()
        except (duckdb.CatalogException, duckdb.BinderException):
            found = [(None,)]
        if found[0][0] is not None:
            return int(found[0][0])
        if not connection.execute("SELECT 1 FROM duckdb_tables() WHERE database_name = current_database()").fetchall():
            return 0
    raise NotAStore("the DuckDB file holds other tables than piiloom's", where=str(path), remedy="Name another file with --store")


def back_up(connection: duckdb.DuckDBPyConnection, path: Path, version: int) -> Path:
    """Copy the store to ``<name>.v<version>.bak`` in its folder and return that path. An existing file is never replaced.

    DuckDB makes the copy. Reading the file here would release the lock that keeps other processes out, since closing any
    descriptor of a file releases its POSIX locks. Raises ``OutputError``.
    """
    partial = path.with_name(f"{path.name}.v{version}.bak.part")
    try:
        remove_files(partial)
        with duckdb_errors(partial):
            source = connection.execute("SELECT current_database()").fetchall()[0][0]
            with attached(connection.execute, partial, "piiloom_backup"):
                connection.execute(f"COPY FROM DATABASE {identifier(source)} TO piiloom_backup")
        sync(partial)
        return _claim(partial, path, version)
    except (PiiloomError, OSError) as error:
        remove_files(partial)
        raise OutputError(
            f"the store could not be copied before its upgrade ({_cause(error)})",
            where=str(path),
            remedy="Nothing was changed. Free disk space in its folder and open it again",
        ) from error


def _claim(partial: Path, path: Path, version: int) -> Path:
    """Give the finished copy the first free name, and return it. ``link`` fails where a rename would replace a file."""
    number = 1
    while True:
        backup = path.with_name(f"{path.name}.v{version}.bak" if number == 1 else f"{path.name}.v{version}.{number}.bak")
        try:
            os.link(partial, backup)
        except FileExistsError:
            number += 1
            continue
        partial.unlink()
        sync(backup.parent)
        return backup


def _apply(connection: duckdb.DuckDBPyConnection, path: Path, steps: Sequence[Migration], backup: Path | None) -> None:
    for step in steps:
        try:
            connection.begin()
            connection.execute(_VERSION_TABLE)
            step.apply(connection)
            connection.execute("INSERT INTO schema_version VALUES (?, ?, ?)", [step.version, APPLICATION, step.summary])
            connection.commit()
        except Exception as error:  # any kind of failure; the caller closes the connection, which rolls back
            raise_if_interrupted(error)
            kept = f"A copy from before the upgrade is {backup.name}" if backup else "Free disk space, or name another file with --store"
            no_room = isinstance(error, duckdb.Error) and isinstance(translate(error, path), OutputError)
            raise (OutputError if no_room else StoreError)(
                f"schema version {step.version} ({step.summary}) could not be set up, and what was begun is undone; "
                f"the store stays at version {step.version - 1}",
                where=str(path),
                remedy=kept,
            ) from error


def _cause(error: PiiloomError | OSError) -> str:
    return error.message if isinstance(error, PiiloomError) else str(error.strerror)
