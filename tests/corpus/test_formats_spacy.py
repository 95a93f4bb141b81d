"""spaCy's DocBin, opened by spaCy: entities, spans with relevance, and what comes back of ours and of others."""

from __future__ import annotations

import os
import subprocess
import sys
import zlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from record_strategies import records
from token_round_trips import AS_WRITTEN, HARD, marked, marks, shared_records, written_and_read

from piiloom.corpus.formats import token_labels as labels
from piiloom.corpus.formats.base import ReadOptions, ReadTally, WriteOptions
from piiloom.corpus.formats.token_formats import DocBinFormat
from piiloom.corpus.record import Record, Span
from piiloom.foundation.errors import DataError
from piiloom.taxonomy.entity_types import shipped_taxonomy

pytestmark = pytest.mark.long
SPACY = DocBinFormat()
CUT = replace(marked("Annabel met Lee", "Ann", "Lee"), question="Who?")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "train.spacy"


def docs(path: Path) -> list[Any]:
    import spacy
    from spacy.tokens import DocBin

    return list(DocBin().from_disk(path).get_docs(spacy.blank("en").vocab))


def rewritten(path: Path, change: Callable[[Any], None]) -> Record:
    """The record that is read after *change* of the only doc in *path*, as a user of spaCy would make it."""
    from spacy.tokens import DocBin

    (doc,) = docs(path)
    change(doc)
    DocBin(docs=[doc], store_user_data=True).to_disk(path)
    (record,) = SPACY.read(path, AS_WRITTEN, ReadTally())
    assert isinstance(record, Record)
    return record


def read_exactly(items: list[Record], path: Path) -> None:
    """Write and read *items*: all spans come back exactly, though entities are whole tokens."""
    written_and_read(SPACY, items, path, "whitespace")
    back = [row for row in SPACY.read(path, AS_WRITTEN, ReadTally()) if isinstance(row, Record)]
    assert [marks(row) for row in back] == [marks(record) for record in items]


def test_a_doc_has_entities_spans_with_relevance_and_the_exact_record(file: Path) -> None:
    report = SPACY.write([CUT], file, WriteOptions(taxonomy=shipped_taxonomy()))
    (doc,) = docs(file)
    assert [(e.text, e.label_) for e in doc.ents] == [("Annabel", "NAME"), ("Lee", "NAME")]
    assert [(s.text, s.label_, s.kb_id_) for s in doc.spans["pii"]] == [("Annabel", "NAME", "low"), ("Lee", "NAME", "low")]
    assert doc.user_data["piiloom"]["spans"][0] == {"start": 0, "end": 3, "type": "name", "relevance": "low", "entity": (0, 7)}
    assert [(e.value, e.reason) for e in report.entries] == [("Ann", labels.WIDENED)]
    (back,) = SPACY.read(file, AS_WRITTEN, ReadTally())
    assert isinstance(back, Record)
    assert [(s.start, s.end) for s in back.spans] == [(0, 3), (12, 15)]


def test_tokens_are_those_of_the_language_or_of_the_named_pipeline(file: Path, tmp_path: Path) -> None:
    import spacy

    record = replace(marked("z.B. don't", "z.B."), locale="de_DE")
    SPACY.write([record, replace(record, locale="en_US")], file, WriteOptions(taxonomy=shipped_taxonomy()))
    assert [[t.text for t in doc] for doc in docs(file)] == [["z.B.", "don't"], ["z.", "B.", "do", "n't"]]
    spacy.blank("de").to_disk(tmp_path / "mine")
    SPACY.write([replace(record, locale="en_US")], file, WriteOptions(tokenizer=f"spacy:{tmp_path / 'mine'}", taxonomy=shipped_taxonomy()))
    assert [[t.text for t in doc] for doc in docs(file)] == [["z.B.", "don't"]]


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(record=records())
def test_any_record_comes_back_exactly(record: Record, file: Path) -> None:
    read_exactly([record], file)


def test_real_hard_and_long_records_come_back_exactly(composed: list[Record], file: Path) -> None:
    text = "Ann baked 34 rolls. " * 4_000
    spans = tuple(Span(id=f"s{at}", start=at, end=at + 2, entity_type="name") for at in range(0, len(text), 2_000))
    items = [*shared_records(), *composed, *HARD, Record(id="long", context=text, spans=spans)]
    read_exactly([replace(record, id=f"r{number}") for number, record in enumerate(items)], file)


