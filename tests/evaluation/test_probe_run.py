"""The probe as a function: it learns, it repeats itself, and it says what it cannot train on."""

from __future__ import annotations

from dataclasses import replace

import pytest

from piiloom.evaluation.probe import run
from piiloom.evaluation.probe.data import ProbeCorpus, read_corpus
from piiloom.evaluation.probe.files import ProbeSettings, probe_files
from piiloom.evaluation.probe.run import run_probe
from piiloom.foundation.errors import DataError, UsageError
from piiloom.tagging.model import OUTSIDE, bio_labels, labelled_spans, shape, tokenise
from piiloom.tagging.training import MAX_ITERATIONS
from tests.evaluation.probe_corpora import capid_row, native_row, write_rows
from tests.longer import case_by_case


@pytest.fixture(scope="module")
def corpora(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpora")
    train = write_rows(folder / "train.jsonl", [native_row(seed) for seed in range(40)])
    test = write_rows(folder / "test.jsonl", [capid_row(seed) for seed in range(100, 120)])
    return read_corpus(train), read_corpus(test)


@pytest.fixture(scope="module")
def result(corpora):
    train, test = corpora
    return run_probe(train, [test, train], sizes=[40, 4, 40])


def test_a_curve_has_a_training_a_size_and_grows(corpora, result):
    small, large = result.trainings
    assert (small.records, large.records) == (4, 40)
    assert small.spans == 12
    assert large.spans == 120
    assert [test.corpus for test in large.tests] == [corpora[1], corpora[0]]
    assert small.tests[0].figures.span_f1_exact < large.tests[0].figures.span_f1_exact
    assert large.tests[0].figures.span_f1_overlap > 0.9
    assert large.tests[0].figures.rel_balanced > 0.9


def test_a_size_does_not_depend_on_the_others(corpora, result):
    train, test = corpora
    alone = run_probe(train, [test], sizes=[4])
    assert alone.trainings[0].tests[0] == result.trainings[0].tests[0]


def test_the_seed_chooses_the_records(corpora, result):
    train, test = corpora
    other = run_probe(train, [test], sizes=[4], seed=8)
    assert other.trainings[0].tests[0].comparisons != result.trainings[0].tests[0].comparisons


@pytest.mark.parametrize("fault", [OSError(28, "No space left on device"), FileNotFoundError(2, "No usable temporary directory")])
def test_a_fault_of_the_training_is_not_told_of_the_errors_file(tmp_path, monkeypatch, fault):
    def broken(*_args, **_more):
        raise fault

    monkeypatch.setattr(run, "run_probe", broken)
    rows = write_rows(tmp_path / "rows.jsonl", [native_row(seed) for seed in range(2)])
    with pytest.raises(type(fault)) as caught:
        probe_files(rows, [rows], ProbeSettings(errors=tmp_path / "errors.jsonl"))
    assert caught.value is fault
    assert [path.name for path in tmp_path.iterdir()] == ["rows.jsonl"]


def test_every_step_is_shown(corpora):
    train, test = corpora
    steps = []
    run_probe(train, [test], sizes=[20], watch=steps.append)
    iterations = [step.iterations for step in steps if step.test is None]
    assert iterations == list(range(len(iterations)))
    assert 2 < len(iterations) <= MAX_ITERATIONS + 1
    assert [step.test for step in steps if step.test] == [test.file]
    assert {step.records for step in steps} == {20}


@case_by_case("sizes", [[41], [0], [-1, 4], []])
def test_sizes_that_cannot_be(corpora, sizes):
    with pytest.raises(UsageError, match=r"train"):
        run_probe(corpora[0], [corpora[1]], sizes=sizes)


def test_a_probe_needs_a_test(corpora):
    with pytest.raises(UsageError, match="test"):
        run_probe(corpora[0], [])


def test_spans_of_one_relevance_teach_nothing(corpora):
    train, test = corpora
    alike = tuple(r for r in train.records if r.question == "Is this normal?")
    assert alike
    with pytest.raises(DataError, match="both relevances"):
        run_probe(ProbeCorpus(file="low.jsonl", records=alike, left_out={}), [test])


def test_a_test_without_relevance_has_figures_of_spans(corpora):
    train, _ = corpora
    records = tuple(replace(r, spans=tuple(replace(span, relevance=None) for span in r.spans)) for r in train.records[:5])
    plain = ProbeCorpus(file="plain.jsonl", records=records, left_out={})
    (tested,) = run_probe(train, [plain]).trainings[0].tests
    assert (tested.high, tested.low) == (0, 0)
    assert tested.figures.span_f1_overlap > 0.9
    assert tested.figures.rel_acc == tested.figures.rel_balanced == 0


def test_labels_and_spans_are_each_other_s_inverse(corpora):
    for record in corpora[0].records:
        tokens = tokenise(record.context)
        labels = bio_labels(tokens, record.spans)
        expected = [(span.start, span.end, span.entity_type) for span in record.spans if not record.context[span.end].isalnum()]
        found = [tuple(span) for span in labelled_spans(tokens, labels)]
        assert set(expected) <= set(found)
        assert len(found) == len(record.spans)
        assert labels.count(OUTSIDE) > 3


def test_a_label_that_only_goes_on_begins_a_span():
    tokens = tokenise("a b c d e")
    assert [tuple(span) for span in labelled_spans(tokens, ["I-x", "I-x", "I-y", "O", "I-y"])] == [(0, 3, "x"), (4, 5, "y"), (8, 9, "y")]


@case_by_case(("word", "expected"), [("McDonald", "XxXxx"), ("2026-11", "99-99"), ("été", "éxé"), ("!!!!", "!!")])
def test_shapes(word, expected):
    assert shape(word) == expected
