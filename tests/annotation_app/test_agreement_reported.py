"""The agreement that ``piiloom report`` tells on the page of a data set."""

from __future__ import annotations

from project_stories import without

from piiloom.cli.report_agreement import agreement_among


def test_of_records_that_two_people_finished(project):
    assert agreement_among(project.store, {"r1", "r2"}) is None
    project.finish(1, "ada", without("s1"))
    project.finish(2, "ada")
    assert agreement_among(project.store, {"r1", "r2"}) is None
    project.finish(1, "bob")
    found = agreement_among(project.store, {"r1", "r2"})
    assert found is not None
    assert found.records == 1
    figures = {each.name: each for each in found.figures}
    assert round(figures["spans with equal ends (F1)"].value, 3) == round(2 * 3 / 7, 3)
    assert figures["same type, of matched spans"].value == 1.0
    assert agreement_among(project.store, {"r2"}) is None
