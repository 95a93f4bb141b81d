"""Agreement among annotators for a report: measured by the annotation app's room, told to the room of reports."""

from __future__ import annotations

from collections.abc import Collection

from piiloom.annotation_app.agreement.finished_records import FinishedRecords
from piiloom.annotation_app.agreement.measuring import AgreementFigures, measure_agreement
from piiloom.corpus.store.database import Store
from piiloom.evaluation.report.background import Agreement, AgreementFact

_NAMES = {
    "exact_f1": "spans with equal ends (F1)",
    "overlap_f1": "spans that overlap (F1)",
    "whole_f1": "spans with equal ends, type and relevance (F1)",
    "types": "same type, of matched spans",
    "relevance": "same relevance, of matched spans",
    "boundary_alpha": "boundaries (Krippendorff's alpha)",
    "type_alpha": "types (Krippendorff's alpha)",
    "relevance_alpha": "relevance (Krippendorff's alpha)",
    "verdict_alpha": "accepted or rejected (Krippendorff's alpha)",
}


def agreement_among(store: Store, record_ids: Collection[str]) -> Agreement | None:
    """Measure the agreement on those of *record_ids* that two or more people have finished; None if there are none."""
    finished = [each for each in FinishedRecords().load(store) if each.record_id in record_ids and len(each.versions) > 1]
    if not finished:
        return None
    overall = measure_agreement(finished, disputed=0).overall
    return Agreement(records=overall.records, figures=tuple(_facts(overall)))


def _facts(overall: AgreementFigures) -> list[AgreementFact]:
    found = []
    for field, name in _NAMES.items():
        figure = getattr(overall, field)
        if figure is not None and figure.value is not None:
            found.append(AgreementFact(name=name, value=figure.value, low=figure.low, high=figure.high, over=int(figure.over)))
    return found
