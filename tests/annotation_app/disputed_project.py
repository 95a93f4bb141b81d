"""A project in which two people differ, for tests of those who decide between them."""

from __future__ import annotations

from pathlib import Path

from screen_stage import ACCEPT, does

from piiloom.annotation_app.serving.services import open_services
from piiloom.corpus.record import Record
from tests.annotation_app.app_driver import make_project


def make_disputed(path: Path, records: list[Record], *, asked: str = "") -> Path:
    """A project in which ana and bo differ on all *records* but the last, which nobody has begun; *asked* is a question of ana's."""
    make_project(path, records, {"ana": "annotator", "bo": "annotator", "judge": "admin"}, wanted=2)
    services = open_services(path)
    try:
        for record in records[:-1]:
            does(services, "ana", record.id, {"op": "relevance", "id": record.spans[0].id, "relevance": "high"}, ACCEPT)
            does(services, "bo", record.id, ACCEPT)
        if asked:
            services.guidelines.ask("ana", asked)
    finally:
        services.close()
    return path
