"""Texts whose offsets are hard to count: emoji of several code points, combining marks, right to left, line ends of all kinds."""

from __future__ import annotations

from dataclasses import dataclass, replace

from editor_page import marked

from piiloom.corpus.record import Record, RecordPlan
from tests.annotation_app.app_driver import FAMILY, record_of


@dataclass(frozen=True)
class HardText:
    """A text with one marked value that stands in it twice more, and a word before it that is to be marked."""

    name: str
    template: str
    fresh: str
    before: str
    value: str
    after: str
    locale: str = "en_US"

    @property
    def record(self) -> Record:
        made = record_of(f"r-{self.name}", marked(self.template), self.locale)
        return replace(made, plan=RecordPlan(pair=("name", "location"), rationale="Where they met matters."))

    @property
    def runs_left(self) -> bool:
        """Whether the paragraph runs from right to left, and arrow keys with it."""
        return self.locale.startswith(("he", "ar"))


LATIN = "came from London to meet [[Grace|name|low]] here"
TEXTS = (
    HardText(
        "emoji", f"{FAMILY} \U0001f600 x Ada {LATIN} \U0001f680. Grace stayed, and Grace wrote emoji.", "London", "meet", "Grace", "here"
    ),
    HardText(
        "combining",
        "Cafe\u0301 nai\u0308ve Ade\u0301le came from Zu\u0308rich to meet [[Rene\u0301e|name|low]] here. "
        "Rene\u0301e stayed, and Rene\u0301e wrote combining.",
        "Zu\u0308rich",
        "meet",
        "Rene\u0301e",
        "here",
    ),
    HardText(
        "hebrew", "דנה באה מחיפה לפגוש את [[נועה|name|low]] כאן. נועה נשארה, נועה כתבה hebrew.", "מחיפה", "את", "נועה", "כאן", "he_IL"
    ),
    HardText(
        "arabic", "جاءت ليلى من بيروت لتقابل [[هند|name|low]] هنا. هند بقيت، هند كتبت arabic.", "بيروت", "لتقابل", "هند", "هنا", "ar_EG"
    ),
    HardText(
        "crlf",
        "One\r\ntwo\rthree\r\n\r\nAda came from London\r\nto meet [[Grace|name|low]] here.\rGrace stayed,\r\nand Grace wrote crlf.",
        "London",
        "meet",
        "Grace",
        "here",
    ),
)
MIXED = HardText(
    "mixed",
    f"{FAMILY} Cafe\u0301 שלום\r\nAda came from London \U0001f600 to meet [[Rene\u0301e|name|low]] here.\r"
    "Rene\u0301e stayed,\r\nand Rene\u0301e wrote mixed.",
    "London",
    "meet",
    "Rene\u0301e",
    "here",
)
SPARE = record_of("r-spare", marked("Nothing to do in [[Kent|location|high]] here, it is spare."))
