"""The database schema as a list of migrations. To change it, add a decorated function below; never change an old one.

Only tiny tables have a primary key, because DuckDB keeps the hashed keys in memory (about 210 bytes a row). Elsewhere each module's
queries replace or skip duplicates themselves, which is safe because only one process writes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import duckdb

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
