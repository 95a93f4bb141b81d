"""What the store knows about records beside the records: their release, runs, rejects, costs, judges and annotators."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from piiloom.corpus.formats.base import Json
from piiloom.corpus.record import Record
from piiloom.corpus.store.adjudications import last_decisions
from piiloom.corpus.store.costs import ReplyCosts, reply_costs
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.judgements import JudgedCount, JudgementRow, judged_among, judgements_of
from piiloom.corpus.store.releases import ReleaseRow, withheld_of
from piiloom.corpus.store.runs import count_reasons, get_run, records_by_origin
from piiloom.evaluation.report.samples import draw_samples


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseFacts:
    """What is stated about a release; None where nothing is.

    ``settings``: how it was made (seed, sizes …). ``filters``: which records were taken. ``leakage``: figures by split.
    ``withheld``: numbers of records left out, by reason.
    """

    name: str
    version: str | None = None
    license: str | None = None
    content_sha256: str | None = None
    notes: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    filters: Mapping[str, Any] = field(default_factory=dict)
    leakage: Mapping[str, Any] | None = None
    withheld: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFacts:
    """A run that made some of the records. ``records``: how many of them. ``rejects``: counts of the run by stage and reason."""

    id: str
    provider: str
    model: str | None
    seed: int
    samples: int
    settings: Json
    records: int
    rejects: Mapping[str, Mapping[str, int]]
    costs: tuple[ReplyCosts, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreementFact:
    """One figure of the agreement among annotators, with its 95% interval and the number of units it was measured on."""

    name: str
    value: float
    low: float | None
    high: float | None
    over: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """Agreement among annotators on ``records`` records that two or more have finished."""

    records: int
    figures: tuple[AgreementFact, ...] = ()


# The number of records that two or more people have finished, and rows (name, value, low, high, over); None without such records.
MeasuredAgreement = tuple[int, Sequence[tuple[str, float, float | None, float | None, int]]]
MeasureAgreement = Callable[[Store, Collection[str]], MeasuredAgreement | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Background:
    """All that the store knows. ``decisions``: records by what people decided. ``reasons``: judgements on the shown records, by id."""

    release: ReleaseFacts | None = None
    runs: tuple[RunFacts, ...] = ()
    imported: int = 0
    judged: tuple[JudgedCount, ...] = ()
    decisions: Mapping[str, int] = field(default_factory=dict)
    reasons: Mapping[str, tuple[JudgementRow, ...]] = field(default_factory=dict)
    agreement: Agreement | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """How to read the background: *seed* draws the shown records; *agreement* measures it (a room above this one does)."""

    seed: int
    agreement: MeasureAgreement


def release_facts(store: Store, row: ReleaseRow) -> ReleaseFacts:
    """Return what *store* states about a release."""
    withheld = Counter(reason for _, reason in withheld_of(store, row))
    return ReleaseFacts(
        name=row.name,
        version=row.version,
        license=row.license,
        content_sha256=row.content_sha256,
        notes="\n".join(row.notes) or None,
        settings=row.split_settings or {"seed": row.seed, "test_size": row.test_size},
        filters=row.record_choice or {"status": row.status_filter, "run_id": row.run_id},
        leakage=row.leakage,
        withheld=dict(sorted(withheld.items())),
    )


def read_background(store: Store, splits: Mapping[str, list[Record]], wanted: Wanted, release: ReleaseRow | None = None) -> Background:
    """Read what *store* knows about the records of *splits*."""
    ids = {record.id for records in splits.values() for record in records}
    origins = records_by_origin(store, ids)
    decisions = Counter(str(outcome) for record_id, outcome in last_decisions(store).items() if record_id in ids)
    return Background(
        release=None if release is None else release_facts(store, release),
        runs=tuple(_run_facts(store, run_id, records) for run_id, records in origins.items() if run_id is not None),
        imported=origins.get(None, 0),
        judged=tuple(judged_among(store, ids)),
        decisions=dict(sorted(decisions.items())),
        reasons=judgements_of(store, draw_samples(splits, seed=wanted.seed).shown_ids()),
        agreement=_agreement(wanted.agreement(store, ids)),
    )


def _agreement(measured: MeasuredAgreement | None) -> Agreement | None:
    if measured is None:
        return None
    records, rows = measured
    figures = (AgreementFact(name=name, value=value, low=low, high=high, over=over) for name, value, low, high, over in rows)
    return Agreement(records=records, figures=tuple(figures))


def _run_facts(store: Store, run_id: str, records: int) -> RunFacts:
    run = get_run(store, run_id)
    return RunFacts(
        id=run.id,
        provider=run.provider,
        model=run.model,
        seed=run.seed,
        samples=run.samples,
        settings=run.config,
        records=records,
        rejects=count_reasons(store, run.id),
        costs=tuple(reply_costs(store, run.id)),
    )
