"""The tour of the annotation app: ``python -m docs.making.tour FILE.webm`` records the real app in headless Chromium (about a minute).

It needs the extra ``dev``, Chromium and ffmpeg. Playwright records a page; ffmpeg then makes a small file of it.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from playwright.sync_api import Page, sync_playwright

from piiloom.annotation_app.serving.services import open_services
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.records import iter_records

ROOT: Final = Path(__file__).parents[2]
VIDEO: Final = ROOT / "docs" / "images" / "annotation-tour.webm"
_FIRST: Final = "psoriasis on both hands"  # words of the record that is shown first
_NAME: Final = "ana"
_PASSWORD: Final = "an example of a pass phrase"  # noqa: S105 - of a store that lives as long as the recording
_SIZE: Final = {"width": 1120, "height": 700}
_CHROMIUM: Final = ("chromium", "chromium-headless-shell", "google-chrome")
_FLAGS: Final = ("--no-sandbox", "--disable-gpu", "--hide-scrollbars")
# VP9 of constant quality, ten pictures a second: screens change little.
_ENCODING: Final = ("-c:v", "libvpx-vp9", "-b:v", "0", "-crf", "36", "-r", "10", "-an", "-cpu-used", "2")
# The caption below the page, and a dot in place of the mouse pointer, which headless Chromium does not draw.
_OVERLAY: Final = """(text) => {
    let bar = document.getElementById("tour-caption"), dot = document.getElementById("tour-dot");
    if (!bar) {
        bar = Object.assign(document.createElement("div"), {id: "tour-caption"});
        bar.style.cssText = "position:fixed;left:0;right:0;bottom:0;z-index:2147483647;padding:14px 24px;text-align:center;" +
            "font:600 21px/1.4 system-ui,sans-serif;color:#fff;background:rgba(16,24,48,.92);pointer-events:none";
        dot = Object.assign(document.createElement("div"), {id: "tour-dot"});
        dot.style.cssText = "position:fixed;z-index:2147483647;width:18px;height:18px;margin:-9px;border-radius:50%;left:-50px;" +
            "background:rgba(220,38,38,.65);pointer-events:none";
        addEventListener("mousemove", (event) => { dot.style.left = event.clientX + "px"; dot.style.top = event.clientY + "px"; }, true);
        document.body.append(bar, dot);
    }
    bar.textContent = text;
}"""
# The place on the screen where a unit of the context begins.
_PLACE: Final = """(surface, [words, end]) => {
    let left = surface.textContent.indexOf(words) + (end ? words.length : 0);
    const walker = document.createTreeWalker(surface, NodeFilter.SHOW_TEXT);
    let node = walker.nextNode();
    while (left > node.data.length && walker.nextNode()) { left -= node.data.length; node = walker.currentNode; }
    const range = document.createRange();
    range.setStart(node, Math.max(0, left - (end ? 1 : 0))); range.setEnd(node, Math.min(node.data.length, left + (end ? 0 : 1)));
    const box = range.getBoundingClientRect();
    return [end ? box.right : box.left, box.top + box.height / 2];
}"""


def record_tour(video: Path) -> None:
    """Record the tour and write it to *video*."""
    with TemporaryDirectory() as folder:
        store = Path(folder, "tour.duckdb")
        _make_project(store)
        os.environ["PLAYWRIGHT_BROWSERS_PATH"] = str(_with_ffmpeg(Path(folder, "browsers")))
        browser_path = next(path for name in _CHROMIUM if (path := shutil.which(name)))
        with _served(store) as address, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=browser_path, args=list(_FLAGS))
            _warm_up(browser.new_page(), address)
            context = browser.new_context(viewport=_SIZE, record_video_dir=folder, record_video_size=_SIZE)  # type: ignore[arg-type]
            page = context.new_page()
            _tour(Stage(page), address)
            context.close()
            assert page.video is not None
            recorded = page.video.path()
            browser.close()
        ffmpeg = ["ffmpeg", "-loglevel", "error", "-y", "-i", str(recorded), *_ENCODING, str(video)]
        subprocess.run(ffmpeg, check=True)  # noqa: S603


def _make_project(store: Path) -> None:
    """Import the sample posts, add an account, and put the records into the work list."""
    sample = ROOT / "docs" / "samples" / "questions.capid.jsonl"
    command = ["import", str(sample), "--input-format", "capid", "--skip-values", "--store", str(store)]
    subprocess.run([sys.executable, "-m", "piiloom", *command], check=True, stdout=subprocess.DEVNULL)  # noqa: S603
    with Store.open(store) as opened:
        records = list(iter_records(opened))
    first = next(record.id for record in records if _FIRST in record.context)
    services = open_services(store)
    try:
        services.accounts.add(_NAME, "admin", password=_PASSWORD)
        services.pool.add(_NAME, record_ids=[record.id for record in records], wanted=1)
        services.work.assign(_NAME, [first], [_NAME])
    finally:
        services.close()


def _with_ffmpeg(folder: Path) -> Path:
    """Give Playwright the ffmpeg of this machine in the place of its own download."""
    listed = json.loads((files("playwright") / "driver" / "package" / "browsers.json").read_text(encoding="utf-8"))["browsers"]
    revision = next(one["revision"] for one in listed if one["name"] == "ffmpeg")
    place = folder / f"ffmpeg-{revision}"
    place.mkdir(parents=True)
    found = shutil.which("ffmpeg")
    if found is None:
        sys.exit("ffmpeg is not installed: apt-get install ffmpeg")
    (place / "ffmpeg-linux").symlink_to(found)
    (place / "INSTALLATION_COMPLETE").touch()
    return folder


@contextmanager
def _served(store: Path) -> Iterator[str]:
    command = [sys.executable, "-m", "piiloom", "annotate", "--store", str(store), "--port", "0"]
    process = subprocess.Popen(command, cwd=store.parent, stdout=subprocess.PIPE, text=True)  # noqa: S603
    try:
        assert process.stdout is not None
        found = re.search(r"http://[\w.:]+", process.stdout.readline())
        assert found is not None
        yield found[0]
    finally:
        process.terminate()
        process.communicate(timeout=30)


class Stage:
    """The page that is recorded, with its caption."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def say(self, text: str, seconds: float = 0.0) -> None:
        """Show *text* as the caption, and leave time to read it."""
        self.page.evaluate(_OVERLAY, text)
        self.page.wait_for_timeout((seconds or 1.0 + 0.045 * len(text)) * 1000)

    def press(self, *keys: str, pause: float = 0.7) -> None:
        """Press *keys*, one after the other."""
        for key in keys:
            self.page.keyboard.press(key)
            self.page.wait_for_timeout(pause * 1000)

    def wait(self, selector: str, text: str | None = None) -> None:
        """Wait until *selector* with *text* is to be seen."""
        self.page.locator(selector).filter(has_text=text or "").first.wait_for(timeout=60_000)

    def drag(self, words: str) -> None:
        """Select *words* of the context with the mouse."""
        surface = self.page.locator(".text.context")
        (x, y), (u, v) = surface.evaluate(_PLACE, [words, False]), surface.evaluate(_PLACE, [words, True])
        self.page.mouse.move(x - 60, y + 40)
        self.page.mouse.move(x + 1, y, steps=12)
        self.page.mouse.down()
        self.page.mouse.move(u - 1, v, steps=18)
        self.page.wait_for_timeout(500)
        self.page.mouse.up()


