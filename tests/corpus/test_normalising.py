"""Folding: one spelling for texts that look alike, and the exact way back."""

import unicodedata

from hypothesis import given, settings
from hypothesis import strategies as st

from piiloom.corpus.normalising import extends, fold, plain, trim
from tests.longer import case_by_case

ODD = [
    "\u0301",
    "\u200d",
    "\u00a0",
    "\r\n",
    "ﬁ",
    "İ",
    "ß",
    "ẞ",
    "½",
    "é",
    "👩‍👧",
    "🇲🇦",
    "’",
    "—",
    "\u2028",
    "ﬃ",
    "가",
    "각",
    "\ufe0f",
    "ﾞ",
    "ΐ",
    " ",
]
texts = st.lists(st.one_of(st.sampled_from(ODD), st.text(max_size=3)), max_size=12).map("".join)


@case_by_case(
    ("one", "other"),
    [
        ("Asthma", "ASTHMA"),
        ("café", "cafe\u0301"),
        ("straße", "STRASSE"),
        ("İzmir", "i\u0307zmir"),
        ("ﬁbromyalgia", "fibromyalgia"),
        ("hip\u00a0\n replacement", "hip replacement"),
        ("ex\u2011husband", "ex-husband"),
        ("5\u20327\u2033", "5'7\""),
        ("as\u200bth\u00adma", "asthma"),
        ("a \u200b b", "a b"),
        ("\uff21\uff22", "ab"),
        ("가", "\u1100\u1161"),
        ("❤\ufe0f", "❤"),
    ],
)
def test_texts_that_look_alike_fold_alike(one, other):
    assert fold(one).text == fold(other).text


@settings(deadline=None)
@given(texts)
def test_every_folded_character_comes_from_one_cluster(text):
    folded = fold(text)
    assert len(folded.starts) == len(folded.ends) == len(folded.text)
    assert all(0 <= a < b <= len(text) for a, b in zip(folded.starts, folded.ends, strict=True))
    assert list(folded.starts) == sorted(folded.starts)
    # neighbours share a cluster or do not touch at all
    for (a, b), (c, d) in zip(
        zip(folded.starts, folded.ends, strict=True), list(zip(folded.starts, folded.ends, strict=True))[1:], strict=False
    ):
        assert (a, b) == (c, d) or b <= c


@settings(deadline=None)
@given(texts, st.data())
def test_an_original_range_folds_to_what_was_found(text, data):
    folded = fold(text)
    if not folded.text:
        return
    start = data.draw(st.integers(0, len(folded.text) - 1))
    end = data.draw(st.integers(start + 1, len(folded.text)))
    found = folded.original_range(start, end)
    if found is not None:
        assert fold(text[found[0] : found[1]]).text == folded.text[start:end]
        assert found[1] == len(text) or not extends(text[found[1]]) or text[found[0] : found[1]].isspace()


@settings(deadline=None)
@given(texts)
def test_folding_agrees_with_the_unicode_forms(text):
    for form in ("NFC", "NFD"):
        assert fold(unicodedata.normalize(form, text)).text == fold(text).text


def test_plain_keeps_case_digits_and_compatibility_forms():
    assert plain(" BK\u201140917C ") == "BK-40917C"
    assert plain("5²") == "5²"
    assert plain("Ann\u2019s") == "Ann's"


@settings(deadline=None)
@given(texts)
def test_trimmed_ranges_have_no_space_at_their_ends(text):
    start, end = trim(text, 0, len(text))
    inner = text[start:end]
    assert inner == inner.strip()
    assert text[:start].strip() == "" or all(unicodedata.category(c) == "Cf" or c.isspace() for c in text[:start])
