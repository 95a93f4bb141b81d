"""``piiloom train``: detectors that learn from a release. Each sub-command has files of its own (``train_<name>_cmd.py``)."""

from __future__ import annotations

import typer

from piiloom.cli import train_encoder_cmd, train_lora_cmd, train_openai_cmd, train_spacy_cmd, train_verifier_cmd
from piiloom.cli.options import examples

train_app = typer.Typer(
    help="Train a detector on a release or on files: an encoder, a spaCy pipeline, an adapter for a language model.",
    epilog=examples(
        "piiloom train encoder --release v1 --base models/MiniLM-L6 --out outputs/encoder",
        "piiloom detect texts.jsonl --detector encoder --model-path outputs/encoder --out outputs/found.jsonl",
        "piiloom train openai --release v1 --out outputs/tuned --budget-usd 20",
    ),
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

train_app.command("encoder", epilog=train_encoder_cmd.EPILOG)(train_encoder_cmd.encoder)
train_app.command("spacy", epilog=train_spacy_cmd.EPILOG)(train_spacy_cmd.spacy)
train_app.command("lora", epilog=train_lora_cmd.EPILOG)(train_lora_cmd.lora)
train_app.command("openai", epilog=train_openai_cmd.EPILOG)(train_openai_cmd.openai)
train_app.command("verifier-data", epilog=train_verifier_cmd.EPILOG)(train_verifier_cmd.verifier_data)
