from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from piiloom.foundation.errors import DataError
from piiloom.surrogates.documents import OffsetMap
from tests.longer import case_by_case

PARTS = st.lists(
    st.tuples(st.text("abc", max_size=3), st.text("xyz", min_size=1, max_size=3), st.text("XYZ", min_size=1, max_size=4)), max_size=6
)


def woven(parts: list[tuple[str, str, str]], tail: str) -> tuple[str, str, list[tuple[int, int, int, int]]]:
    text = output = ""
    ranges = []
    for between, old, new in parts:
        text, output = text + between, output + between
        ranges.append((len(text), len(text) + len(old), len(output), len(output) + len(new)))
        text, output = text + old, output + new
    return text + tail, output + tail, ranges


@given(parts=PARTS, tail=st.text("abc", max_size=3))
def test_there_and_back_is_the_identity(parts: list[tuple[str, str, str]], tail: str) -> None:
    text, output, ranges = woven(parts, tail)
    offsets = OffsetMap(ranges)
    for offset in range(len(text) + 1):
        inside = [r for r in ranges if r[0] < offset < r[1]]
        there, there_end = offsets.to_output(offset), offsets.to_output(offset, end=True)
        if inside:
            assert (there, there_end) == (inside[0][2], inside[0][3])
            assert (offsets.to_input(there), offsets.to_input(there_end, end=True)) == (inside[0][0], inside[0][1])
        else:
            assert offsets.to_input(there) == offset
            assert offsets.to_input(there_end, end=True) == offset
            if not any(start <= offset < end for start, end, _, _ in ranges) and offset < len(text):
                assert output[there] == text[offset]
    for start, end, new_start, new_end in ranges:
        assert (offsets.to_output(start), offsets.to_output(end, end=True)) == (new_start, new_end)
        assert (offsets.to_input(new_start), offsets.to_input(new_end, end=True)) == (start, end)
    assert offsets.restore(output, [text[start:end] for start, end, _, _ in ranges]) == text
    assert offsets.agrees(text, output)


@given(parts=PARTS, tail=st.text("abc", max_size=3), at=st.integers(0, 60))
def test_a_change_outside_of_the_ranges_is_seen(parts: list[tuple[str, str, str]], tail: str, at: int) -> None:
    text, output, ranges = woven(parts, tail)
    offsets = OffsetMap(ranges)
    if at < len(output) and output[at].islower():
        assert not offsets.agrees(text, f"{output[:at]}?{output[at + 1 :]}")
    assert not offsets.agrees(text, f"{output}?")
    assert not offsets.agrees(f"{text}?", output)


@case_by_case(
    "ranges",
    [
        [(0, 0, 0, 1)],
        [(0, 1, 0, 0)],
        [(3, 4, 3, 4), (1, 2, 1, 2)],
        [(0, 2, 0, 2), (1, 3, 2, 4)],
        [(1, 2, 0, 1)],
        [(0, 2, 0, 1), (4, 5, 4, 5)],
        [(-1, 2, -1, 3)],
    ],
)
def test_what_is_no_map_is_refused(ranges: list[tuple[int, int, int, int]]) -> None:
    with pytest.raises(DataError):
        OffsetMap(ranges)
