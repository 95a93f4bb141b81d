"""A tiny randomly initialised Llama with a tokenizer of its own, written to a folder as a real model is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from piiloom.providers.local.loading import library

# In the manner of ChatML; the second one trims contents and knows no system, as some real ones.
TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
STRICT_TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}{% if message['role'] == 'system' %}{{ raise_exception('no system') }}{% endif %}"
    "[{{ message['role'] }}] {{ message['content'] | trim }}{% if message['role'] == 'assistant' %}{{ eos_token }}{% endif %}{% endfor %}"
    "{% if add_generation_prompt %} [assistant] {% endif %}"
)
SENTENCES = [
    "As a nurse with asthma I ask whether I may work nights. Question: Text: I live in Leeds with my sister.",
    '[{"value": "asthma", "type": "health", "relevance": "high"}, {"value": "Leeds", "type": "location", "relevance": "low"}]',
    "Label the personal information in the text. <health high>asthma</health> system user assistant",
]


def make_tokenizer(template: str | None = TEMPLATE, *, also: Sequence[str] = (), size: int = 400) -> Any:
    """Return a tokenizer that has learnt ``SENTENCES``, and *also* those."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    plain = Tokenizer(models.BPE())
    plain.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    plain.decoder = decoders.ByteLevel()
    special = ["<s>", "</s>", "<pad>", "<|im_start|>", "<|im_end|>"]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    plain.train_from_iterator([*SENTENCES, *also], trainers.BpeTrainer(vocab_size=size, special_tokens=special, initial_alphabet=alphabet))
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=plain,
        bos_token="<s>",
        eos_token="</s>",
        pad_token="<pad>",
        additional_special_tokens=special[3:],
    )
    tokenizer.chat_template = template
    return tokenizer


def write_model(
    folder: Path, template: str | None = TEMPLATE, *, seed: int = 1, context: int = 4096, always: str | None = None, **options: Any
) -> Path:
    """Write model and tokenizer to *folder*; another *seed* gives other weights. A model with *always* says nothing but that token.

    *options* are those of ``make_tokenizer``.
    """
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM
    from transformers.utils import logging

    torch.set_num_threads(1)
    tokenizer = make_tokenizer(template, **options)
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=context,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        initializer_range=0.5,
    )
    logging.disable_progress_bar()
    model = LlamaForCausalLM(config)
    if always is not None:  # every token is embedded alike, the layers add nothing, and the head knows one token only
        model.model.embed_tokens.weight.data.fill_(1)
        for layer in model.model.layers:
            layer.self_attn.o_proj.weight.data.zero_()
            layer.mlp.down_proj.weight.data.zero_()
        model.lm_head.weight.data.zero_()
        model.lm_head.weight.data[tokenizer.convert_tokens_to_ids(always)] = 1
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def write_adapter(base: Path, folder: Path) -> Path:
    """Write an adapter with random weights for the model in *base*, as peft writes it."""
    import torch
    from transformers import AutoModelForCausalLM

    peft = library("peft")
    torch.manual_seed(3)
    model = AutoModelForCausalLM.from_pretrained(base)
    config = peft.LoraConfig(r=4, lora_alpha=64, target_modules=["q_proj", "down_proj"], task_type="CAUSAL_LM", init_lora_weights=False)
    peft.get_peft_model(model, config).save_pretrained(folder)
    return folder
