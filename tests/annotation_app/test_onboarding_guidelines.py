"""Guidelines in versions, and questions about them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from worklist_stories import WorkProject, composed

from piiloom.annotation_app.onboarding.guidelines import TOURS, default_markdown, tour_video
from piiloom.corpus.store.annotation_events import read_events
from piiloom.corpus.store.database import MEMORY, Store
from piiloom.foundation.errors import UsageError
from piiloom.taxonomy.entity_types import shipped_taxonomy


@pytest.fixture
def project() -> Iterator[WorkProject]:
    with Store.open(MEMORY) as store:
        yield WorkProject(store, [composed(1)])


def test_a_project_starts_from_the_shipped_version_and_keeps_every_later_one(project: WorkProject) -> None:
    assert project.guidelines.versions() == []
    first = project.guidelines.ensure()
    assert project.guidelines.ensure() == first
    assert (first.version, first.markdown) == (1, default_markdown())
    project.clock.turn(5)
    second = project.guidelines.publish("boss", first.markdown + "\nOne more rule.\n", seen=1)
    assert (second.version, project.guidelines.ensure().version, second.made_by) == (2, 2, "boss")
    assert project.guidelines.versions() == [first, second]
    assert "+One more rule." in project.guidelines.changes(1, 2)
    assert project.guidelines.version(1) == first
    project.assert_replay_equals_tables()


def test_publishing_refuses_what_would_lose_or_change_nothing(project: WorkProject) -> None:
    project.guidelines.publish("boss", "One.")
    project.guidelines.publish("boss", "Two.", seen=1)
    with pytest.raises(UsageError, match="changed meanwhile: version 2"):
        project.guidelines.publish("eve", "Three.", seen=1)
    with pytest.raises(UsageError, match="Nothing was changed"):
        project.guidelines.publish("boss", "Two.")
    for text in ("", "  \n", "x" * 500_000):
        with pytest.raises(UsageError, match="empty or far too long"):
            project.guidelines.publish("boss", text)
    with pytest.raises(UsageError, match="no version 9"):
        project.guidelines.version(9)
    assert project.guidelines.ensure().version == 2


def test_questions_are_asked_on_a_record_and_answered_again_if_need_be(project: WorkProject) -> None:
    project.guidelines.ensure()
    general = project.guidelines.ask("ann", "Does <script>alert(1)</script> count?")
    on_record = project.guidelines.ask("ben", " Is a nickname a name? ", composed(1).id)
    assert on_record.text == "Is a nickname a name?"
    assert project.guidelines.questions() == [general, on_record]
    project.clock.turn(1)
    project.guidelines.answer("judy", on_record.question, "Yes.")
    answered = project.guidelines.answer("boss", on_record.question, "Yes, and so are initials.")
    assert (answered.answer, answered.answered_by) == ("Yes, and so are initials.", "boss")
    assert project.guidelines.questions(record_id=composed(1).id) == [answered]
    assert project.guidelines.questions() == [general, answered]
    with pytest.raises(UsageError, match="no question"):
        project.guidelines.answer("boss", 10_000, "What?")
    for text in ("", " ", "x" * 5_000):
        with pytest.raises(UsageError, match="write something"):
            project.guidelines.ask("ann", text)
    with project.shared.reading() as store:
        events = read_events(store, kinds=["asked", "answered"])
    assert [event.guideline for event in events] == [1, 1, 1, 1]
    project.assert_replay_equals_tables()


def test_the_shipped_version_has_examples_of_both_relevances_and_names_only_known_types() -> None:
    text = default_markdown()
    examples = re.findall(r"^> ", text, re.MULTILINE)
    assert len(examples) >= 5
    assert "only with great difficulty" in text
    assert "high relevance" in text
    assert "low relevance" in text
    named = set(re.findall(r"\*\*?[^*]+\*\*?[^|*\n]*: ([a-z ]+?) \|", text))
    assert named
    assert named <= set(shipped_taxonomy().types)


def test_the_tour_is_a_small_video_and_may_be_missing(tmp_path: Path) -> None:
    video = tour_video()
    assert video == TOURS[1]
    content = video.read_bytes()
    assert content[:4] == b"\x1a\x45\xdf\xa3"
    assert b"webm" in content[:64]
    assert len(content) < 4_000_000
    assert tour_video([tmp_path / "gone.webm"]) is None
