"""One document as large as a folder: what is done with a mention does not depend on how many others there are.

A step that looks at all mentions for each of them would take hours on these, not seconds.
"""

from __future__ import annotations

import json

import pytest

from piiloom.surrogates.documents import Document, Mention, OffsetMap
from piiloom.surrogates.engine import EngineFactory
from piiloom.surrogates.inputs.parts import SourceSettings
from piiloom.surrogates.outputs.checking import verify_folder
from piiloom.surrogates.placeholders import Mapping
from piiloom.surrogates.planning import Planner
from piiloom.surrogates.running import run_surrogates
from piiloom.surrogates.settings import EngineSettings
from tests.longer import EXPLORE

SENTENCE = "[NAME] met <STUDENT 3> and <TEACHER>, (AGE) years old. "


@pytest.mark.long
@pytest.mark.parametrize(("strategy", "number"), [("consistent", 25_000 if EXPLORE else 5_000), ("markov", 25_000 if EXPLORE else 4_000)])
def test_tens_of_thousands_of_mentions(strategy, number):
    engine = EngineFactory(settings=EngineSettings(seed=0, strategy=strategy), mapping=Mapping(), miss_rates=(0.05,))()
    document = Document(0, "d", SENTENCE * number, "memory.txt")
    engine.load(engine.assign([engine.scan([document])]))
    (done,) = engine.replace([document], 0)
    assert len(done.placed) == 4 * number
    assert OffsetMap((one.start, one.end, one.new_start, one.new_end) for one in done.placed).agrees(document.text, done.text)
    students = {done.text[one.new_start : one.new_end] for one in done.placed if one.role == "student"}
    assert (len(students) <= 2) == (strategy == "consistent")
    assert done.tallies["torn"] == 0


@pytest.mark.long
def test_known_names_of_ten_thousand_people():
    """Many share a given name; each comes twice, at first in full."""
    given, number = ("Anna", "Bob", "Carla", "Dirk"), 10_000
    families = [f"Fam{''.join(chr(97 + int(digit)) for digit in str(one))}" for one in range(number)]
    names = [f"{given[one % 4]} {family}" for one, family in enumerate(families)] + [f"Dr. {family}" for family in families]
    text = " ".join(names)
    mentions, at = [], 0
    for name in names:
        mentions.append(Mention(at, at + len(name), "person", original=name))
        at += len(name) + 1
    plan = Planner("en").plan(text, mentions)
    assert len(plan.clusters) == number
    assert plan.owners == [*range(number), *range(number)]


@pytest.mark.long
def test_a_file_of_many_sections(tmp_path):
    """Each placeholder of an XML file is written as its own text node or CDATA section asks."""
    number = 20_000 if EXPLORE else 8_000
    source = tmp_path / "in.xml"
    rows = "".join(f"<p><![CDATA[[NAME] & co {row}]]></p><p>[COMPANY] &amp; co</p>\n" for row in range(number))
    source.write_text(f"<r>\n{rows}</r>\n", encoding="utf-8")
    factory = EngineFactory(settings=EngineSettings(seed=0), mapping=Mapping())
    report = run_surrogates(SourceSettings(path=source), tmp_path / "out", factory)
    assert report.replaced == 2 * number
    assert verify_folder(tmp_path / "out", source).ranges == 2 * number
    record = json.loads((tmp_path / "out" / "records.jsonl").read_text(encoding="utf-8"))
    assert {span["type"] for span in record["spans"]} == {"name", "organization"}
