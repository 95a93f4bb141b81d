"""NeMo Data Designer: one structured column over a seed dataset, `max_parallel_requests` = concurrency, resume if possible."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import data_designer.config as dd
import pandas as pd
from data_designer.interface import DataDesigner

TITLE = "NeMo Data Designer"
PACKAGE = "data-designer"
REQUIREMENTS = ("data-designer==0.9.6",)
KEEPING = {"keep_every": 100}


def measure(spec: dict[str, Any]) -> dict[str, Any]:
    """Write the replies to ``rows``."""
    items = pd.DataFrame([json.loads(line) for line in Path(spec["items"]).read_text().splitlines()])
    provider = dd.ModelProvider(name="bench", endpoint=spec["base_url"], provider_type="openai", api_key="bench")
    parameters = dd.ChatCompletionInferenceParams(max_parallel_requests=spec["concurrency"], max_tokens=spec["max_tokens"])
    model = dd.ModelConfig(alias="bench", model=spec["model"], provider="bench", inference_parameters=parameters, skip_health_check=True)
    builder = dd.DataDesignerConfigBuilder(model_configs=[model])
    seeds = Path(spec["state"], "seeds.parquet")
    if not seeds.exists():
        items.to_parquet(seeds)
    builder.with_seed_dataset(dd.LocalFileSeedSource(path=str(seeds)))
    builder.add_column(
        dd.LLMStructuredColumnConfig(
            name="reply", prompt=spec["template"], system_prompt=spec["system"], model_alias="bench", output_format=spec["schema"]
        )
    )
    designer = DataDesigner(artifact_path=Path(spec["state"], "artifacts"), model_providers=[provider])
    designer.set_run_config(dd.RunConfig(otel_metrics_port=None, **({"buffer_size": spec["keep_every"]} if "keep_every" in spec else {})))
    made = designer.create(builder, num_records=len(items), dataset_name="bench", resume=dd.ResumeMode.IF_POSSIBLE)
    rows = [value if isinstance(value, dict) else json.loads(value) for value in made.load_dataset()["reply"]]
    Path(spec["rows"]).write_text("".join(json.dumps(row, default=list) + "\n" for row in rows))
    return {}
