"""Words of people where Streamlit reads Markdown: nothing is lost, and nothing that means something is left bare."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from piiloom.annotation_app.screens.showing import escape_markdown
from tests.longer import case_by_case


def read(text: str) -> str:
    """What Markdown makes of escaped signs, for somebody who sees no word joiner."""
    return re.sub(r"\\(.)", r"\1", text, flags=re.DOTALL).replace("\u2060", "")


@pytest.mark.long
@given(st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\u2060")))
def test_nothing_is_lost_but_the_kind_of_blanks(text):
    assert read(escape_markdown(text)) == " ".join(text.split())


@given(st.text(alphabet="ab \\`*_{}[]<>()#+-.!|~$:^&=/@\n"))
def test_every_sign_that_means_something_is_escaped(text):
    assert not re.search(r"[`*_{}\[\]<>()#+\-.!|~$:^&=/@]", re.sub(r"\\.", "", escape_markdown(text)))


@case_by_case("text", ["http://e.example", "HTTPS://e.example", "www.e.example", "a@e.example", ":streamlit:", "a -> b", "<-", "--x", ">="])
def test_what_streamlit_finds_behind_backslashes_is_parted(text):
    found = re.sub(r"\\(.)", r"\1", escape_markdown(text))
    assert not re.search(r"(?i)https?://|www\.|\w@|:streamlit:|->|<-|--|>=", found)


def test_common_words_are_left_alone():
    assert escape_markdown("Take ana, 3 of 4") == "Take ana, 3 of 4"
