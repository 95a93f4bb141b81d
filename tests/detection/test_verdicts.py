"""What a verifier answers: T or F in any spelling, and nothing else."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from piiloom.detection.verifying_detector import read_verdict
from piiloom.execution.calls import Fault
from tests.longer import case_by_case


@case_by_case(
    ("reply", "right", "reasoning"),
    [
        ("T", True, ""),
        (" f.\n", False, ""),
        ("**True**", True, ""),
        ('"F"', False, ""),
        ("<answer>F</answer>", None, ""),
        ('{"answer": "T"}', True, ""),
        ('{"reasoning": " It states an age. ", "answer": "T"}', True, "It states an age."),
        ('Sure:\n```json\n{"reasoning": "It\'s a "job", no name", "answer": "F",}\n```', False, 'It\'s a "job", no name'),
        ('{"answer": false, "reasoning": "no"}', False, "no"),
        ("It says {sic} where they live.\nAnswer: T", True, "It says {sic} where they live."),
        ("The boundaries are off. The answer is **F**.", False, "The boundaries are off."),
        ("T or F?", None, ""),
        ("It is true that this is a name.", None, ""),
        ('{"answer": "maybe"}', None, ""),
        ('{"reasoning": "It is cut', None, ""),
        ("Tom", None, ""),
    ],
)
@case_by_case("reasoned", [False, True])
def test_spellings(reply: str, right: bool | None, reasoning: str, reasoned: bool) -> None:
    if right is None:
        with pytest.raises(Fault, match="JSON object" if reasoned else "one letter"):
            read_verdict(reply, reasoned=reasoned)
    else:
        assert read_verdict(reply, reasoned=reasoned) == (right, reasoning)


@given(st.text(max_size=40), st.booleans())
def test_a_reasoning_may_say_anything(reasoning: str, right: bool) -> None:
    reply = json.dumps({"reasoning": reasoning, "answer": "T" if right else "F"}, ensure_ascii=False)
    assert read_verdict(reply, reasoned=True) == (right, reasoning.strip())
