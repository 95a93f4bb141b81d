"""Lessons of a teacher and a student in a chat room, one table each, in the columns of TSCC. The sentences are our own.

Besides the names they bear 13 other kinds of placeholders. In a third of the lessons a pronoun tells the gender of the student's friend.
"""

from __future__ import annotations

import csv
import random
from pathlib import Path
from typing import Final

COLUMNS: Final = ("timestamp", "user_id", "role", "turn.number", "anonymised", "edited", "seq.type")
# The kinds besides names, and what is said with each. The value is the speaker's, the other one's (you) or nobody's.
OTHER_TAGS: Final = {
    "<STUDENT'S USERNAME>": ("username", "student", "You find me there, my name is <STUDENT'S USERNAME>."),
    "<NAME OF THE BAND>": ("band", "student", "On Fridays I sing with <NAME OF THE BAND>, we are quite loud!"),
    "<LANGUAGE SCHOOL>": ("language_school", "student", "Last year I took a course at <LANGUAGE SCHOOL>."),
    "<TIME>": ("time", "teacher", "Shall we start at <TIME> on Thursday?"),
    "<AGE>": ("age", "student", "Hi <TEACHER>, I am <AGE> now, can you believe it?"),
    "<DATE>": ("date", "teacher", "The exam is on <DATE>, isn't it?"),
    "<DATE OF BIRTH>": ("birth_date", "student", "They asked for my date of birth, <DATE OF BIRTH>, and a photo."),
    "<YEAR>": ("year", "student", "We have lived here since <YEAR>."),
    "<INSTAGRAM ACCOUNT>": ("username", "student", "Thank you, <TEACHER>! My Instagram is <INSTAGRAM ACCOUNT>."),
    "<EMAIL>": ("email", "teacher", "Send the essay to <EMAIL>, please. It is my address, <STUDENT>."),
    "<STUDENT'S COMPANY>": ("company", "student", "At <STUDENT'S COMPANY> we speak English with each other."),
    "<NUMBER>": ("number", "student", "I have <NUMBER> cousins, so weddings are long."),
    "<RESORT>": ("resort", "student", "In summer we stayed at <RESORT>, it was too hot."),
}
_PLAIN: Final = (
    ("teacher", 'Try "used to" here, as in "I used to swim".'),
    ("student", "Sorry, I do not understand :( can you repeat?"),
    ("teacher", "Of course, <STUDENT>. Think of things that you no longer do."),
    ("student", "Ah! I used to <play> the piano, is it right?"),
    ("teacher", "Well done, <STUDENT>!\nNow the next one."),
    ("student", "Thanks, <TEACHER>"),
)


def write_lessons(folder: Path, count: int = 260, seed: int = 1) -> list[str]:
    """Write *count* lessons to *folder*, and return their names. Equal arguments write equal bytes."""
    folder.mkdir(parents=True)
    names = [f"lesson_{number:03}.tsv" for number in range(count)]
    for number, name in enumerate(names):
        with (folder / name).open("w", encoding="utf-8", newline="") as out:
            rows = _rows(number, random.Random(seed * 1_000_003 + number))
            csv.writer(out, delimiter="\t", lineterminator="\n").writerows([COLUMNS, *rows])
    return names


def _rows(number: int, draw: random.Random) -> list[tuple[str, ...]]:
    turns = [("teacher", "Hi there <STUDENT>, all OK?"), ("student", "Hi <TEACHER>, how are you?")]
    tags = list(OTHER_TAGS)
    chosen = {tags[number % len(tags)], *draw.sample(tags, draw.randint(3, 6))}
    middle = [OTHER_TAGS[tag][1:] for tag in tags if tag in chosen] + draw.sample(_PLAIN, draw.randint(2, 5))
    draw.shuffle(middle)
    if number % 3 == 0:
        word = "He" if number % 2 else "She"
        middle.append(("student", f"<STUDENT'S FRIEND> helps me. {word} is from the same town."))
    turns += [*middle, ("teacher", "Bye <STUDENT>, see you soon!"), ("student", "Bye <TEACHER>!")]
    users = {"teacher": f"T{number % 2}", "student": f"S{number % 9}"}
    return [
        (f"2019-01-{1 + number % 28:02} 15:{at % 60:02}:00", users[role], role, str(at), text, text, "opening" if at < 2 else "")
        for at, (role, text) in enumerate(turns)
    ]
