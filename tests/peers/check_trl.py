"""Train a tiny Llama with TRL's ``SFTTrainer`` on our files: ``python tests/peers/check_trl.py OUT``.

OUT is what ``export_for_peers.py`` wrote (or any folder with ``chat/*.jsonl``, ``alpaca/*.jsonl`` …). Model and tokenizer (bytes) are made
here, so nothing is downloaded. Checked: ``load_dataset`` takes each file, the trainer prepares it, what it trains on is the answer and
nothing else, and one step runs.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Any

os.environ["HF_HUB_OFFLINE"] = "1"

from datasets import Dataset, load_dataset
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
from trl import SFTConfig, SFTTrainer

FEW = 16
IGNORED = -100
SPECIAL = ["<pad>", "<eos>", "<|im_start|>", "<|im_end|>"]
TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{% if m['role'] == 'assistant' %}{% generation %}{{ m['content'] }}<|im_end|>"
    "{% endgeneration %}{% else %}{{ m['content'] }}<|im_end|>{% endif %}\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def tokenizer_of_bytes() -> PreTrainedTokenizerFast:
    """A tokenizer with a token for every byte, and a chat template that tells what the assistant says."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE({token: number for number, token in enumerate([*SPECIAL, *alphabet])}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(SPECIAL)
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="<pad>", eos_token="<eos>", chat_template=TEMPLATE)


def prepared(data: Dataset, tokenizer: PreTrainedTokenizerFast, folder: str, **settings: Any) -> Dataset:
    """The dataset as the trainer prepares it; one step is trained on it."""
    sizes = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "num_key_value_heads": 2}
    model = LlamaForCausalLM(LlamaConfig(vocab_size=len(tokenizer), max_position_embeddings=16_384, **sizes))
    arguments = SFTConfig(
        output_dir=folder,
        max_length=None,
        max_steps=1,
        per_device_train_batch_size=2,
        report_to=[],
        use_cpu=True,
        save_strategy="no",
        **settings,
    )
    trainer = SFTTrainer(model=model, args=arguments, train_dataset=data, processing_class=tokenizer)
    loss = trainer.train().training_loss
    if not loss > 0:
        raise SystemExit(f"the loss is {loss}")
    return trainer.train_dataset


def check(name: str, rows: Dataset, answers: list[str], tokenizer: PreTrainedTokenizerFast) -> None:
    """Compare what is trained on (the labels of *rows*) with *answers*."""
    for row, answer in zip(rows, answers, strict=True):
        learnt = tokenizer.decode([token for token in row["labels"] if token != IGNORED])
        if learnt not in (f"{answer}<|im_end|>", f"{answer}<eos>"):
            raise SystemExit(f"{name}: trained on {learnt!r} instead of {answer!r}")
    print(f"{name}: {len(answers)} rows, trained on their answers")


def main(out: Path) -> None:
    """Check all files in *out*."""
    tokenizer = tokenizer_of_bytes()
    with tempfile.TemporaryDirectory() as folder:
        for pattern in ("chat/*.jsonl", "openai/*.jsonl", "verifier/*/verifier_1.jsonl", "verifier/*/verifier_2.jsonl"):
            (file,) = out.glob(pattern)
            data = load_dataset("json", data_files=str(file), split=f"train[:{FEW}]", cache_dir=folder)
            answers = [row["messages"][-1]["content"] for row in data]
            check(pattern, prepared(data, tokenizer, folder, assistant_only_loss=True), answers, tokenizer)
        (file,) = out.glob("alpaca/*.jsonl")
        data = load_dataset("json", data_files=str(file), split=f"train[:{FEW}]", cache_dir=folder)
        pairs = data.map(
            lambda row: {"prompt": f"{row['instruction']}\n\n{row['input']}\n\n", "completion": row["output"]},
            remove_columns=data.column_names,
        )
        check("alpaca/*.jsonl", prepared(pairs, tokenizer, folder), data["output"], tokenizer)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
