"""The probe is the shared tool's: the same features, the same figures to the last digit that the tool prints."""

from __future__ import annotations

import random
import subprocess
import sys
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from piiloom.evaluation.probe.data import ProbeRecord, read_corpus
from piiloom.evaluation.probe.run import run_probe
from piiloom.evaluation.probe.scores import TestedRecord, count_table
from piiloom.tagging.model import FoundSpan, GoldSpan, bio_labels, labelled_spans, relevance_features, shape, token_features, tokenise
from tests.evaluation.probe_corpora import ODD_ROWS, capid_row, native_row, write_rows
from tests.longer import few
from tests.shared_files import shared

TOOL = shared("tools/probe_detector.py")
CAPID = shared("data/capid/validated_sample.jsonl")

WORDS = "I my Did the nurse's well-known XXXII 40 40.5 $1,200 été ΣΑΣ ß İ _a_ a's. q? … did matter as 東京 naïve".split()
TEXTS = st.lists(st.sampled_from(WORDS) | st.text(max_size=4), max_size=12).map(" ".join)
TYPES = ("age", "name", "sexual orientation")
RELEVANCES = {"high": 1, "low": 0, None: None}


@pytest.fixture(scope="module")
def tool():
    """What the tool defines. It begins to work when it is imported, so its last line is left out."""
    source, last, _ = TOOL.read_text(encoding="utf-8").rpartition("\nmain()")
    assert last
    names = {}
    exec(compile(source, TOOL.name, "exec"), names)  # noqa: S102 - a tool of the project
    return names


@st.composite
def records(draw):
    context = draw(TEXTS)
    cuts = sorted(draw(st.sets(st.integers(0, len(context)), max_size=8)))
    spans = [
        GoldSpan(start=start, end=end, entity_type=draw(st.sampled_from(TYPES)), relevance=draw(st.sampled_from(list(RELEVANCES))))
        for start, end in pairwise(cuts)
        if draw(st.booleans())
    ]
    return ProbeRecord(line=1, context=context, question=draw(TEXTS), spans=tuple(spans))


def theirs(spans):
    return [(span.start, span.end, span.entity_type, RELEVANCES[span.relevance]) for span in spans]


@few
@given(record=records())
def test_tokens_labels_and_features_are_the_same_in_the_same_order(tool, record):
    tokens = tokenise(record.context)
    their_tokens, their_labels = tool["bio"](record.context, theirs(record.spans))
    assert [tuple(token) for token in tokens] == their_tokens
    assert bio_labels(tokens, record.spans) == their_labels
    assert [list(row.items()) for row in token_features(tokens)] == [
        list(tool["feats"](their_tokens, position).items()) for position in range(len(their_tokens))
    ]


@pytest.mark.long
@few
@given(record=records())
def test_relevance_features_are_the_same(tool, record):
    for span in record.spans:
        ours = relevance_features(record.context, record.question, span)
        assert ours == tool["relfeats"](record.context, record.question, span.start, span.end, span.entity_type)


@few
@given(word=st.text(max_size=12) | st.text(alphabet="aAbB19-é", max_size=12))
def test_shapes_are_the_same(tool, word):
    assert shape(word) == tool["shape"](word)


@few
@given(context=TEXTS, labels=st.lists(st.sampled_from(["O", "B-age", "I-age", "I-name", "B-name"]), min_size=60, max_size=60))
def test_labels_are_decoded_the_same(tool, context, labels):
    tokens = tokenise(context)[:60]
    labels = labels[: len(tokens)]
    assert [tuple(span) for span in labelled_spans(tokens, labels)] == tool["decode"](tokens, labels)


@few
@given(pairs=st.lists(st.tuples(records(), records()), max_size=4))
def test_scores_are_the_same(tool, pairs):
    found = [[FoundSpan(span.start, span.end, span.entity_type) for span in other.spans] for _, other in pairs]
    tested = [TestedRecord(record=record, found=tuple(spans)) for (record, _), spans in zip(pairs, found, strict=True)]
    ours = count_table(tested).overall()
    expected = tool["score"]([theirs(record.spans) for record, _ in pairs], [[tuple(span) for span in spans] for spans in found])
    assert (ours["span_f1_exact"], ours["span_f1_overlap"], ours["type_acc"]) == expected


@st.composite
def capid_rows(draw):
    context = draw(TEXTS.filter(bool))
    places = draw(st.lists(st.tuples(st.integers(0, len(context) - 1), st.integers(1, 8)), max_size=6))
    values = [context[start : start + length] for start, length in places] + draw(st.lists(st.sampled_from(WORDS), max_size=2))
    relevances = st.sampled_from(["1", "0", 1, 0, "high", "low", True, False, 1.0, None, "medium"])
    piis = {value: {"type": draw(st.sampled_from(TYPES)), "relevance": draw(relevances)} for value in values}
    return {"context": context, "question": draw(st.none() | TEXTS), "piis": piis}


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")  # by the tool
@few
@given(rows=st.lists(capid_rows(), min_size=1, max_size=4))
def test_any_capid_rows_are_read_the_same(tool, tmp_path_factory, rows):
    path = write_rows(tmp_path_factory.getbasetemp() / "any.jsonl", rows)
    ours = [(record.context, record.question, theirs(record.spans)) for record in read_corpus(path).records]
    assert ours == list(tool["read"](str(path)))


@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")  # by the tool
def test_rows_are_read_the_same(tool, tmp_path):
    path = write_rows(tmp_path / "rows.jsonl", [*ODD_ROWS, *(make(seed) for seed in range(20) for make in (native_row, capid_row))])
    for file in (path, CAPID):
        ours = [(record.context, record.question, theirs(record.spans)) for record in read_corpus(file).records]
        assert ours == list(tool["read"](str(file)))


def figures_line(test):
    values = " ".join(f"{name} {value:.4f}" for name, value in asdict(test.figures).items())
    return f"{Path(test.corpus.file).name}: {values}"


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A training file that the models find hard, in both layouts, with odd rows; and test files."""
    folder = tmp_path_factory.mktemp("agree")
    rng = random.Random(3)
    rows = [rng.choice((native_row, capid_row))(seed) for seed in range(24)]
    train = write_rows(folder / "train.jsonl", [*rows, *ODD_ROWS])
    tests = [
        write_rows(folder / "native.jsonl", [native_row(seed) for seed in range(200, 230)]),
        write_rows(folder / "capid.jsonl", [capid_row(seed) for seed in range(300, 330)]),
        write_rows(folder / "odd.jsonl", ODD_ROWS),
        write_rows(folder / "unjudged.jsonl", [{"context": "I am 40.", "spans": [{"start": 5, "end": 7, "type": "age"}]}]),
    ]
    return train, [*tests, *(path for path in (CAPID,) if path.exists())]


@pytest.mark.long
def test_figures_are_the_same(files):
    train, tests = files
    done = subprocess.run([sys.executable, TOOL, train, *tests], capture_output=True, text=True, timeout=120, check=True)
    result = run_probe(read_corpus(train), [read_corpus(path) for path in tests])
    (training,) = result.trainings
    trained = f"train {train.name}: {training.records} samples, {training.spans} spans, {training.high / training.spans:.3f} high"
    assert [trained, *(figures_line(test) for test in training.tests)] == done.stdout.splitlines()
    assert len({figures_line(test).partition(":")[2] for test in training.tests}) == len(tests)
