"""How much longer a key press takes in a long record than in a short one.

    python -m benchmarks.annotation_keys

Two editors in headless Chromium, without a server, take the same keys by turns: one over 20,000 words with 200 spans, one over 1,000
words with 10. A press is timed until the text is laid out again. The ratio is what counts: both share the machine with whatever else runs.
"""

from __future__ import annotations

import argparse
import json
from statistics import median

from tests.annotation_app.app_driver import sync_api
from tests.annotation_app.long_records import milliseconds_of, open_long
from tests.one_browser import launch

WORDS = {"short": 1_000, "long": 20_000}
KEYS = ("Tab", "r", "r", "]", "[", "Tab", "r", "Delete", "u")


def main() -> None:
    """Print the medians and their ratio as one line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=10, help="how often all keys are pressed")
    print(json.dumps(compare(parser.parse_args().rounds)))


def compare(rounds: int) -> dict[str, float]:
    """Press all keys *rounds* times in both editors by turns; return the median milliseconds of each, and long / short."""
    taken: dict[str, list[float]] = {name: [] for name in WORDS}
    with sync_api.sync_playwright() as playwright:
        browser = launch(playwright)
        editors = {name: open_long(browser.new_page(), words) for name, words in WORDS.items()}
        for _ in range(rounds):
            for key in KEYS:
                for name, editor in editors.items():
                    taken[name].append(milliseconds_of(editor, key))
        browser.close()
    short, long = (median(taken[name]) for name in ("short", "long"))
    return {"presses": len(taken["long"]), "short_ms": round(short, 1), "long_ms": round(long, 1), "ratio": round(long / short, 2)}


if __name__ == "__main__":
    main()
