"""Settings: defaults, checks, one event each, and seen by all at once."""

from __future__ import annotations

import threading

import pytest
from worklist_stories import WorkProject

from piiloom.annotation_app.worklist.assigning import ProjectSettings, SettingsStore, settings_from
from piiloom.corpus.store.database import MEMORY, Store
from piiloom.foundation.errors import UsageError
from tests.longer import case_by_case


def test_settings_have_defaults_and_keep_what_was_changed() -> None:
    with Store.open(MEMORY) as store:
        project = WorkProject(store)
        assert project.settings.current() == ProjectSettings()
        project.settings.change("boss", "overlap", 3)
        project.settings.change("boss", "overlap", 2)
        project.settings.change("boss", "blind", False)
        assert (project.settings.current().overlap, project.settings.current().blind) == (2, False)
        assert SettingsStore(project.shared, project.log).current() == project.settings.current()
        project.assert_replay_equals_tables()


@case_by_case(
    ("name", "value"),
    [
        ("overlap", 0),
        ("overlap", True),
        ("overlap", 1.5),
        ("overlap", "2"),
        ("blind", 1),
        ("lease_minutes", 0),
        ("control_share", 0.6),
        ("qualifying_threshold", 1.01),
        ("qualifying_threshold", float("nan")),
        ("priority_weights", {"judges": -1}),
        ("priority_weights", {"judges": float("inf")}),
        ("priority_weights", {"other": 1}),
        ("priority_weights", []),
        ("seed", -1),
        ("nothing", 1),
    ],
)
def test_wrong_values_are_refused_with_what_is_right(name: str, value: object) -> None:
    with Store.open(MEMORY) as store:
        project = WorkProject(store)
        with pytest.raises(UsageError, match=r"It must be|Known"):
            project.settings.change("boss", name, value)
        assert project.settings.current() == ProjectSettings()


def test_settings_of_a_newer_piiloom_are_left_alone() -> None:
    assert settings_from({"overlap": 2, "of_tomorrow": 1}) == ProjectSettings(overlap=2)


def test_readers_in_other_threads_see_the_last_change() -> None:
    with Store.open(MEMORY) as store:
        project = WorkProject(store)
        stop = threading.Event()

        def read() -> None:
            while not stop.wait(0.001):
                project.settings.current()

        readers = [threading.Thread(target=read) for _ in range(3)]
        for reader in readers:
            reader.start()
        for minutes in range(1, 31):
            assert project.settings.change("boss", "lease_minutes", minutes).lease_minutes == minutes
            assert project.settings.current().lease_minutes == minutes
        stop.set()
        for reader in readers:
            reader.join(10)
