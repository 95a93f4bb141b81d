"""Transcripts of tutoring sessions with placeholders, composed by a small seeded grammar.

Besides names they bear 13 other kinds of placeholders, and what looks like one: comparisons, HTML, code, "[sic]". In a third of
them a pronoun tells the student's gender, in a third the student is "they", in a third nothing is told.
"""

from __future__ import annotations

import random
from typing import Final

NAME_TAGS: Final = ("<STUDENT>", "<TUTOR>")
OTHER_TAGS: Final = (
    "<AGE>",
    "<SCHOOL>",
    "<COURSE>",
    "<CITY>",
    "<DATE>",
    "<EMAIL>",
    "<PHONE>",
    "<URL>",
    "<USERNAME>",
    "<GRADE>",
    "<STUDENT_ID>",
    "<EMPLOYER>",
    "<ADDRESS>",
)
TRAPS: Final = (
    "If a<b and b<c then a<c.",
    "So x > 3 here.",
    "Write <b>bold</b> in your notes.",
    "The textbook says 'teh rule' [sic].",
    "Then print(arr[i]) in the loop.",
    "A List<int> holds them.",
    "Look at step (2) again.",
    "for i in range(10): total[i] = 0",
    "It is 5 < 7 > 6, strange but valid.",
    "See <https://example.org/help> for that.",
    "The set {1, 2} is finite.",
    "Use x[0] as the start [...] and go on.",
    "vector<string> words;",
    "She wrote `if (n <= 1) return [];` there.",
    "<br/>",
    "The answer (b) was right.",
)

_PRONOUNS: Final = (("she", "her", "her"), ("he", "him", "his"), ("they", "them", "their"), None, None, ("they", "them", "their"))
_OPENERS: Final = (
    "TUTOR: Hello <STUDENT>, I am <TUTOR>. What are we looking at today?",
    "TUTOR: Hi, this is <TUTOR>. Is that <STUDENT>?",
    "TUTOR: Good afternoon <STUDENT>! <TUTOR> here.",
)
_LINES: Final = {
    "<AGE>": (
        "STUDENT: I am <AGE> years old.",
        "STUDENT: I turned <AGE> last week.",
        "STUDENT: My sister is <AGE> and she is better at this.",
    ),
    "<SCHOOL>": ("STUDENT: I go to <SCHOOL>.", "TUTOR: Does <SCHOOL> let you use a calculator?"),
    "<COURSE>": ("STUDENT: This is for <COURSE>.", "STUDENT: We are doing this in <COURSE>, but I missed a class."),
    "<CITY>": ("STUDENT: We just moved to <CITY>.", "TUTOR: How is the weather in <CITY>?"),
    "<DATE>": ("STUDENT: The test is on <DATE>.", "TUTOR: Can we meet again on <DATE>?"),
    "<EMAIL>": ("TUTOR: Send it to <EMAIL>, please.", "STUDENT: My address is <EMAIL>."),
    "<PHONE>": ("STUDENT: You can call me at <PHONE>.", "TUTOR: If the line drops, <PHONE> is the number."),
    "<URL>": ("TUTOR: There is a video at <URL>.", "STUDENT: I found <URL>, is it any good?"),
    "<USERNAME>": ("STUDENT: On the forum I am <USERNAME>.", "TUTOR: I added <USERNAME> to the group."),
    "<GRADE>": ("STUDENT: I got <GRADE> the last time.", "TUTOR: With this you should get <GRADE>."),
    "<STUDENT_ID>": ("TUTOR: What is your number? STUDENT: <STUDENT_ID>.", "STUDENT: They asked for my ID, <STUDENT_ID>."),
    "<EMPLOYER>": ("STUDENT: After school I work at <EMPLOYER>.", "STUDENT: My shift at <EMPLOYER> starts at five."),
    "<ADDRESS>": ("STUDENT: I live at <ADDRESS>.", "TUTOR: The certificate goes to <ADDRESS>."),
}
_ABOUT: Final = (
    "NOTE: <STUDENT> was late because {subject} missed the bus.",
    "NOTE: <STUDENT> did well; I told {object} so.",
    "NOTE: <STUDENT> forgot {possessive} book.",
)
_PLAIN: Final = (
    "TUTOR: Start with the left side.",
    "STUDENT: I do not get that step.",
    "TUTOR: What happens when you divide by two?",
    "STUDENT: Oh, it cancels!",
    "TUTOR: Well done, <STUDENT>.",
    "STUDENT: Thanks, <TUTOR>.",
    "STUDENT: Can you say that again?",
    "TUTOR: An example, <STUDENT>: take n = 4.",
)


def transcripts(count: int = 260, seed: int = 1) -> list[tuple[str, str]]:
    """*count* pairs of id and text; equal arguments give equal texts. All 13 kinds stand in every 13 transcripts."""
    return [(f"session-{number:03}", _transcript(number, random.Random(seed * 1_000_003 + number))) for number in range(count)]


def _transcript(number: int, draw: random.Random) -> str:
    lines = [draw.choice(_OPENERS)]
    tags = {OTHER_TAGS[number % len(OTHER_TAGS)], *draw.sample(OTHER_TAGS, draw.randint(3, 7))}
    middle = [draw.choice(_LINES[tag]) for tag in sorted(tags)]
    middle += draw.sample(_PLAIN, draw.randint(2, 5))
    middle += [f"TUTOR: {trap}" for trap in draw.sample(TRAPS, draw.randint(1, 3))]
    draw.shuffle(middle)
    pronouns = _PRONOUNS[number % len(_PRONOUNS)]
    if pronouns:
        subject, object_, possessive = pronouns
        about = draw.choice(_ABOUT).format(subject=subject, object=object_, possessive=possessive)
        middle.append(about)
    return "\n".join([*lines, *middle]) + "\n"
