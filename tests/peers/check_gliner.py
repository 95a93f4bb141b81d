"""Try a file of the format ``gliner`` with GLiNER itself: ``python tests/peers/check_gliner.py train.json`` (see README.md).

A small encoder with random weights is made here, so nothing is downloaded. The file goes through GLiNER's processor and collator,
every item of ``ner`` must arrive as a labelled span, and one training step must give a loss that falls when it is repeated.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

import torch
from gliner import GLiNER, GLiNERConfig
from gliner.data_processing.collator import SpanDataCollator
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

WIDTH = 24  # tokens of the longest span that the model can mark


def encoder_of(texts: list[str], folder: Path) -> None:
    """Save a small BERT with a vocabulary of *texts* to *folder*."""
    words = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    words.normalizer = normalizers.BertNormalizer()
    words.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    words.train_from_iterator(texts, trainers.WordPieceTrainer(vocab_size=3000, special_tokens=special, show_progress=False))
    names = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]", "mask_token": "[MASK]"}
    PreTrainedTokenizerFast(tokenizer_object=words, model_max_length=2048, **names).save_pretrained(folder)
    size = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 128}
    BertModel(BertConfig(vocab_size=words.get_vocab_size(), max_position_embeddings=2048, **size)).save_pretrained(folder)


def main(path: Path) -> None:
    """Check the file *path*."""
    rows = [row for row in json.loads(path.read_text(encoding="utf-8")) if row["tokenized_text"]]
    with tempfile.TemporaryDirectory() as folder:
        encoder_of([" ".join(row["tokenized_text"]) for row in rows], Path(folder))
        config = GLiNERConfig(model_name=folder, max_width=WIDTH, hidden_size=64, dropout=0.0, max_len=2048, max_neg_type_ratio=0)
        torch.manual_seed(1)
        model = GLiNER.from_config(config, cache_dir=None)
        collator = SpanDataCollator(model.config, data_processor=model.data_processor, prepare_labels=True)
        found = sum(int(collator(rows[at : at + 8])["labels"].sum()) for at in range(0, len(rows), 8))
        expected = sum(last - first < WIDTH for row in rows for first, last, _ in row["ner"])
        assert found == expected, f"{found} labelled spans in the batches, {expected} in the file"
        print(f"{len(rows)} texts, {expected} spans: all are in GLiNER's batches")
        batch = collator(rows[:8])
        optimizer = torch.optim.AdamW(model.model.parameters(), lr=1e-3)
        losses = []
        for _ in range(5):
            loss = model.model(**batch).loss
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        assert losses[-1] < losses[0], losses
        print(f"loss of the first batch over five steps: {losses[0]:.2f} to {losses[-1]:.2f}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
