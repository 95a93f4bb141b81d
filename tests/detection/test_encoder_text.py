"""What the encoder does without PyTorch: tags, spans at word boundaries, calibrated scores, settings."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from piiloom.corpus.record import Span
from piiloom.detection.encoder.text_reading import RelevanceHead, WindowMaker, plain_tokenizer, span_tokens, tag_count, token_tags
from piiloom.detection.token_decoding import decode
from piiloom.detection.training.training_options import EncoderSettings, Windows
from piiloom.foundation.errors import UsageError
from tests.longer import case_by_case

TYPES = ("health", "name")


def logits_of(tags: list[int], types: int = len(TYPES)) -> np.ndarray:
    """Logits of an encoder that is sure of *tags*."""
    return np.eye(tag_count(types), dtype=np.float32)[tags] * 12


def words_of(text: str) -> list[tuple[int, int]]:
    """The places of the words of *text*, which are divided by single blanks."""
    found, at = [], 0
    for word in text.split(" "):
        if word:
            found.append((at, at + len(word)))
        at += len(word) + 1
    return found


@given(st.lists(st.tuples(st.integers(1, 3), st.integers(0, 2), st.sampled_from(TYPES)), max_size=8))
def test_tags_and_spans_are_inverse(plan: list[tuple[int, int, str]]) -> None:
    words, spans = ["so"], list[Span]()
    for length, gap, kind in plan:
        if spans and spans[-1].entity_type == kind and words[-1] != "and":
            words.append("and")  # else they were one span
        start = len(" ".join(words)) + 1
        words += ["word"] * length
        spans.append(Span(id=str(len(spans)), start=start, end=len(" ".join(words)), entity_type=kind))
        words += ["and"] * gap
    text = " ".join(words)
    offsets = words_of(text)
    tags, owners = token_tags(offsets, spans, {name: number for number, name in enumerate(TYPES)})
    assert [owner for owner in dict.fromkeys(owners) if owner >= 0] == list(range(len(spans)))
    found = decode(text, offsets, logits_of(tags))
    assert [(one.start, one.end, TYPES[one.type_number]) for one in found] == [(s.start, s.end, s.entity_type) for s in spans]


@given(st.text(alphabet="ab 1é.-'中文\u0301\n", max_size=30), st.data())
def test_spans_are_exact_whatever_the_tags(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=12)))
    offsets = list(zip(cuts[::2], cuts[1::2], strict=False))
    tags = data.draw(st.lists(st.integers(0, 4), min_size=len(offsets), max_size=len(offsets)))
    found = decode(text, offsets, logits_of(tags))
    last = 0
    for one in found:
        assert last <= one.start < one.end <= len(text)
        assert not text[one.start].isspace()
        assert not text[one.end - 1].isspace()
        assert 0 <= one.confidence <= 1
        last = one.end


def test_pieces_of_a_word_give_the_word() -> None:
    text, offsets = "my hypothyroidism, yes", [(0, 2), (3, 8), (8, 13), (13, 17), (17, 18), (19, 22)]
    for tags in ([0, 1, 2, 0, 0, 0], [0, 0, 1, 0, 0, 0], [0, 1, 0, 1, 0, 0], [0, 1, 2, 2, 0, 0]):
        assert [text[one.start : one.end] for one in decode(text, offsets, logits_of(tags))] == ["hypothyroidism"]


@pytest.mark.parametrize(
    ("tags", "values"),
    [
        ([1, 1, 0, 1], ["16-year-old"]),  # a hyphen alone parts nothing
        ([1, 0, 0, 3], ["16", "old"]),  # two types stay two
    ],
)
def test_what_only_a_hyphen_parts_is_one(tags: list[int], values: list[str]) -> None:
    text = "16-year-old"
    found = decode(text, [(0, 3), (3, 7), (7, 8), (8, 11)], logits_of(tags))
    assert [text[one.start : one.end] for one in found] == values


def test_marks_at_the_ends_are_no_part_of_a_value() -> None:
    text = "So, $30/ day. Portland."
    offsets = [(0, 2), (2, 3), (4, 7), (7, 8), (12, 13), (14, 22)]
    assert [text[one.start : one.end] for one in decode(text, offsets, logits_of([0, 1, 2, 2, 3, 4]))] == ["$30", "Portland"]


@case_by_case(
    ("text", "marked", "value"),
    [
        ("a yield of 0.3% now", "3%", "0.3%"),
        ("I owe $12,466.50.", "$12", "$12,466.50"),
        ("at 15:05, not later", "05", "15:05"),
        ("by 5/14 or 6/2", "14", "5/14"),
        ("write to <anna.k@mail.example.org>.", "mail", "anna.k@mail.example.org"),
        ("see https://example.org/anna?x=1, please", "example", "https://example.org/anna?x=1"),
        ("a master's-level course", "'s-level", "master's-level"),
        ("Taylor's dog", "Taylor", "Taylor"),
        ("the house. He left", "house", "house"),
        ("from 3. Then 4", "3", "3"),
    ],
)
def test_a_part_of_a_number_or_an_address_gives_the_whole(text: str, marked: str, value: str) -> None:
    at = text.index(marked)
    offsets = [(0, at), (at, at + len(marked)), (at + len(marked), len(text))] if at else [(0, len(marked)), (len(marked), len(text))]
    found = decode(text, offsets, logits_of([0, 1, 0] if at else [1, 0]))
    assert [text[one.start : one.end] for one in found] == [value]


def test_parts_of_an_address_with_two_types_are_one_span() -> None:
    text = "mail g26@yahoo.com"
    found = decode(text, [(0, 4), (5, 14), (14, 15), (15, 18)], logits_of([0, 1, 0, 3]))
    assert [text[one.start : one.end] for one in found] == ["g26@yahoo.com"]


def test_a_long_word_takes_no_time() -> None:
    text = "x" * 300_000
    (found,) = decode(text, [(0, len(text))], logits_of([1]))
    assert (found.start, found.end) == (0, len(text))


def test_scripts_without_blanks_are_left_as_they_are() -> None:
    text = "我叫王小明。"
    offsets = [(at, at + 1) for at in range(len(text))]
    assert [text[one.start : one.end] for one in decode(text, offsets, logits_of([0, 0, 3, 4, 4, 0]))] == ["王小明"]


def test_the_type_is_that_of_all_tokens() -> None:
    text = "bad back pain"
    found = decode(text, words_of(text), logits_of([1, 4, 2]))
    assert [(one.start, one.end, TYPES[one.type_number]) for one in found] == [(0, 13, "health")]


# ---- windows


def word_tokenizer() -> Any:
    """A tokenizer of words and the pairs of BERT."""
    from tokenizers import Tokenizer, pre_tokenizers, processors
    from tokenizers.models import WordLevel

    made = Tokenizer(WordLevel({"[UNK]": 0, "[CLS]": 1, "[SEP]": 2}, unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    pair = "[CLS] $A [SEP] $B:1 [SEP]:1"
    made.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", pair=pair, special_tokens=[("[CLS]", 1), ("[SEP]", 2)])
    return made


@given(count=st.integers(0, 200), asked=st.integers(0, 30), size=st.integers(32, 90))
def test_windows_lose_no_token(count: int, asked: int, size: int) -> None:
    windows = Windows(max_tokens=10_000).bounded(size)
    maker = WindowMaker(word_tokenizer(), windows)
    tokens = maker.tokens("w " * count, "q " * asked or None)
    assert len(tokens.offsets) == count == len(tokens.homes)
    for window in tokens.windows:
        assert len(window.ids) == len(window.segments) <= size
        assert window.question[1] - window.question[0] == min(asked, windows.question_tokens)
        assert window.ids[window.at : window.at + window.text[1] - window.text[0]] == [0] * (window.text[1] - window.text[0])
        assert set(window.segments[window.at :]) == {1}
    for at, home in enumerate(tokens.homes):
        begin, end = tokens.windows[home].text
        assert begin <= at < end
        # Between two windows, a token has at least a third of the overlap on either side.
        if home + 1 < len(tokens.windows):
            assert end - at >= windows.overlap // 3
        if home:
            assert at - begin >= windows.overlap // 3


def test_a_text_cannot_pass_for_marks_of_the_encoder() -> None:
    from tokenizers import AddedToken

    tokenizer = word_tokenizer()
    tokenizer.add_special_tokens([AddedToken("[SEP]", special=True)])
    maker = WindowMaker(plain_tokenizer(tokenizer), Windows())
    (window,) = maker.tokens("so [SEP] it", "is").windows
    assert window.ids.count(tokenizer.token_to_id("[SEP]")) == 2


def test_half_a_character_is_a_token_like_any_other() -> None:
    assert WindowMaker(word_tokenizer(), Windows()).tokens("so \ud83d it", "\udc00?").offsets == [(0, 2), (3, 4), (5, 7)]


def test_the_tokens_of_each_span() -> None:
    assert span_tokens([-1, 0, 0, -1, 2, -1], 3) == [(1, 3), None, (4, 5)]


# ---- relevance, settings


def test_the_head_reads_the_question() -> None:
    width = 2
    inner = np.zeros((width, 4 * width), dtype=np.float32)
    inner[0, 4] = 4.0  # the first of the products
    head = RelevanceHead(inner, np.zeros(width, np.float32), np.array([[-3, 0], [3, 0]], np.float32), np.zeros(2, np.float32))
    states = np.array([[0, 0], [1, 0], [1, 0], [-1, 0]], dtype=np.float32)
    assert head.high(states, [(1, 2)], (2, 3))[0] > 0.9
    assert head.high(states, [(1, 2)], (3, 4))[0] < 0.1
    both = head.high(states, [(1, 2), (3, 4)], (2, 3))
    assert both[0] > 0.9
    assert both[1] < 0.1


@case_by_case(("count", "epochs", "patience"), [(1, 24, 8), (250, 24, 8), (500, 15, 5), (1000, 8, 2), (2000, 4, 2), (100_000, 4, 2)])
def test_few_records_are_read_more_often(count: int, epochs: int, patience: int) -> None:
    made = EncoderSettings().for_examples(count)
    assert (made.epochs, made.patience) == (epochs, patience)
    assert EncoderSettings(epochs=3, patience=0).for_examples(count) == EncoderSettings(epochs=3, patience=0)


def test_settings_are_checked() -> None:
    for wrong in ({"epochs": 0}, {"precision": "int8"}, {"device": "tpu"}, {"learning_rate": 3.0}, {"max_tokens": 8}):
        with pytest.raises(UsageError, match=f"--{next(iter(wrong)).replace('_', '-')}"):
            EncoderSettings(**wrong)  # type: ignore[arg-type]
