"""What several files of tests begin with: a project whose records are decided on, and a service over three records."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from adjudication_stories import Project

from piiloom.annotation_app.sync.service import DocumentService
from piiloom.corpus.store.opening import SharedStore
from tests.annotation_app.sync_stories import record, service_over, shared_store


@pytest.fixture
def project() -> Iterator[Project]:
    made = Project()
    yield made
    made.shared.close()


@pytest.fixture
def alone() -> Iterator[Project]:
    """A project where one person finishes a record."""
    made = Project(wanted=1)
    yield made
    made.shared.close()


@pytest.fixture
def shared() -> Iterator[SharedStore]:
    opened = shared_store([record(n) for n in range(1, 4)])
    yield opened
    opened.close()


@pytest.fixture
def service(shared: SharedStore) -> DocumentService:
    return service_over(shared)
