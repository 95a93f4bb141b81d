"""A tiny token classifier of transformers in a folder: a BERT with random or chosen weights, and a WordPiece vocabulary."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

_SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def write_tokenizer(folder: Path, pieces: Sequence[str] = (), *, longest: int = 64) -> list[str]:
    """Write a WordPiece tokenizer that knows *pieces*, each letter, digit and sign; return its vocabulary."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    signs = [*LETTERS, *"0123456789.,:;!?'’@-/()", *(f"##{one}" for one in [*LETTERS, *"0123456789"])]
    vocabulary = list(dict.fromkeys([*_SPECIAL, *pieces, *signs]))
    tokenizer = Tokenizer(models.WordPiece({one: number for number, one in enumerate(vocabulary)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    names = dict(zip(("pad_token", "unk_token", "cls_token", "sep_token", "mask_token"), _SPECIAL, strict=True))
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=longest, **names).save_pretrained(folder)
    return vocabulary


def write_classifier(folder: Path, labels: Sequence[str], says: Mapping[str, str], *, seed: int = 0, positions: int = 64) -> None:
    """Write a classifier with *labels* that gives each token of *says* its label, and all others the first label.

    It has no layer: what it says of a token depends on that token alone.
    """
    import torch
    from transformers import BertConfig, BertForTokenClassification

    vocabulary = write_tokenizer(folder, list(says))
    torch.manual_seed(seed)
    size = max(8, len(labels))
    size += size % 2
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=size,
        num_hidden_layers=0,
        num_attention_heads=1,
        intermediate_size=8,
        max_position_embeddings=positions,
        id2label=dict(enumerate(labels)),
        label2id={label: number for number, label in enumerate(labels)},
    )
    model = BertForTokenClassification(config)
    with torch.no_grad():
        embeddings = model.bert.embeddings
        embeddings.position_embeddings.weight.zero_()
        embeddings.token_type_embeddings.weight.zero_()
        for number, piece in enumerate(vocabulary):
            embeddings.word_embeddings.weight[number].zero_()
            embeddings.word_embeddings.weight[number, labels.index(says.get(piece, labels[0]))] = 1.0
        model.classifier.weight.zero_()
        model.classifier.bias.zero_()
        for number in range(len(labels)):
            model.classifier.weight[number, number] = 3.0
    model.save_pretrained(folder)


def write_random_classifier(folder: Path, labels: Sequence[str], *, seed: int = 0, positions: int = 64) -> None:
    """Write a classifier of one layer with random weights."""
    import torch
    from transformers import BertConfig, BertForTokenClassification

    vocabulary = write_tokenizer(folder)
    torch.manual_seed(seed)
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=positions,
        initializer_range=1.0,
        id2label=dict(enumerate(labels)),
        label2id={label: number for number, label in enumerate(labels)},
    )
    BertForTokenClassification(config).save_pretrained(folder)


def change_config(folder: Path, **values: object) -> None:
    """Change keys of config.json."""
    file = folder / "config.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **values}))
