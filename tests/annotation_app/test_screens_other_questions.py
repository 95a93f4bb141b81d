"""Several questions on one text: who belongs together, and what the table beside the record says."""

from __future__ import annotations

from dataclasses import replace

from project_stories import document, pool, record

from piiloom.annotation_app.screens.editor import table_of
from piiloom.corpus.store.annotation_items import other_questions
from piiloom.corpus.store.database import MEMORY, Store


def test_the_records_of_one_text_with_other_questions_are_found() -> None:
    key = "text:\"%_'1"
    with Store.open(MEMORY) as store:
        asked = [record(n, question=f"Question {n}?", group_keys=("story:a", key)) for n in (1, 2, 3)]
        pool(store, [*asked, record(4, group_keys=("text:other",)), record(5)])
        pool(store, [replace(asked[0], id="copy"), record(6, question="Practice?", group_keys=(key,))], role="control")
        assert other_questions(store, key, "Question 1?") == ["r2", "r3"]
        assert other_questions(store, "text:nobody's", "Question 1?") == []


def test_a_span_has_its_relevance_to_each_question_in_a_row() -> None:
    one = replace(document("Ada of Kent saw Ada.", (0, 3, "name", "high"), (16, 19, "name", "low")), question="Who <b>?")
    two = replace(document("Well: Ada of Kent saw Ada.", (6, 9, "name", "low"), (13, 17, "location", None)), question=None)
    table = table_of([one, two])
    assert '<th scope="col" dir="auto">1. Who &lt;b&gt;?</th>' in table
    assert "2. no question" in table
    rows = [row.replace("</td>", "").replace("</tr>", "") for row in table.split("<tr>")[2:]]
    assert ["Ada" in row and "high · name" in row and "low · name" in row for row in rows] == [True, False, False]
    assert '<td>–<td class="–">– · location' in rows[2]
