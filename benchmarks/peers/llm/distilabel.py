"""distilabel: a pipeline of a generator step and a TextGeneration task in JSON mode, batches of 64, its retries on."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

# It silences httpx, but the openai SDK speaks through httpx2 by now: without this each request is drawn on the terminal.
os.environ.setdefault("DISTILABEL_LOG_LEVEL", "WARNING")

from distilabel.models import OpenAILLM
from distilabel.pipeline import Pipeline
from distilabel.steps import LoadDataFromDicts
from distilabel.steps.tasks import TextGeneration

TITLE = "distilabel"
PACKAGE = "distilabel"
REQUIREMENTS = ("distilabel[openai]==1.5.3", "requests==2.34.2")


def measure(spec: dict[str, Any]) -> dict[str, Any]:
    """Write the replies to ``rows``."""
    items = [json.loads(line) for line in Path(spec["items"]).read_text().splitlines()]
    with Pipeline(name="bench", cache_dir=spec["state"]) as pipeline:
        load = LoadDataFromDicts(data=items, batch_size=spec["concurrency"])
        write = TextGeneration(
            llm=OpenAILLM(
                model=spec["model"],
                base_url=spec["base_url"],
                api_key="bench",
                generation_kwargs={"max_new_tokens": spec["max_tokens"], "response_format": {"type": "json_object"}},
            ),
            system_prompt=spec["system"],
            template=spec["template"],
            columns=list(items[0]),
            input_batch_size=spec["concurrency"],
        )
        load >> write
    made = pipeline.run(use_cache=True)
    texts = [text for split in made.values() for text in split["train"]["generation"]]
    rows = [json.loads(text) for text in texts if text]
    Path(spec["rows"]).write_text("".join(json.dumps(row) + "\n" for row in rows))
    return {}