def test_entities_that_were_changed_in_spacy_count(file: Path) -> None:
    from spacy.tokens import Span as Entity

    def drop_first(doc: Any) -> None:
        doc.ents = doc.ents[1:]

    def add_met(doc: Any) -> None:
        doc.ents = [*doc.ents, Entity(doc, 1, 2, "AGE")]

    SPACY.write([CUT], file, WriteOptions(taxonomy=shipped_taxonomy()))
    assert [(s.start, s.end, s.relevance) for s in rewritten(file, drop_first).spans] == [(12, 15, "low")]
    SPACY.write([CUT], file, WriteOptions(taxonomy=shipped_taxonomy()))
    assert [(s.start, s.end, s.entity_type, s.relevance) for s in rewritten(file, add_met).spans] == [
        (0, 3, "name", "low"),
        (8, 11, "age", None),
        (12, 15, "name", "low"),
    ]


def test_without_our_user_data_the_entities_are_read(file: Path) -> None:
    SPACY.write([CUT], file, WriteOptions(taxonomy=shipped_taxonomy()))

    def forget(doc: Any) -> None:
        doc.user_data["piiloom"] = {"id": 5}

    record = rewritten(file, forget)
    assert (record.locale, record.question) == ("zz_ZZ", None)
    assert [(s.start, s.end, s.relevance) for s in record.spans] == [(0, 7, "low"), (12, 15, "low")]


def test_files_of_others_are_read_through_the_label_map(file: Path) -> None:
    import spacy
    from spacy.tokens import DocBin
    from spacy.tokens import Span as Entity

    doc = spacy.blank("en")("Ann lives in Ohio")
    doc.ents = [Entity(doc, 0, 1, "PERSON"), Entity(doc, 3, 4, "GPE")]
    doc.spans["sc"] = [Entity(doc, 0, 1, "PERSON")]
    DocBin(docs=[doc]).to_disk(file)
    tally = ReadTally()
    (record,) = SPACY.read(file, ReadOptions(label_map={"PERSON": "name", "GPE": "location"}, taxonomy=shipped_taxonomy()), tally)
    assert isinstance(record, Record)
    assert [(s.text_in(record.context), s.entity_type) for s in record.spans] == [("Ann", "name"), ("Ohio", "location")]
    assert dict(tally.ignored_fields) == {"spans[sc]": 1}


@pytest.mark.parametrize("content", [b"", b"PK", zlib.compress(b"\x81"), zlib.compress(b"\xa1a"), zlib.compress(b"\x80")])
def test_what_is_no_docbin_is_an_error(content: bytes, file: Path) -> None:
    file.write_bytes(content)
    with pytest.raises(DataError, match=r"train\.spacy: the file is not a DocBin\. Is it a whole file"):
        list(SPACY.read(file, ReadOptions(taxonomy=shipped_taxonomy()), ReadTally()))
    with pytest.raises(DataError, match="the file cannot be read"):
        list(SPACY.read(file.with_name("none"), ReadOptions(taxonomy=shipped_taxonomy()), ReadTally()))


def test_equal_records_give_equal_bytes_in_any_process(file: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from token_round_trips import HARD; from piiloom.corpus.formats.base import WriteOptions;"
        "from piiloom.taxonomy.entity_types import shipped_taxonomy;"
        "from piiloom.corpus.formats.token_formats import DocBinFormat; DocBinFormat().write(HARD, Path(sys.argv[1]), "
        "WriteOptions(taxonomy=shipped_taxonomy()))"
    )
    SPACY.write(HARD, file, WriteOptions(taxonomy=shipped_taxonomy()))
    here = file.read_bytes()
    path = os.pathsep.join([str(Path(__file__).parents[2]), str(Path(__file__).parent)])
    subprocess.run([sys.executable, "-c", code, file], check=True, env={**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": "1"})
    assert file.read_bytes() == here


def test_spacy_trains_on_it_and_debug_data_finds_nothing_wrong(
    composed: list[Record], file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The way of ``spacy train``: a corpus reader, a configuration, and ``debug data`` over both."""
    import spacy
    from spacy.cli.debug_data import debug_data
    from spacy.training import Corpus

    items = [replace(record, id=f"r{number}") for number, record in enumerate([*composed, *HARD])]
    SPACY.write(items, file, WriteOptions(taxonomy=shipped_taxonomy()))
    nlp = spacy.blank("en")
    nlp.add_pipe("ner")
    nlp.add_pipe("spancat", config={"spans_key": "pii"})
    examples = list(Corpus(file)(nlp))
    assert len(examples) == len(items)
    optimizer = nlp.initialize(lambda: examples)
    losses = nlp.update(examples[:20], sgd=optimizer)
    assert losses["ner"] > 0
    assert losses["spancat"] > 0
    config = file.with_name("config.cfg")
    nlp.config.merge({"paths": {"train": str(file), "dev": str(file)}}).to_disk(config)
    with suppress(SystemExit):
        debug_data(config, silent=False, no_format=True)
    said = capsys.readouterr().out
    for line in ("Corpus is loadable", "0 missing value(s)", "No entities consisting of or starting/ending with whitespace"):
        assert line in said, said
