"""The table of samples: spans stand out, and the text of a corpus cannot steer the terminal."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from piiloom.cli.records import marked_context, print_samples, type_colours
from piiloom.cli.terminal import harmless
from piiloom.corpus.record import Record, RecordPlan, Span
from piiloom.taxonomy.entity_types import shipped_taxonomy


def _record(context, *ranges, question="Why?"):
    spans = tuple(
        Span(id=f"s{n}", start=start, end=end, entity_type=kind, relevance=relevance)
        for n, (start, end, kind, relevance) in enumerate(ranges)
    )
    return Record(
        id="r", context=context, question=question, spans=spans, plan=RecordPlan(pair=("health", "occupation"), topic="[red]work")
    )


def _printed(record, *, coloured):
    out = io.StringIO()
    console = Console(
        file=out,
        width=200,
        markup=False,
        emoji=False,
        highlight=False,
        force_terminal=coloured,
        color_system="truecolor" if coloured else None,
    )
    print_samples(console, [record], taxonomy=shipped_taxonomy())
    return out.getvalue()


def test_plain_output_marks_spans_with_brackets():
    record = _record("I am a baker with asthma.", (7, 12, "occupation", "high"), (18, 24, "health", "low"))
    assert "I am a [baker|occupation, high] with [asthma|health, low]." in _printed(record, coloured=False)


def test_coloured_output_styles_spans_and_explains_the_colours():
    record = _record("I am a baker with asthma.", (7, 12, "occupation", "high"), (18, 24, "health", None))
    text = marked_context(record, type_colours(taxonomy=shipped_taxonomy()), coloured=True)
    assert text.plain == record.context
    assert [(span.start, span.end) for span in text.spans] == [(7, 12), (18, 24)]
    assert "bold" in str(text.spans[0].style)
    printed = _printed(record, coloured=True)
    assert "\x1b[" in printed
    assert "high relevance" in printed
    legend = printed.splitlines()[-1]
    assert all(word in legend for word in ("high relevance", "low relevance", "occupation", "health"))
    assert legend.count("\x1b[1;7m") == 1  # each entry in its own style only


def test_markup_in_texts_is_printed_as_it_is():
    record = _record("I am [bold red]a baker[/] :smile:.", (17, 22, "occupation", "high"), question="[link=x]Why?[/link]")
    printed = _printed(record, coloured=False)
    assert "[bold red]" in printed
    assert "[link=x]Why?[/link]" in printed
    assert ":smile:" in printed
    assert "[red]work" in printed


@pytest.mark.parametrize("nasty", ["\x1b[31mred", "\r\r", "a\x08b", "\x9b31m", "\x07"])
def test_control_codes_do_not_reach_the_terminal(nasty):
    record = _record(f"I {nasty} am a baker.", question=nasty)
    printed = _printed(record, coloured=False)
    assert not set(printed) & set("\x1b\r\x08\x9b\x07")


@given(st.text())
def test_harmless_text_keeps_its_length(text):
    assert len(harmless(text)) == len(text)
    assert harmless(harmless(text)) == harmless(text)


def test_every_type_has_a_colour_of_its_own():
    colours = type_colours(taxonomy=shipped_taxonomy())
    assert set(colours) == set(shipped_taxonomy().types)
    assert len(set(colours.values())) == len(colours)
