"""Label Studio: a local server over SQLite, with a hot key for every label and choice."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from benchmarks.annotation.desk import PATIENCE_S, Desk, Seen, Tool, bare
from benchmarks.annotation.material import TYPES, Change, Mark, Story

TITLE = "Label Studio"
PACKAGE = "label-studio"
REQUIREMENTS = ("label-studio==1.23.2",)
# A key for each label, beside z and x for the relevance; "u" is the tool's own.
LABEL_KEYS = dict(zip(TYPES, "qwertyopasdfgjk", strict=True))
RELEVANCE_KEYS = {"high": "z", "low": "x"}
_TOKEN, _PASSWORD = "0123456789abcdef0123456789abcdef01234567", "correct-horse-battery"
# The page's own account of the annotation that is shown.
_MARKS = """() => {
    const shown = window.Htx?.annotationStore?.selected;
    return shown ? JSON.parse(JSON.stringify(shown.serializeAnnotation() ?? [])) : [];
}"""
_AT_THE_END = re.compile("No More Tasks Left in Queue|All tasks in the queue have been completed|No more annotations")
_SETTINGS = "localStorage.setItem('labelStudio:settings', JSON.stringify({selectAfterCreate: true}))"


def config() -> str:
    """What is labelled: a type and a relevance for each span."""
    labels = "".join(f'<Label value="{name}" hotkey="{key}"/>' for name, key in LABEL_KEYS.items())
    choices = "".join(f'<Choice value="{name}" hotkey="{key}"/>' for name, key in RELEVANCE_KEYS.items())
    return (
        '<View><Style>.htx-text{ white-space: pre-wrap; }</Style><Header value="$question"/>'
        f'<Labels name="type" toName="text">{labels}</Labels><Text name="text" value="$text" granularity="word"/>'
        f'<Choices name="relevance" toName="text" perRegion="true" choice="single">{choices}</Choices></View>'
    )


def results(story: Story) -> list[dict[str, Any]]:
    """The spans of *story* as a prediction."""
    found = []
    for i, mark in enumerate(story.marks):
        place = {"start": mark.start, "end": mark.end, "text": story.text(mark)}
        common = {"id": f"s{i}", "to_name": "text"}
        found.append({**common, "from_name": "type", "type": "labels", "value": {**place, "labels": [mark.entity_type]}})
        found.append({**common, "from_name": "relevance", "type": "choices", "value": {**place, "choices": [mark.relevance]}})
    return found


def regions(entries: list[dict[str, Any]]) -> list[tuple[int, int, str, str, Any]]:
    """Start, end, text, type and relevance of each region of a result, in which each control has an entry of its own."""
    found: dict[str, dict[str, Any]] = {}
    for one in entries:
        found.setdefault(one["id"], {}).update(one["value"])
    return [
        (one["start"], one["end"], one.get("text", ""), one.get("labels", [""])[0], one.get("choices", [None])[0]) for one in found.values()
    ]


class LabelStudioDesk(Desk):
    """Spans are selected by a click; a label's or a choice's hot key then changes them, an end is dragged."""

    surface = ".lsf-htx-richtext"

    def __init__(self, browser: Any, url: str, person: str, project: int) -> None:
        super().__init__()
        self._url, self._project = url, project
        self.context = browser.new_context(viewport={"width": 1280, "height": 900})
        self.context.set_default_timeout(PATIENCE_S * 1000)
        self.context.add_init_script(_SETTINGS)
        self.page = self.context.new_page()
        self._log_in(person)

    def _log_in(self, person: str) -> None:
        way = "login" if person == "ana" else "signup"
        self.page.goto(f"{self._url}/user/{way}/")
        self.page.fill("input[name=email]", f"{person}@example.org")
        self.page.fill("input[name=password]", _PASSWORD)
        self.page.keyboard.press("Enter")
        self.page.wait_for_url(lambda address: way not in address)

    def open(self) -> None:
        """Label All Tasks."""
        self.page.goto(f"{self._url}/projects/{self._project}/data?labeling=1")

    def marks(self) -> list[Seen]:
        """The spans that the page holds."""
        return [(bare(text), kind, relevance) for _, _, text, kind, relevance in regions(self.page.evaluate(_MARKS))]

    def do(self, story: Story, change: Change) -> None:
        """A click and a hot key; a label's hot key and a double click for a new one; a drag for an end."""
        if change.before is not None:
            self.click(story, change.before)
            self.page.locator("area.__resize_right").wait_for(state="attached")
        if change.kind == "remove":
            self.press("Backspace")
        elif change.after and change.kind == "flip":
            self.press(RELEVANCE_KEYS[change.after.relevance])
        elif change.after and change.kind == "type":
            self.press(LABEL_KEYS[change.after.entity_type])
        elif change.after and change.kind == "end":
            self._drag(self.point(story, change.after, end=True))
        elif change.after:
            self.press("Escape")  # else the label's key would change the selected span
            self.press(LABEL_KEYS[change.after.entity_type])
            before = len(self.marks())
            self.click(story, change.after, double=True)
            self.until(lambda: len(self.marks()) > before and self._chosen() == 1, "the new span is selected")
            self.press(RELEVANCE_KEYS[change.after.relevance])

    def _chosen(self) -> int:
        return int(self.page.evaluate("() => window.Htx.annotationStore.selected.selectedRegions.length"))

    def _drag(self, to: tuple[float, float]) -> None:
        box = self.page.locator("area.__resize_right").bounding_box()
        assert box, "the handle at the end of the span is not on the screen"
        self.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        self.page.mouse.down()
        self.page.mouse.move(to[0] - 4, to[1], steps=3)
        self.page.mouse.move(*to)
        self.page.mouse.up()
        self.effort.drags += 1

    def finish(self) -> None:
        """Submit."""
        self.press("Control+Enter")

    @contextmanager
    def saving(self) -> Iterator[None]:
        """Until the server has answered that it has the draft."""
        with self.page.expect_response(lambda answer: "/drafts" in answer.url and answer.ok and answer.request.method in {"POST", "PATCH"}):
            yield

    def nothing_left(self) -> bool:
        """What the page says at its end."""
        return bool(self.page.get_by_text(_AT_THE_END).count())

    def write_into_text(self, story: Story, word: str) -> str:  # noqa: ARG002 - there is no way to do it
        """Only tells how many fields of the page would let somebody edit the record's text."""
        texts = self.page.locator("textarea, input, [contenteditable=true]").evaluate_all(
            "(all) => all.map((one) => one.value ?? one.textContent)"
        )
        return f"fields of the page that hold it: {sum(bare(story.context)[:40] in bare(text or '') for text in texts)}"


