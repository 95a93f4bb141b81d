"""sdg-hub: a flow of prompt builder, chat, extractor and JSON parser, with a checkpoint folder, 64 at once, its retries on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import yaml
from sdg_hub import Flow

TITLE = "sdg-hub"
PACKAGE = "sdg-hub"
REQUIREMENTS = ("sdg-hub==0.9.4",)
KEEPING = {"keep_every": 100}


def flow_file(spec: dict[str, Any], columns: list[str], folder: Path) -> Path:
    """Write the flow and its prompt as sdg-hub reads them; the path of the flow."""
    prompt = [{"role": "system", "content": spec["system"]}, {"role": "user", "content": spec["template"]}]
    folder.joinpath("prompt.yaml").write_text(yaml.safe_dump(prompt))
    build = {"block_name": "build", "input_cols": columns, "output_cols": "messages", "prompt_config_path": "prompt.yaml"}
    chat = {"block_name": "chat", "input_cols": "messages", "output_cols": "answer", "async_mode": True}
    chat |= {"max_tokens": spec["max_tokens"], "response_format": {"type": "json_object"}}
    extract = {"block_name": "extract", "input_cols": "answer", "output_cols": [], "extract_content": True}
    parse = {"block_name": "parse", "input_cols": "extract_content", "output_cols": [], "field_prefix": "reply_"}
    blocks = (("PromptBuilderBlock", build), ("LLMChatBlock", chat), ("LLMResponseExtractorBlock", extract), ("JSONParserBlock", parse))
    flow = {
        "metadata": {"name": "bench", "description": "one call an item", "version": "1.0.0", "id": "bench-flow"},
        "blocks": [{"block_type": kind, "block_config": settings} for kind, settings in blocks],
    }
    path = folder / "flow.yaml"
    path.write_text(yaml.safe_dump(flow))
    return path


def measure(spec: dict[str, Any]) -> dict[str, Any]:
    """Write the replies to ``rows``."""
    items = pd.DataFrame([json.loads(line) for line in Path(spec["items"]).read_text().splitlines()])
    flow = Flow.from_yaml(str(flow_file(spec, list(items.columns), Path(spec["state"]))))
    flow.set_model_config(model=f"openai/{spec['model']}", api_base=spec["base_url"], api_key="bench")
    keeping = {"checkpoint_dir": str(Path(spec["state"], "checkpoints")), "save_freq": spec["keep_every"]} if "keep_every" in spec else {}
    made = flow.generate(items, max_concurrency=spec["concurrency"], **keeping)
    replies = made[[name for name in made.columns if name.startswith("reply_")]].rename(columns=lambda name: name.removeprefix("reply_"))
    replies.to_json(spec["rows"], orient="records", lines=True)
    return {}
