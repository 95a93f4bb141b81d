"""Simulated people: each edits over a web socket to the real app, keeps an outbox and comes back after a cut, as our page does."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.exceptions import WebSocketException
from websockets.sync.client import ClientConnection, connect

EDITOR = "piiloom_editor"
# Edits of a record before it is accepted and the next one asked for.
EDITS_A_RECORD = 20


@dataclass(frozen=True, slots=True)
class Pace:
    """*edits* in all: *burst* of them, *gap_s* apart, at the head of every *period_s*; *retry_s* as the page's own timer."""

    edits: int
    period_s: float = 1.0
    burst: int = 1
    gap_s: float = 0.05
    retry_s: float = 4.0

    def due(self, number: int) -> float:
        """Seconds from the beginning to edit *number*, which counts from 0."""
        turn, place = divmod(number, self.burst)
        return turn * self.period_s + place * self.gap_s


@dataclass
class Pending:
    """An operation that was not acknowledged yet."""

    sequence: int
    made: float
    item: dict[str, Any]


@dataclass
class SimulatedPerson:
    """Works from ``began`` (a time of ``time.monotonic``) until all edits are made and acknowledged, or ``give_up_s`` passed."""

    name: str
    address: str
    cookie: tuple[str, str]
    pace: Pace
    began: float = 0.0
    give_up_s: float = 300.0
    made: list[float] = field(default_factory=list)
    acknowledged: dict[int, float] = field(default_factory=dict)
    told: dict[int, str] = field(default_factory=dict)
    troubles: list[str] = field(default_factory=list)
    connections: int = 0
    runs_seen: int = 0

    def __post_init__(self) -> None:
        self.client = f"c-{self.name}"
        self._pending: list[Pending] = []
        self._record = ""
        self._version = 0
        self._here = 0
        self._leaving = False
        self._intent: dict[str, Any] | None = None
        self._attempt = 0
        self._widget = ""
        self._page = ""
        self._fragment = ""
        self._retry_at = 0.0
        self._first = True

    @property
    def finished(self) -> bool:
        """Whether every edit was made and acknowledged."""
        return len(self.made) >= self.pace.edits and not self._pending

    def work(self) -> None:
        """Work to the end, through whatever cuts there are."""
        until = self.began + self.give_up_s
        while not self.finished and time.monotonic() < until:
            with contextlib.suppress(OSError, WebSocketException), self._connected() as socket:
                self._attend(socket, until)
            self._edit_when_due()
            time.sleep(0.1)
        if not self.finished:
            self.troubles.append(f"gave up with {len(self.made)} made and {len(self._pending)} pending")

    @contextlib.contextmanager
    def _connected(self) -> Iterator[ClientConnection]:
        headers = {"Cookie": "=".join(self.cookie)}
        options: dict[str, Any] = {"subprotocols": ["streamlit"], "proxy": None, "max_size": None, "compression": None}
        url = f"ws://{self.address}/_stcore/stream"
        with connect(url, origin=f"http://{self.address}", additional_headers=headers, close_timeout=1, **options) as socket:  # type: ignore[arg-type]
            yield socket

    def _attend(self, socket: ClientConnection, until: float) -> None:
        self.connections += 1
        self._first = True
        _rerun(socket, self._page)
        while not self.finished and time.monotonic() < until:
            with contextlib.suppress(TimeoutError):
                got = socket.recv(timeout=max(0.0, min(self._next_at(), self._retry_at) - time.monotonic()))
                self._read(socket, got)
            if self._edit_when_due() or ((self._pending or self._leaving) and time.monotonic() >= self._retry_at):
                self._deliver(socket)

    def _next_at(self) -> float:
        if self._leaving or not self._record or len(self.made) >= self.pace.edits:
            return time.monotonic() + 0.5
        return self.began + self.pace.due(len(self.made))

    def _edit_when_due(self) -> bool:
        """Make the next edit if it is time, be there a connection or not."""
        waiting = self._leaving or not self._record or len(self.made) >= self.pace.edits
        if waiting or time.monotonic() < self.began + self.pace.due(len(self.made)):
            return False
        last_here = self._here == EDITS_A_RECORD - 1
        operation = {"op": "accept"} if last_here else edit(self._here)
        number = len(self.made) + 1
        item = {"sequence": number, "record": self._record, "base": self._version, "operation": operation}
        self.made.append(time.monotonic())
        self._pending.append(Pending(number, self.made[-1], item))
        self._version += 1
        self._here += 1
        if last_here:
            self._leaving = True
            self._intent = {"client": self.client, "number": number, "go": "next", "record": self._record}
        return True

    def _deliver(self, socket: ClientConnection) -> None:
        self._retry_at = time.monotonic() + self.pace.retry_s
        if not self._widget:
            return
        self._attempt += 1
        operations = [one.item for one in self._pending]
        state: dict[str, Any] = {"outbox": {"client": self.client, "operations": operations, "attempt": self._attempt}}
        if self._intent:
            state["intent"] = self._intent
        _rerun(socket, self._page, self._fragment, self._widget, state)

    def _read(self, socket: ClientConnection, got: str | bytes) -> None:
        message = ForwardMsg()
        message.ParseFromString(got if isinstance(got, bytes) else got.encode())
        if message.WhichOneof("type") == "script_finished":
            self.runs_seen += 1
        elif message.WhichOneof("type") == "new_session":
            self._page = message.new_session.page_script_hash
        if message.WhichOneof("type") != "delta" or message.delta.WhichOneof("type") != "new_element":
            return
        element = message.delta.new_element
        if element.WhichOneof("type") != "bidi_component" or element.bidi_component.component_name != EDITOR:
            return  # each page has a component of ours beside the editor
        self._widget, self._fragment = element.bidi_component.id, message.delta.fragment_id
        self._hear(json.loads(element.bidi_component.json))
        if self._first:
            self._first = False
            if self._pending or self._leaving:
                self._deliver(socket)

    def _hear(self, data: Mapping[str, Any]) -> None:
        now, newest = time.monotonic(), data["acknowledged"].get(self.client, 0)
        for one in self._pending:
            if one.sequence <= newest:
                self.acknowledged[one.sequence] = now
        self._pending = [one for one in self._pending if one.sequence > newest]
        for notice in data["notices"]:
            self.told[notice["sequence"]] = notice["text"]
        if data["record"] != self._record:
            if not self._record or self._leaving or not self._pending:
                self._record, self._version, self._here, self._leaving = data["record"], data["version"], 0, False
        elif not self._pending and data["version"] != self._version:
            self.troubles.append(f"version {data['version']} of {self._record}, not {self._version}, after {newest}")
            self._version = data["version"]