def _log_in(page: Page, delay: int = 0) -> None:
    page.type("input[name=name]", _NAME, delay=4 * delay)
    page.type("input[name=password]", _PASSWORD, delay=delay)
    page.keyboard.press("Enter")
    page.locator(".text.context").filter(has_text=_FIRST).first.wait_for(timeout=60_000)


def _warm_up(page: Page, address: str) -> None:
    """Open the pages once, so that the recording does not wait for what the app loads first."""
    page.goto(f"{address}/account/login")
    _log_in(page)
    page.goto(f"{address}/guidelines")
    page.locator(".st-key-piiloom_guidelines").wait_for(timeout=60_000)
    page.close()


def _tour(stage: Stage, address: str) -> None:
    page = stage.page
    page.goto(f"{address}/account/login")
    stage.say("Log in with the account that an admin of the project has made for you.", 2)
    _log_in(page, delay=20)
    stage.say("One record: a question, and the text of the person who asks it.")
    stage.say("Marked words are personal information: the colour is the type, the ground the relevance.")
    stage.press("Tab", "Tab", "Tab", pause=0.6)
    stage.say("High: without it, nobody could answer, or only with great difficulty. Low: all the rest.")
    stage.say("P hides everything of low relevance. Can the question still be answered?", 2)
    stage.press("p", pause=3.0)
    stage.press("p")
    stage.say("R changes the relevance of the selected span, U takes the last step back.", 2)
    stage.press("r", "u", pause=1.8)
    stage.say("Something is not marked: select it, then type a few letters of its type.", 1.5)
    stage.drag("spring")
    page.wait_for_timeout(1200)
    page.keyboard.type("date", delay=180)
    page.wait_for_timeout(900)
    stage.press("Enter", pause=2.0)
    stage.say("A accepts the record, and the next one comes. Every step is saved at once.", 2)
    stage.press("a", pause=2.5)
    stage.say("The question mark shows all keys; F flags a record, X rejects it with a reason.", 1.5)
    stage.press("?", pause=3.0)
    stage.press("Escape")
    page.goto(f"{address}/guidelines")
    stage.wait(".st-key-piiloom_guidelines", "Relevance")
    stage.say("The guidelines have the rules, examples and border cases. Ask what they leave open.", 1.5)
    heading = page.locator(".st-key-piiloom_guidelines h3").filter(has_text="Cases in which people hesitate")
    heading.evaluate("(target) => target.scrollIntoView({behavior: 'smooth', block: 'start'})")
    page.wait_for_timeout(4000)
    stage.say("Then practise on the page Training, and begin.")


if __name__ == "__main__":
    record_tour(Path(sys.argv[1]) if len(sys.argv) > 1 else VIDEO)
