"""The page Import: corrections of stored records are named, stored as revisions, or left out, as the admin chooses."""

from __future__ import annotations

import json

import pytest
from screen_stage import record, stage

from piiloom.annotation_app.screens.admin_files import _import
from piiloom.corpus.formats.native_rows import row_of
from piiloom.corpus.importing import OnConflict
from piiloom.corpus.store.records import iter_records
from piiloom.foundation.errors import DataError


def upload(*numbers: int) -> bytes:
    rows = [{**row_of(record(number)), "question": "And which now?"} for number in numbers]
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def test_corrections_are_named_and_nothing_is_imported(tmp_path):
    with stage(tmp_path) as services:
        with pytest.raises(DataError, match=r"2 rows have ids of stored records .* r000, r001") as caught:
            _import(services, "corrected.jsonl", upload(0, 1), "native", "en_US", "fail")
        assert "--" not in str(caught.value)  # there are no options on a page
        assert "upload.jsonl" not in str(caught.value)
        with services.shared.reading() as store:
            assert [one.revision for one in iter_records(store)] == [0, 0, 0, 0]


@pytest.mark.parametrize(("choice", "counts"), [("update", (0, 1, 0)), ("new", (1, 0, 0)), ("skip", (0, 0, 1))])
def test_the_choice_is_what_happens(tmp_path, choice: OnConflict, counts: tuple[int, int, int]):
    with stage(tmp_path) as services:
        report = _import(services, "corrected.jsonl", upload(2), "native", "en_US", choice).report
    assert (report.as_new, report.updated, report.skipped_changed) == counts
