"""Cost of predictions: tokens times prices, from usage files and as estimates; what is unknown is never free."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from piiloom.evaluation.cost import COLUMNS, PriceList, estimated_costs, tokens_of, usage_costs
from piiloom.evaluation.inputs.documents import AnnotatedDocument, AnnotatedMention, Pair
from piiloom.foundation.errors import DataError, UsageError
from piiloom.providers.prices import MODELS_VARIABLE, ModelBook, ModelSpec, shipped_models
from tests.longer import case_by_case, few

BOOK = ModelBook.model_validate(
    {
        "dated": "2026-01-31",
        "models": {
            "openai": {"small": {"input": 1.0, "cached": 0.1, "output": 4.0}, "twin": {"input": 1.0, "output": 1.0}, "bare": {}},
            "anthropic": {"large": {"input": 10.0, "output": 40.0}, "twin": {"input": 2.0, "output": 1.0}},
        },
    }
)
PRICES = PriceList(book=BOOK)


def document(name, text="I have asthma.", *values):
    return AnnotatedDocument(
        where="f:1", id=name, text=text, mentions=tuple(AnnotatedMention(text=value, entity_type="health") for value in values)
    )


def usage_file(folder, *rows):
    path = folder / "usage.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def cost_of(source, documents, *, prices=None):
    """The cost of the predictions *documents*: by a usage file, or estimated for the model of that name."""
    costs = estimated_costs(source, prices) if isinstance(source, str) else usage_costs(source, prices)
    for one in documents:
        costs.add(Pair(gold=one, found=one))
    return costs.figures()


def row(name, given=1000, output=100, model="small", **more):
    return {"document": name, "input_tokens": given, "output_tokens": output, "model": model, **more}


def test_tokens_times_prices_by_hand(tmp_path):
    # d1: (1000 - 400) × 1 + 400 × 0.1 + 100 × 4 = 1,040; again 1000 × 1 + 100 × 4 = 1,400; d2: 1000 × 10 + 100 × 40 = 14,000 (10⁻⁶ USD).
    path = usage_file(tmp_path, row("d1", cached_tokens=400), row("d1"), row("d2", model="large"))
    figures = cost_of(path, [document("d1"), document("d2")], prices=PRICES)
    assert figures.cost_usd == pytest.approx(0.01644)
    assert figures.cost_per_document == pytest.approx(0.00822)
    assert figures.total_tokens == 3300
    assert figures.cost_per_million_tokens == pytest.approx(0.01644 / 3300 * 1e6)
    assert (figures.calls, figures.cached_tokens, figures.estimated, figures.models) == (3, 400, False, ("large", "small"))
    assert figures.prices_dated == "2026-01-31"
    assert figures.cells() == ("4.98", "0.00822", "0.0164", "3,300")
    assert len(COLUMNS) == len(figures.cells())
    told = json.loads(json.dumps(figures.to_json()))
    assert told["cost_per_document"] == figures.cost_per_document
    assert told["models"] == ["large", "small"]


def test_only_evaluated_documents_count_and_those_without_usage_are_in_no_mean(tmp_path):
    path = usage_file(tmp_path, row("d1"), row("elsewhere", 10**9))
    figures = cost_of(path, [document("d1"), document("d2"), document(None)], prices=PRICES)
    assert (figures.documents, figures.without_usage, figures.not_evaluated, figures.input_tokens) == (3, 2, 1, 1000)
    assert figures.cost_per_document == figures.cost_usd == pytest.approx(0.0014)


def test_csv_says_the_same_as_jsonl(tmp_path):
    table = tmp_path / "usage.csv"
    table.write_text('\ufeffdocument,input_tokens,output_tokens,cached,model,note\nd1,1000,100,400,small,"a, b"\n7,5,0,,large,\n')
    lines = usage_file(tmp_path, row("d1", cached=400), row(7, 5, 0, "large"))
    documents = [document("d1"), document("7")]
    assert cost_of(table, documents, prices=PRICES) == cost_of(lines, documents, prices=PRICES)


def test_a_price_that_is_unknown_makes_the_cost_unknown_and_not_free(tmp_path):
    path = usage_file(tmp_path, row("d1"), row("d2", model="nobody-knows"), row("d2", model="bare"))
    figures = cost_of(path, [document("d1"), document("d2")], prices=PRICES)
    assert (figures.cost_usd, figures.cost_per_document, figures.cost_per_million_tokens) == (None, None, None)
    assert figures.unpriced_models == ("bare", "nobody-knows")
    assert figures.total_tokens == 3300
    assert figures.cells()[:3] == ("unknown",) * 3


def test_a_name_of_two_providers_needs_the_provider(tmp_path):
    with pytest.raises(UsageError, match="several providers have a model 'twin'"):
        usage_costs(usage_file(tmp_path, row("d1", model="twin")), PRICES)
    figures = cost_of(usage_file(tmp_path, row("d1", model="twin", provider="anthropic")), [document("d1")], prices=PRICES)
    assert figures.cost_usd == pytest.approx(0.0021)


def test_the_shipped_prices_know_snapshots_and_give_their_date(tmp_path, monkeypatch):
    monkeypatch.delenv(MODELS_VARIABLE, raising=False)
    figures = cost_of(usage_file(tmp_path, row("d1", model="gpt-6-luna-2026-09-22")), [document("d1")])
    assert figures.cost_usd == pytest.approx(1000 * 0.10e-6 + 100 * 0.50e-6)
    assert figures.prices_dated == shipped_models().dated.isoformat()


@case_by_case(
    ("line", "told"),
    [
        ({"input_tokens": 1, "output_tokens": 1, "model": "small"}, "document: not an id"),
        (row("d1", -1), "input_tokens: not a number of tokens"),
        (row("d1", True), "input_tokens: not a number of tokens"),
        (row("d1", 1.5), "input_tokens: not a number of tokens"),
        (row("d1", 1, None), "output_tokens: not a number of tokens"),
        (row("d1", 1, 1, " "), "model: not a name"),
        (row("d1", 1, cached_tokens=2), "cached_tokens: more than input_tokens"),
        (row("d1", provider=3), "provider: not a name"),
        ([1], "not a JSON object"),
    ],
)
def test_what_is_no_usage_is_named_with_its_line(tmp_path, line, told):
    path = usage_file(tmp_path, row("d0"), line)
    with pytest.raises(DataError, match=rf"usage\.jsonl:2: {told}"):
        usage_costs(path, PRICES)


def test_bad_tables_and_empty_files_are_named(tmp_path):
    table = tmp_path / "usage.csv"
    table.write_text("document,model,input_tokens,output_tokens\nd1,small,1\n")
    with pytest.raises(DataError, match=r"usage\.csv:2: the row has 3 cells, the header 4"):
        usage_costs(table, PRICES)
    table.write_text('document,model\n"d1')
    with pytest.raises(DataError, match=r"usage\.csv:2: not a row of a CSV table"):
        usage_costs(table, PRICES)
    for name in ("empty.csv", "empty.jsonl"):
        (tmp_path / name).write_text("")
        with pytest.raises(DataError, match="the usage file has no rows"):
            usage_costs(tmp_path / name, PRICES)
    with pytest.raises(DataError, match="cannot be read"):
        usage_costs(tmp_path / "absent.jsonl", PRICES)


def test_an_estimate_says_that_it_is_one():
    # 14 bytes of text are 4 tokens; the reply '[{"text": "asthma", "type": "health"}]' has 38 bytes, 10 tokens.
    figures = cost_of("small", [document("d1", "I have asthma.", "asthma")], prices=PRICES)
    assert (figures.input_tokens, figures.output_tokens, figures.estimated) == (4, 10, True)
    assert figures.cost_usd == pytest.approx(44e-6)
    assert figures.basis.startswith("estimated: one call a document, 4 bytes a token; input: the text without any prompt")
    assert all(cell.startswith("~") for cell in figures.cells())


def test_an_estimate_takes_the_text_from_either_side():
    costs = estimated_costs("small", PRICES)
    bare = AnnotatedDocument(where="f:1", id="d1")
    costs.add(Pair(gold=bare, found=document("d1")))
    costs.add(Pair(gold=bare, found=bare))
    figures = costs.figures()
    assert (figures.documents, figures.without_usage, figures.input_tokens) == (2, 1, 4)


def test_an_estimate_needs_a_price():
    with pytest.raises(UsageError, match="the price of the model 'bare' is unknown"):
        cost_of("bare", [], prices=PRICES)


def test_nothing_evaluated_has_no_mean():
    figures = cost_of("small", [], prices=PRICES)
    assert (figures.cost_usd, figures.cost_per_document, figures.cost_per_million_tokens) == (0.0, None, None)


@few
@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 10**6), st.integers(0, 10**6)), max_size=8))
def test_the_sum_is_that_of_the_rows_in_any_order(tmp_path_factory, calls):
    folder = tmp_path_factory.mktemp("usage")
    rows = [row(name, given_tokens, output) for name, given_tokens, output in [*calls, ("a", 0, 0)]]
    documents = [document(name) for name in "abc"]
    there = cost_of(usage_file(folder, *rows), documents, prices=PRICES)
    back = cost_of(usage_file(folder, *rows[::-1]), documents[::-1], prices=PRICES)
    assert there.cost_usd == pytest.approx(sum(one["input_tokens"] + 4 * one["output_tokens"] for one in rows) / 1e6)
    assert there.cost_usd == pytest.approx(back.cost_usd)
    assert (there.input_tokens, there.without_usage) == (back.input_tokens, back.without_usage)


@case_by_case(("text", "tokens"), [("", 0), ("abc", 1), ("abcd", 1), ("abcde", 2), ("你好", 2)])
def test_tokens_are_estimated_from_bytes_and_rounded_up(text, tokens):
    assert tokens_of(text) == tokens


def test_prices_of_a_model_without_one_are_none():
    assert PRICES.find("bare") is None
    assert PRICES.find("small") == BOOK.find("openai", "small")
    assert isinstance(PRICES.find("large", "anthropic"), ModelSpec)
    assert PRICES.find("large", "nobody") is None
