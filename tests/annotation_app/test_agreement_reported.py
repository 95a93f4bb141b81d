"""The agreement that ``piiloom report`` tells on the page of a data set."""

from __future__ import annotations

from project_stories import without

from piiloom.annotation_app.figures.agreement import agreement_among


def test_of_records_that_two_people_finished(project):
    assert agreement_among(project.store, {"r1", "r2"}) is None
    project.finish(1, "ada", without("s1"))
    project.finish(2, "ada")
    assert agreement_among(project.store, {"r1", "r2"}) is None
    project.finish(1, "bob")
    found = agreement_among(project.store, {"r1", "r2"})
    assert found is not None
    records, rows = found
    assert records == 1
    values = {name: value for name, value, *_ in rows}
    assert round(values["spans with equal ends (F1)"], 3) == round(2 * 3 / 7, 3)
    assert values["same type, of matched spans"] == 1.0
    assert agreement_among(project.store, {"r2"}) is None
