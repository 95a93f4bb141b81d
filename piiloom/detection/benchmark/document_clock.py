"""The time that a document tells: it goes on from entry to entry."""

from __future__ import annotations

import random
from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from types import MappingProxyType
from typing import Final

from piiloom.detection.benchmark.carriers import Carrier, Pace
from piiloom.detection.benchmark.plain_values import date_form, recent_day

# Minutes between two entries: of a log, of the notes of a ward, of a statement.
_STEPS: Final[Mapping[Pace, tuple[int, ...]]] = MappingProxyType({"minutes": (4, 25), "hours": (90, 600), "days": (1500, 4000)})
_OFFICE_HOURS: Final = (7, 20)


class DocumentClock:
    """The time that a document tells: later in each entry, and each date in one way of writing it."""

    def __init__(self, carrier: Carrier, rng: random.Random) -> None:
        self._rng, self._form = rng, date_form(carrier.locale, rng)
        self._now = datetime.combine(recent_day(rng), time(rng.randint(6, 20), rng.randint(0, 59)))
        steps = _STEPS[carrier.pace] if carrier.pace else tuple(step for some in _STEPS.values() for step in some)
        self._step = rng.choice(steps) if carrier.entries else 1500
        self._at_night = carrier.pace not in ("hours", "days")
        self._ahead, self._times, self._entries = 0, 0, False

    def next_entry(self) -> None:
        """Go on to the next entry; where there is one every few hours or days, nobody writes at night."""
        self._now += timedelta(minutes=1 + self._rng.random() * 2 * self._step)
        opens, closes = _OFFICE_HOURS
        if not self._at_night and not opens <= self._now.hour < closes:
            day = self._now.date() + timedelta(days=self._now.hour >= closes)
            self._now = datetime.combine(day, time(opens + self._rng.randint(0, 3), self._rng.randint(0, 59)))
        self.close()
        self._entries = True

    @property
    def today(self) -> date:
        """The day that the document has reached."""
        return self._now.date()

    def close(self) -> None:
        """The next date is the day of the last entry, the next time soon after it."""
        self._ahead, self._times, self._entries = 0, 0, False

    def told(self, what: str) -> str:
        """One of ``MOMENTS``."""
        told = {"date": self.date, "time": self.time, "due_date": self.due_date, "due_time": self.due_time, "case_date": self.past_date}
        return told[what]()

    def date(self) -> str:
        """The day of the entry; each further one in it is some days later, as of an appointment."""
        day = self._now + timedelta(days=self._ahead)
        self._ahead += self._rng.randint(2, 20)
        return day.strftime(self._form)

    def due_date(self) -> str:
        """A day of the next weeks, as of an appointment or the end of a term."""
        return (self._now + timedelta(days=self._rng.randint(3, 25))).strftime(self._form)

    def due_time(self) -> str:
        """A quarter of an hour of the day, as of an appointment."""
        return f"{self._rng.randint(8, 18):02}:{self._rng.choice((0, 0, 15, 30, 30, 45)):02}"

    def past_date(self) -> str:
        """A day of the last two months."""
        return (self._now - timedelta(days=self._rng.randint(1, 60))).strftime(self._form)

    def time(self) -> str:
        """The time of day, a few minutes after the last one; each further one in an entry is that of an appointment later that day."""
        self._times += 1
        if self._entries and self._times > 1:
            quarters = self._now.hour * 4 + self._now.minute // 15 + self._rng.randint(2, 12) + 8 * (self._times - 2)
            return f"{min(quarters, 95) // 4:02}:{min(quarters, 95) % 4 * 15:02}"
        self._now += timedelta(minutes=self._rng.randint(0, 9)) if self._now.hour < 23 else timedelta()
        return self._now.strftime("%H:%M")
