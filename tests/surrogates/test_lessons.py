"""260 lessons of a chat room, a table each: documents of rows, one group each, one student throughout, fitting values, the table's form."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from piiloom.surrogates.corpus_run import Observer, run_corpus
from piiloom.surrogates.documents import Document
from piiloom.surrogates.engine import Engine
from piiloom.surrogates.options import SurrogateOptions
from piiloom.surrogates.outputs.checking import verify_folder
from piiloom.surrogates.persona_assignment.groups import GROUPS
from piiloom.surrogates.placeholders import Finder
from piiloom.surrogates.settings import EngineSettings
from tests.surrogates.lessons import OTHER_TAGS, write_lessons
from tests.surrogates.whole_runs import POOLS

pytestmark = pytest.mark.long

COUNT = 260
EDITED = 5
NAMES = {"<STUDENT>": "student", "<TEACHER>": "teacher", "<STUDENT'S FRIEND>": "student-friend"}


@pytest.fixture(scope="module")
def lessons(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("chat")
    write_lessons(folder / "in", COUNT)
    words = {"text_field": ("edited",), "group_by": "file", "speaker_field": "role", "locale": "en_GB", "groups_by": "document"}
    run_corpus(folder / "in", folder / "out", SurrogateOptions(**words, seed=5, workers=1), Observer())
    return folder


@pytest.fixture(scope="module")
def records(lessons: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (lessons / "out" / "records.jsonl").read_text("utf-8").splitlines()]


@pytest.fixture(scope="module")
def report(lessons: Path) -> dict[str, Any]:
    read: dict[str, Any] = json.loads((lessons / "out" / "report.json").read_text("utf-8"))
    return read


def rows_of(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as fh:
        return list(csv.reader(fh, delimiter="\t"))


def test_each_lesson_is_one_document_of_lines_and_its_table_keeps_its_form(lessons, records):
    assert verify_folder(lessons / "out", lessons / "in").documents == len(records) == COUNT
    for record in records:
        name = record["meta"]["source"]["file"]
        before, after = (rows_of(lessons / place / name) for place in ("in", "out/mirror"))
        assert record["context"] == "\n".join(f"{row[2]}: {row[EDITED]}" for row in after[1:])
        assert all(2 <= int(count) <= 12 for count in re.findall(r"I have (\d+) cousins", record["context"]))
        assert [[*row[:EDITED], *row[EDITED + 1 :]] for row in before] == [[*row[:EDITED], *row[EDITED + 1 :]] for row in after]


def test_all_tags_are_filled_with_values_of_their_kinds(lessons, report):
    texts = ["\n".join(row[EDITED] for row in rows_of(path)) for path in sorted((lessons / "in").iterdir())]
    expected = Counter({"person": sum(text.count(tag) for text in texts for tag in NAMES)})
    for tag, (kind, _, _) in OTHER_TAGS.items():
        expected[kind] += sum(text.count(tag) for text in texts)
        assert sum(tag in text for text in texts) > 50, tag
    assert len(OTHER_TAGS) == 13
    assert report["replaced"]["by_kind"] == expected
    assert report["unknown"]["total"] == 0


def test_26_lessons_are_of_each_group_and_all_people_of_a_lesson_of_one(records, report):
    people = report["engine"]["people"]
    groups = people["documents"]["groups"]
    assert groups == dict.fromkeys(map(" ".join, GROUPS), 26)
    assert people["documents"]["largest_difference"] == people["roles"]["student"]["largest_difference"] == 0
    assert people["documents"]["gender_told_by_text"] == {"open": 173, "female": 44, "male": 43}
    of_documents = report["groups_of_documents"]
    assert of_documents == {record["meta"]["source"]["id"]: record["meta"]["person_groups"] for record in records}
    assert Counter(told["group"][0] for told in of_documents.values()) == groups
    assert all(len({group for of_role in told.values() for group in of_role}) == 1 for told in of_documents.values())


def test_one_student_and_one_teacher_throughout_each_lesson_with_their_own_handles(lessons, records):
    handles: Counter[str] = Counter()
    for record in records:
        before = rows_of(lessons / "in" / record["meta"]["source"]["file"])
        tags = _tags("\n".join(row[EDITED] for row in before))
        names: dict[str, set[tuple[str, str]]] = {}
        for tag, span in zip(tags, record["spans"], strict=True):
            names.setdefault(tag, set()).add((span["value_id"], span["text"]))
        (student,), (teacher,) = names["<STUDENT>"], names["<TEACHER>"]
        assert student[0] != teacher[0]
        for tag, (_, speaker, _) in OTHER_TAGS.items():
            for value_id, text in names.get(tag, ()):
                if tag in {"<INSTAGRAM ACCOUNT>", "<STUDENT'S USERNAME>", "<EMAIL>"}:
                    assert value_id == {"student": student, "teacher": teacher}[speaker][0], (tag, record["context"])
                    assert ("@" in text) == (tag == "<EMAIL>"), text
                    handles[tag] += 1
    assert min(handles.values()) > 50
    assert len(handles) == 3


def _tags(text: str) -> list[str]:
    places = sorted((text.find(tag, at), tag) for tag in (*OTHER_TAGS, *NAMES) for at in range(len(text)) if text.startswith(tag, at))
    return [tag for _, tag in places]


def test_who_is_told_to_be_of_another_gender_keeps_the_region_of_the_document():
    texts = ["<STUDENT> met her <TEACHER>. He was late."] * 40 + ["<STUDENT> was late, she said.", "Nobody.", "[CITY]"]
    documents = [Document(number, str(number), text, "texts", number) for number, text in enumerate(texts)]
    engine = Engine(EngineSettings(seed=1, groups_by="document"), POOLS, Finder())
    told = [done.person_groups for done in engine.replace_all(documents)]
    assert told[-2:] == [{}, {}]
    assert told[-3]["group"] == told[-3]["student"]
    assert Counter(one["group"][0] for one in told[:40]).most_common()[-1][1] >= 3
    for one in told[:40]:
        gender, region = one["group"][0].split()
        assert {group.split()[1] for of_role in one.values() for group in of_role} == {region}
        assert one["teacher"] == [f"male {region}"]
        assert one["student"] in ([f"{gender} {region}"], [f"female {region}"])


@pytest.mark.parametrize(
    ("said", "owner"),
    [
        ("Hi <TEACHER>, I am on Skype as <SKYPE ACCOUNT>.", "student"),
        ("Is <SKYPE ACCOUNT> your account?", "student"),
        ("Is your account <SKYPE ACCOUNT>?", "teacher"),
        ("Thank you! Skype: <SKYPE ACCOUNT>", "student"),
        ("My friend <STUDENT'S FRIEND> is <SKYPE ACCOUNT> there.", "student friend"),
    ],
)
def test_a_value_is_the_speakers_or_of_whom_they_speak(said, owner):
    text = f"teacher: Hello <STUDENT>, I am <TEACHER>.\nstudent: {said}"
    turns = ((0, "teacher"), (text.index("student:"), "student"))
    document = Document(0, "0", text, "texts", turns=turns)
    engine = Engine(EngineSettings(seed=1, locale="en_GB"), POOLS, Finder())
    plan, _ = engine.plan(document)
    (value,) = [at for number, at in enumerate(plan.owners) if plan.mentions[number].kind == "username"]
    assert plan.clusters[value].key[0] == owner
    if owner == "student":  # of whom nothing is known now, but that they are not the teacher
        (done,) = engine.replace_all([document._replace(text=text.replace("<STUDENT>", "(unknown)"))])
        assert done.placed[-1].kind == "username"
        assert done.placed[-1].value_id not in {place.value_id for place in done.placed if place.kind == "person"}
