"""Whatever people do and decide: tables, statuses and revisions are what the log says."""

from __future__ import annotations

import pytest
from adjudication_stories import JUDGE, Project
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from project_stories import without

from piiloom.annotation_app.documents.document import document_of
from piiloom.foundation.errors import UsageError
from tests.annotation_app.replaying import replayed_adjudications
from tests.longer import EXPLORE


class Decided(RuleBasedStateMachine):
    """Whatever people do: the table is what the log says, statuses follow, and no revision is lost or doubled."""

    @initialize(wanted=st.integers(1, 2))
    def open(self, wanted: int) -> None:
        self.project = Project(wanted=wanted)

    def teardown(self) -> None:
        if hasattr(self, "project"):
            self.project.shared.close()

    @rule(
        number=st.integers(1, 2),
        who=st.sampled_from(["ada", "bob"]),
        which=st.sampled_from(["", "s1", "s2"]),
        verdict=st.sampled_from(["accepted", "accepted", "rejected", "open"]),
    )
    def work(self, number: int, who: str, which: str, verdict: str) -> None:
        if self.project.status(number) in {"generated", "annotated"}:
            self.project.finish(number, who, without(which), verdict=verdict)

    @rule()
    def settle(self) -> None:
        settled = self.project.resolver.settle_all()
        assert {*settled.disputed} == {*self.project.resolver.disputes()} - {*settled.waiting}

    @rule(number=st.integers(1, 2), kind=st.sampled_from(["adjudicate", "reject", "reopen"]))
    def decide(self, number: int, kind: str) -> None:
        project, name = self.project, f"r{number}"
        try:
            if kind == "adjudicate":
                right = document_of(project.bases[number - 1])
                project.resolver.adjudicate(JUDGE, name, right, seen=project.seen(number), how={})
            elif kind == "reject":
                project.resolver.reject(JUDGE, name, "bad")
            else:
                project.resolver.reopen(JUDGE, name, "again")
        except UsageError:
            assert kind != "reopen" or project.status(number) in {"generated", "annotated"}

    @invariant()
    def the_tables_are_what_the_log_says(self) -> None:
        if not hasattr(self, "project"):
            return
        assert replayed_adjudications(self.project.events()) == self.project.decisions()
        for number in (1, 2):
            mine = [event for event in self.project.events() if event.record_id == f"r{number}" and "status" in event.entry]
            assert self.project.status(number) == (mine[-1].entry["status"] if mine else "generated")
            validated = [event for event in mine if event.kind == "validated"]
            assert [one.revision for one in self.project.revisions(number)] == list(range(len(validated) + 1))


class TestDecided(Decided.TestCase):
    settings = settings(max_examples=4, stateful_step_count=12, deadline=None)  # each opens a store


@pytest.mark.long
class TestDecidedAtLength(Decided.TestCase):
    settings = settings(max_examples=20 if EXPLORE else 8, stateful_step_count=20, deadline=None)
