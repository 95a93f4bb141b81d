"""A randomly initialised BERT of a few thousand weights and its WordPiece tokenizer, made without a download. Needs the extra ``train``."""

from __future__ import annotations

from pathlib import Path

_WORDS = "entry i have and work as a may drive case asks it asthma baker . : ? ,"
_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"


def make_tiny_base(folder: Path, *, positions: int = 64) -> Path:
    """Write a base model to *folder*, and return it."""
    import torch
    from tokenizers import Tokenizer, normalizers, pre_tokenizers, processors
    from tokenizers.models import WordPiece
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    torch.set_num_threads(1)
    torch.manual_seed(1)
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    vocabulary = [*special, *dict.fromkeys([*_WORDS.split(), *_LETTERS]), *(f"##{one}" for one in _LETTERS)]
    tokenizer = Tokenizer(WordPiece({word: at for at, word in enumerate(vocabulary)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]", mask_token="[MASK]"
    ).save_pretrained(folder)
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=positions,
    )
    BertModel(config).save_pretrained(folder)
    return folder