def _rerun(socket: ClientConnection, page: str, fragment: str = "", widget: str = "", state: Mapping[str, Any] | None = None) -> None:
    message = BackMsg()
    message.rerun_script.fragment_id = fragment
    message.rerun_script.query_string = ""
    message.rerun_script.page_script_hash = page
    if state is not None:
        one = message.rerun_script.widget_states.widgets.add()
        one.id, one.json_value = widget, json.dumps(state)
    socket.send(message.SerializeToString())


def edit(number: int) -> dict[str, Any]:
    """The operation that a person does as number *number* on a record of ``loaded_project``: none of them is ever refused."""
    match number % 4:
        case 0:
            return {"op": "text", "field": "question", "at": 0, "removed": "", "inserted": "So "}
        case 1:
            return {"op": "relevance", "id": "s1", "relevance": "low" if number % 8 == 1 else "high"}
        case 2:
            return {"op": "text", "field": "context", "at": 0, "removed": "", "inserted": "Hello. "}
        case _:
            return {"op": "undo"}


def all_at_work(people: list[SimulatedPerson], head_start_s: float = 1.0) -> list[threading.Thread]:
    """Have all *people* begin at the same moment, each in a thread, *head_start_s* after they connect."""
    began = time.monotonic() + head_start_s
    threads = []
    for person in people:
        person.began = began
        threads.append(threading.Thread(target=person.work, name=person.name, daemon=True))
        threads[-1].start()
    return threads
