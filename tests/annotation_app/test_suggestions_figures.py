"""What people make of suggestions in figures, the order by uncertainty, and what a release tells of where its spans come from."""

from __future__ import annotations

import json

import pytest
from screen_stage import ACCEPT, ROLES, does, markdown_of, page, said, stage
from suggestion_stories import native_rows

from piiloom.annotation_app.figures.changes import suggestion_figures
from piiloom.annotation_app.sync.editor_data import event_words
from piiloom.annotation_app.worklist.assigning import ProjectSettings
from piiloom.annotation_app.worklist.pool import ListQuery, Signals, explained, scored
from piiloom.corpus.releases.exporting import export_release
from piiloom.corpus.releases.freezing import draft_release, freeze
from piiloom.corpus.releases.release_options import requested
from piiloom.corpus.store.judgements import Uncertainty, suggestions_for, uncertainties
from piiloom.corpus.store.records import iter_records
from tests.longer import case_by_case

HOSTILE = "<b>mine</b> **bold**"


def offer(services, found, detector="patterns"):
    with services.shared.reading() as store:
        records = [one for one in iter_records(store) if one.id in found]
        path = native_rows(services.path.with_name("found.jsonl"), records, found, detector)
    return services.suggestions.add("local", path, detector=detector)


def ids(services, record_id):
    with services.shared.reading() as store:
        return {one.entity_type: one.id for one in suggestions_for(store, [record_id])[record_id]}


def take(suggestion, start, end, kind):
    return {"op": "take", "taken": [{"suggestions": [suggestion], "start": start, "end": end, "type": kind, "relevance": "low"}]}


# The context reads "As a baker with asthma from Leeds, I wrote …"; 0–2, 3–4 and 34–35 are free.
FOUND = [(0, 2, "name", 0.95), (3, 4, "age", 0.55), (34, 35, "belief", 0.15), (34, 41, "code", None)]


def test_acceptance_by_detector_type_and_score(tmp_path):
    with stage(tmp_path, records=3, overlap=2) as services:
        offer(services, {"r000": FOUND, "r001": FOUND})
        names = ids(services, "r000")
        refused = {"op": "refuse", "suggestions": [names["belief"]]}
        does(services, "ana", "r000", take(names["name"], 0, 2, "name"), take(names["age"], 3, 5 - 1, "health"), refused)
        does(services, "ben", "r000", {"op": "text", "field": "context", "at": 0, "removed": "As", "inserted": "I am"})
        with services.shared.reading() as store:
            found = suggestion_figures(store)
        overall, by = found.overall, found.by
        assert overall.counts == {"shown": 7, "accepted": 1, "changed": 1, "refused": 1, "open": 4, "withdrawn": 1, "waiting": 4}
        assert (overall.taken.part, overall.taken.whole, overall.unchanged.part) == (2, 3, 1)
        assert set(by["detector"]) == {"patterns"}
        decided = {name: one.counts["accepted"] + one.counts["refused"] for name, one in by["type"].items()}
        assert decided == {"name": 1, "age": 0, "belief": 1, "code": 0}
        assert list(by["score"]) == ["0.1–0.2", "0.5–0.6", "0.9–1.0", "no score"]
        assert by["score"]["0.5–0.6"].counts["changed"] == 1


@pytest.mark.long
def test_the_pages_show_them_as_text(tmp_path):
    with stage(tmp_path, records=2) as services:
        shown = page("dashboard")
        shown.segmented_control[0].set_value("Suggestions").run()
        assert "No detector has suggested anything" in said(shown)
        offer(services, {"r000": FOUND}, HOSTILE)
        does(services, "ana", "r000", take(ids(services, "r000")["name"], 0, 2, "name"))
        shown = page("dashboard")
        shown.segmented_control[0].set_value("Suggestions").run()
        assert not shown.exception
        assert "Each suggestion counts once" in said(shown)
        rows = shown.dataframe[0].value.to_dict("records")
        assert (rows[1]["group"], rows[1]["accepted"], rows[1]["became spans, %"]) == (HOSTILE, 1, "100.0 (20.7–100.0)")
        admin = page("admin")
        assert "What a detector found in records of this store" in said(admin)
        assert not any(HOSTILE in one for one in markdown_of(admin))


@pytest.mark.long
def test_the_history_tells_it_in_words(tmp_path):
    with stage(tmp_path, records=1) as services:
        offer(services, {"r000": FOUND})
        names = ids(services, "r000")
        does(services, "ana", "r000", take(names["name"], 0, 2, "age"), {"op": "refuse", "suggestions": [names["age"]]})
        told = [event_words(event) for event in services.documents.history("r000")]
    assert told == ["suggestions accepted: 1, 1 of them changed (age, low relevance, 0–2)", "suggestions refused: 1"]