class AnnotationTool(Tool):
    """A server of the environment in the folder *environment*."""

    def __init__(self, environment: Path | None) -> None:
        assert environment
        self._command = environment / "bin" / "label-studio"

    @contextmanager
    def serving(self, folder: Path, stories: Sequence[Story]) -> Iterator[None]:
        """A data directory and a project of its own for these records; what was stored is read at the end."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._url = f"http://127.0.0.1:{free.getsockname()[1]}"
        self._folder = folder
        self._start()
        self._client = httpx.Client(base_url=self._url, headers={"Authorization": f"Token {_TOKEN}"}, timeout=60, trust_env=False)
        try:
            self._project = self._import(stories)
            yield
            self._stored = self._read()
        finally:
            self._stop()
            self._client.close()

    def _start(self) -> None:
        known = {
            "HOME": str(self._folder),
            "LABEL_STUDIO_BASE_DATA_DIR": str(self._folder),
            "COLLECT_ANALYTICS": "false",
            "LATEST_VERSION_CHECK": "false",
            "SENTRY_DSN": "",
            "FRONTEND_SENTRY_DSN": "",
            "LABEL_STUDIO_USERNAME": "ana@example.org",
            "LABEL_STUDIO_PASSWORD": _PASSWORD,
            "LABEL_STUDIO_USER_TOKEN": _TOKEN,
            "LABEL_STUDIO_ENABLE_LEGACY_API_TOKEN": "true",
        }
        command = [str(self._command), "start", "--no-browser", "--internal-host", "127.0.0.1", "--port", self._url.rpartition(":")[2]]
        with (self._folder / "server.log").open("ab") as log:
            self._process = subprocess.Popen(
                command, env={**os.environ, **known}, cwd=self._folder, stdout=log, stderr=log, start_new_session=True
            )
        end = time.monotonic() + 240
        while not self._healthy():
            if time.monotonic() > end or self._process.poll() is not None:
                raise TimeoutError(f"Label Studio did not start: {(self._folder / 'server.log').read_text()[-2000:]}")
            time.sleep(0.2)

    def _healthy(self) -> bool:
        try:
            return httpx.get(f"{self._url}/health", timeout=5, trust_env=False).is_success
        except httpx.TransportError:
            return False

    def _stop(self) -> None:
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait(timeout=PATIENCE_S)

    def kill(self) -> None:
        """SIGKILL of the server with all its processes, and again on the same port."""
        self._stop()
        self._start()

    def _import(self, stories: Sequence[Story]) -> int:
        settings = {
            "title": "peers",
            "label_config": config(),
            "maximum_annotations": 1,
            "sampling": "Sequential sampling",
            "show_collab_predictions": True,
            "model_version": "raw",
        }
        project = int(self._client.post("/api/projects", json=settings).raise_for_status().json()["id"])
        tasks = [
            {
                "data": {"text": one.context, "question": one.question, "name": one.name},
                "predictions": [{"model_version": "raw", "result": results(one)}],
            }
            for one in stories
        ]
        self._client.post(f"/api/projects/{project}/import", json=tasks).raise_for_status()
        return project

    def tasks(self) -> list[dict[str, Any]]:
        """The tasks with their annotations, in order of import."""
        found = self._client.get("/api/tasks", params={"project": self._project, "fields": "all", "page_size": 100}).raise_for_status()
        return sorted(found.json()["tasks"], key=lambda task: task["id"])

    def _read(self) -> dict[str, list[tuple[str, list[Mark]]]]:
        found: dict[str, list[tuple[str, list[Mark]]]] = {}
        for task in self.tasks():
            for annotation in task["annotations"]:
                marks = [Mark(start, end, kind, how) for start, end, _, kind, how in regions(annotation["result"])]
                found.setdefault(task["data"]["name"], []).append((task["data"]["text"], sorted(marks)))
        return found

    def stored(self) -> dict[str, list[tuple[str, list[Mark]]]]:
        """What was submitted, as the API gives it."""
        return self._stored

    def desk(self, browser: Any, person: str) -> Desk:
        """A tab of *person*; bob signs up first."""
        return LabelStudioDesk(browser, self._url, person, self._project)
