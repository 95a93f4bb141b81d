"""Tokenizers: what they split, that they cover a text whatever it is, and errors that say what to do."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from record_strategies import texts

from piiloom.corpus.formats.token_labels import Tokenizer, tidied, tokenizer_named
from piiloom.foundation.errors import UsageError
from piiloom.foundation.words import Range
from tests.longer import case_by_case

TRAINED_ON = ["I'm Ann, 34, a baker in Zürich.", "Mein Bruder wohnt in Köln, 12 km von hier.", "e\u0301tude, naïve café 👩‍🚀 שלום"]
PROBLEM = "Zoë’s  café:\tcafe\u0301 N\u00ad7 👩‍🚀🇨🇭 שָׁלוֹם\r\n\x00\ufffd ﬁne Ⅳ \u200b東京に 𝔘 end\u0301 "


def words(tokenizer: Tokenizer, text: str, locale: str = "en_US") -> list[str]:
    return [text[start:end] for start, end in tokenizer(text, locale)]


def assert_tiles(text: str, tokens: list[Range]) -> None:
    """What ``Tokenizer`` promises."""
    assert all(a_end <= b_start for (_, a_end), (b_start, _) in pairwise(tokens))
    assert all(text[start:end] and not any(map(str.isspace, text[start:end])) for start, end in tokens)
    assert "".join(text[start:end] for start, end in tokens) == "".join(text.split())


def wordpiece(path: Path) -> Path:
    from tokenizers import Tokenizer as Trained
    from tokenizers import models, normalizers, pre_tokenizers, processors, trainers

    made = Trained(models.WordPiece(unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer(lowercase=True, strip_accents=True)  # type: ignore[assignment]
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()  # type: ignore[assignment]
    made.train_from_iterator(TRAINED_ON, trainers.WordPieceTrainer(vocab_size=120, special_tokens=["[UNK]", "[CLS]"], show_progress=False))
    made.post_processor = processors.TemplateProcessing(single="[CLS] $A", special_tokens=[("[CLS]", 1)])  # type: ignore[assignment]
    made.enable_truncation(4)
    made.enable_padding(length=64)
    made.save(str(path))
    return path


def byte_level(path: Path) -> Path:
    from tokenizers import Tokenizer as Trained
    from tokenizers import decoders, models, pre_tokenizers, trainers

    made = Trained(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)  # type: ignore[assignment]
    made.decoder = decoders.ByteLevel()  # type: ignore[assignment]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    made.train_from_iterator(TRAINED_ON, trainers.BpeTrainer(vocab_size=300, initial_alphabet=alphabet, show_progress=False))
    made.save(str(path))
    return path


def metaspace(path: Path) -> Path:
    from tokenizers import Tokenizer as Trained
    from tokenizers import models, normalizers, pre_tokenizers, trainers

    made = Trained(models.BPE(unk_token="<unk>"))
    made.normalizer = normalizers.NFKC()  # type: ignore[assignment]
    made.pre_tokenizer = pre_tokenizers.Metaspace()  # type: ignore[assignment]
    made.train_from_iterator(TRAINED_ON, trainers.BpeTrainer(vocab_size=150, special_tokens=["<unk>"], show_progress=False))
    made.save(str(path))
    return path


MAKERS = [wordpiece, byte_level, metaspace]


@case_by_case(
    ("text", "expected"),
    [
        ("I'm a 34-year-old co_op (a@b.ch).", ["I", "'", "m", "a", "34-year-old", "co_op", "(", "a", "@", "b", ".", "ch", ")", "."]),
        ("e\u0301tude cafe\u0301!", ["e\u0301tude", "cafe\u0301", "!"]),
        ("👩‍🚀👍🏽 🇨🇭🇩🇪 1️⃣ ❤️‍🔥x", ["👩‍🚀", "👍🏽", "🇨🇭", "🇩🇪", "1️⃣", "❤️‍🔥", "x"]),
        ("שָׁלוֹם, می‌شود कर्म ไม่มี", ["שָׁלוֹם", ",", "می‌شود", "कर्म", "ไม่มี"]),
        ("a\x1cb\x85c\u2028d\u3000e\xa0f\u200bg", ["a", "b", "c", "d", "e", "f", "\u200b", "g"]),
        ("-- # ¡\u0301 \u0301", ["-", "-", "#", "¡\u0301", "\u0301"]),
        (" \n", []),
    ],
)  # fmt: skip
def test_white_space_tokens_are_words_and_single_signs(text: str, expected: list[str]) -> None:
    assert words(tokenizer_named("whitespace"), text) == expected


@given(text=st.one_of(texts, st.text()))
def test_white_space_tokens_cover_any_text(text: str) -> None:
    assert_tiles(text, tokenizer_named("whitespace")(text, "en"))


@given(text=st.one_of(texts, st.text(max_size=12)), data=st.data())
def test_any_ranges_are_tidied(text: str, data: st.DataObject) -> None:
    place = st.integers(0, len(text))
    ranges = data.draw(st.lists(st.tuples(place, place), max_size=6))
    assert_tiles(text, tidied(text, ranges))


@pytest.mark.parametrize(
    ("text", "ranges", "expected"),
    [
        ("a bc", [(0, 4)], ["a", "bc"]),
        ("👍x", [(0, 1), (0, 1), (0, 2)], ["👍", "x"]),
        (" cafe\u0301\u0301! \x00", [(0, 5), (7, 8)], ["cafe\u0301\u0301", "!", "\x00"]),
        ("n\u00adx", [(0, 1)], ["n\u00ad", "x"]),
        ("ab", [], ["ab"]),
    ],
)
def test_shared_dropped_and_blank_characters(text: str, ranges: list[Range], expected: list[str]) -> None:
    assert [text[start:end] for start, end in tidied(text, ranges)] == expected


@pytest.mark.parametrize("make", MAKERS)
def test_tokenizer_files_cover_what_their_normalizers_drop(make: Callable[[Path], Path], tmp_path: Path) -> None:
    tokenizer = tokenizer_named(str(make(tmp_path / "tokenizer.json")))
    for text in [*TRAINED_ON, PROBLEM, "word " * 300, ""]:
        assert_tiles(text, tokenizer(text, "en"))
    assert len(tokenizer("baker " * 300, "en")) >= 300  # what truncates in the file does not truncate here


@pytest.mark.parametrize("make", MAKERS)
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=texts)
def test_tokenizer_files_cover_any_text(make: Callable[[Path], Path], text: str, tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    tokenizer = tokenizer_named(str(path if path.exists() else make(path)))
    assert_tiles(text, tokenizer(text, "en"))


def test_tokens_of_a_file_are_its_pieces_in_code_points(tmp_path: Path) -> None:
    text = "👩‍🚀 Ann bakes cafés, Ann."
    for make in MAKERS:
        tokens = tokenizer_named(str(make(tmp_path / "tokenizer.json")))(text, "en")
        for begin in (text.index("Ann"), text.rindex("Ann")):
            assert begin in {start for start, _ in tokens}, make.__name__
            assert begin + 3 in {end for _, end in tokens}, make.__name__
        assert "[CLS]" not in [text[start:end] for start, end in tokens]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "no such tokenizer, nor a file of this name. Tokenizers: whitespace, spacy, spacy:MODEL, or the path of a tokenizer.json"),
        ("", "not a Hugging Face tokenizer file. A tokenizer.json as Tokenizer.save writes it is needed"),
        (json.dumps({"version": "1.0", "model": {"type": "Magic"}}), "not a Hugging Face tokenizer file"),
    ],
)  # fmt: skip
def test_a_missing_or_wrong_file_is_named(content: str | None, said: str, tmp_path: Path) -> None:
    path = tmp_path / "tok.json"
    if content is not None:
        path.write_text(content)
    with pytest.raises(UsageError, match=r"tok\.json: ") as caught:
        tokenizer_named(str(path))
    assert said in str(caught.value)


@pytest.mark.parametrize(("library", "name"), [("spacy", "spacy"), ("tokenizers", "FILE")])
def test_a_missing_extra_says_how_to_install_it(library: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = wordpiece(tmp_path / "tokenizer.json")
    monkeypatch.setitem(__import__("sys").modules, library, None)
    with pytest.raises(UsageError, match=rf"not installed\. Install it: pip install -e '\.\[{library}\]'"):
        tokenizer_named(str(path) if name == "FILE" else name)


@pytest.mark.long
@pytest.mark.parametrize("locale", ["en_US", "de_DE", "no_NO", "zh_CN", "ja_JP", "he_IL", "zz", "", "../en", "EN-gb"])
def test_spacy_tokens_cover_texts_of_any_locale(locale: str) -> None:
    tokenizer = tokenizer_named("spacy")
    for text in [*TRAINED_ON, PROBLEM]:
        assert_tiles(text, tokenizer(text, locale))


@pytest.mark.long
def test_spacy_tokens_follow_the_language_or_the_named_pipeline(tmp_path: Path) -> None:
    import spacy

    assert words(tokenizer_named("spacy"), "don't  z.B.", "en_US") == ["do", "n't", "z.", "B."]
    assert words(tokenizer_named("spacy"), "don't  z.B.", "de_DE") == ["don't", "z.B."]
    spacy.blank("de").to_disk(tmp_path / "mine")
    assert words(tokenizer_named(f"spacy:{tmp_path / 'mine'}"), "z.B.", "en_US") == ["z.B."]
    with pytest.raises(UsageError, match=r"no_such_model: spaCy cannot load this pipeline\. Name an installed"):
        tokenizer_named("spacy:no_such_model")


@pytest.mark.long
def test_spacy_tokens_cover_any_text() -> None:
    tokenizer = tokenizer_named("spacy")

    @settings(deadline=None)
    @given(text=texts)
    def covers(text: str) -> None:
        assert_tiles(text, tokenizer(text, "en"))

    covers()