@case_by_case(
    ("nearest", "apart", "value"),
    [(None, None, 0), (0.5, None, 1), (0.9, None, 0.2), (0.1, 0.0, 0.2), (0.9, 0.75, 0.75), (None, 1.0, 1)],
)
def test_the_formula_of_uncertainty(nearest, apart, value):
    assert Uncertainty(nearest=nearest, apart=apart).value == pytest.approx(value)


def test_scores_and_disagreement_of_detectors(tmp_path):
    with stage(tmp_path, records=4) as services:
        offer(services, {"r000": FOUND, "r001": [(0, 2, "name", 0.9)], "r002": [(0, 2, "name", 0.9)]})
        offer(services, {"r000": FOUND[:2], "r001": [], "r002": [(0, 2, "name", 0.7)]}, "probe")
        with services.shared.reading() as store:
            found = uncertainties(store)
            assert uncertainties(store, ["r001"]) == {"r001": found["r001"]}
    assert found["r000"] == Uncertainty(nearest=0.55, apart=pytest.approx(1 - 2 * 2 / 6))
    assert found["r001"] == Uncertainty(nearest=0.9, apart=1.0)  # one found something, the other nothing
    assert found["r002"] == Uncertainty(nearest=0.7, apart=0.0)
    assert "r003" not in found


def test_the_work_list_is_ordered_by_uncertainty_if_that_is_set(tmp_path):
    def order(services):
        return [line.record_id for line in services.lists.find(ROLES["admin"], ListQuery(sort="priority", descending=True)).lines]

    with stage(tmp_path, records=4) as services:
        services.settings.change("local", "by_uncertainty", value=True)
        scores = {"r000": 0.99, "r001": 0.52, "r002": 0.7}
        offer(services, {name: [(0, 2, "name", score)] for name, score in scores.items()})
        first = order(services)
        assert first == ["r001", "r002", "r000", "r003"]  # without anybody asking for it
        assert services.work.next_for("ana").record_id == "r001"
        services.settings.change("local", "by_uncertainty", value=False)
        services.pool.prioritise("local")
        assert order(services) != first


def test_uncertainty_comes_before_everything_else():
    settings = ProjectSettings(by_uncertainty=True)
    urgent = Signals(record_id="a", pair=None, disagreements=9, doubts=("x", "y"), uncertainty=Uncertainty(nearest=0.9))
    unsure = Signals(record_id="b", pair=None, disagreements=0, doubts=(), uncertainty=Uncertainty(nearest=0.8995))
    assert scored(unsure, {}, settings)[0] > scored(urgent, {}, settings)[0]
    assert scored(urgent, {}, ProjectSettings())[0] > scored(unsure, {}, ProjectSettings())[0]
    reasons = scored(
        Signals(record_id="c", pair=None, disagreements=0, doubts=(), uncertainty=Uncertainty(nearest=0.5, apart=0.8)), {}, settings
    )[1]
    assert [explained(reason) for reason in reasons] == ["the score of a suggestion is 0.50", "two detectors disagree (0.80 of 1)"]


def released(services, name, folder):
    """Settle, freeze and export a release; gives its description."""
    services.resolver.settle_all()
    with services.shared.writing() as store:
        freeze(store, draft_release(store, requested(name, test_size="0", seed=0, status="validated")))
        export_release(store, name, "native", folder)
    return json.loads((folder / "release.json").read_text(encoding="utf-8"))


def test_a_release_tells_which_spans_were_suggested_and_nothing_of_what_was_refused(tmp_path):
    with stage(tmp_path, records=2, overlap=1) as services:
        does(services, "ana", "r001", ACCEPT)
        assert "suggested" not in released(services, "v0", tmp_path / "v0")
        offer(services, {"r000": FOUND}, HOSTILE)
        names = ids(services, "r000")
        refused = {"op": "refuse", "suggestions": [names["age"], names["belief"]]}
        does(services, "ana", "r000", take(names["name"], 0, 2, "name"), refused, ACCEPT)
        about = released(services, "v1", tmp_path / "out")
    rows = [json.loads(line) for line in (tmp_path / "out" / "train.jsonl").read_text(encoding="utf-8").splitlines()]
    spans = next(row["spans"] for row in rows if row["id"] == "r000")
    assert (spans[0]["id"], spans[0]["type"]) == (f"p-{names['name']}", "name")
    assert len(spans) == 4
    assert about["suggested"] == {HOSTILE: 1}
    written = "".join(path.read_text(encoding="utf-8") for path in (tmp_path / "out").iterdir())
    assert names["age"] not in written
    assert names["belief"] not in written
