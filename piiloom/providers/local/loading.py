"""Load a model and its tokenizer from their folders."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from piiloom.foundation.errors import PiiloomError, UsageError
from piiloom.foundation.torch_devices import chosen_device
from piiloom.providers.local.libraries import library, out_of_memory
from piiloom.providers.local.model_folder import ADAPTER_OPTION, BASE_OPTION, ModelFolder
from piiloom.providers.local.prompt_layout import PromptLayout

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedModel:
    """A model that is ready to answer."""

    model: Any
    tokenizer: Any
    layout: PromptLayout
    device: str


def load_model(folder: ModelFolder, *, device: str = "auto", alpaca: bool = False) -> LoadedModel:
    """Load the model of *folder* for answering; *alpaca*: it is asked in the layout of Alpaca, whatever its chat template.

    On a GPU it has the precision of its files, on a CPU 32 bits, in which CPUs compute fastest. Code that a folder brings along is
    not run. Raises ``UsageError`` for files that cannot be loaded and for an adapter that does not fit.
    """
    chosen = chosen_device(device)
    tokenizer = load_tokenizer(folder)
    layout = PromptLayout(tokenizer, alpaca=alpaca)
    model = load_base(folder, dtype="auto" if chosen == "cuda" else library("torch").float32)
    if folder.adapter is not None:
        model = _with_adapter(model, folder)
    # A folder's own settings of sampling are not ours: decoding is greedy.
    model.generation_config = library("transformers").GenerationConfig(
        do_sample=False, eos_token_id=_end_tokens(model, layout), pad_token_id=tokenizer.pad_token_id
    )
    model.eval()
    return LoadedModel(model=model.to(chosen), tokenizer=tokenizer, layout=layout, device=chosen)


def load_tokenizer(folder: ModelFolder) -> Any:
    """Load the tokenizer of the base; it pads at the left, since answers follow at the right."""
    loader = library("transformers").AutoTokenizer.from_pretrained
    tokenizer = _loaded("the tokenizer", folder, lambda: loader(str(folder.base), local_files_only=True, trust_remote_code=False))
    tokenizer.padding_side = "left"
    if tokenizer.pad_token_id is None:
        if tokenizer.eos_token_id is None:
            problem = "the tokenizer has neither a token for padding nor one that ends a text"
            raise UsageError(problem, where=f"{BASE_OPTION} {folder.base}", remedy="Use another base model")
        tokenizer.pad_token_id = tokenizer.eos_token_id
    return tokenizer


def load_base(folder: ModelFolder, **options: Any) -> Any:
    """Load the base model, with *options* of transformers' ``from_pretrained``."""
    transformers = library("transformers")
    transformers.utils.logging.disable_progress_bar()
    loader = transformers.AutoModelForCausalLM.from_pretrained
    load = lambda: loader(str(folder.base), local_files_only=True, trust_remote_code=False, output_loading_info=True, **options)  # noqa: E731
    model, info = _loaded("the model", folder, load)
    missing = [name for name in info["missing_keys"] if "lm_head" not in name]
    if missing or info["mismatched_keys"]:
        problem = f"the weights do not fit {folder.base / 'config.json'} ({len(missing)} tensors are missing)"
        raise UsageError(problem, where=f"{BASE_OPTION} {folder.base}", remedy="Copy the whole folder again")
    return model


def _with_adapter(model: Any, folder: ModelFolder) -> Any:
    """Put the adapter on *model*. peft only warns of weights that are missing, and leaves them at random."""
    peft = library("peft")
    where = f"{ADAPTER_OPTION} {folder.adapter}"
    try:
        config = peft.PeftConfig.from_pretrained(str(folder.adapter))
        config.inference_mode = True
        adapted = peft.PeftModel(model, config)
        found = adapted.load_adapter(str(folder.adapter), "default", is_trainable=False)
    except Exception as error:
        problem = f"the adapter is damaged, or of another base model ({type(error).__name__})"
        raise UsageError(
            problem, where=where, remedy=f"Copy its folder again, and give the base that it was trained on: {BASE_OPTION}"
        ) from error
    lacking = [name for name in found.missing_keys if "lora_" in name]
    if lacking or found.unexpected_keys:
        problem = f"the adapter does not fit the base model ({len(lacking)} tensors are missing, {len(found.unexpected_keys)} are too many)"
        raise UsageError(problem, where=where, remedy=f"Give the base that it was trained on with {BASE_OPTION}")
    # Added into weights of 16 bits, an adapter would be rounded with them.
    return adapted.merge_and_unload() if model.dtype == library("torch").float32 else adapted


def _end_tokens(model: Any, layout: PromptLayout) -> list[int]:
    """Where answers end: at the layout's tokens, and at those that the model's own settings name."""
    own = model.generation_config.eos_token_id
    named = [] if own is None else own if isinstance(own, list) else [own]
    return sorted({*layout.end_tokens(), *map(int, named)})


def _loaded(what: str, folder: ModelFolder, load: Callable[[], T]) -> T:
    try:
        return load()
    except PiiloomError:
        raise
    except Exception as error:
        where = f"{BASE_OPTION} {folder.base}"
        if out_of_memory(error):
            raise UsageError("the model is larger than the memory", where=where, remedy="Use a smaller model, or --device cpu") from error
        problem = f"{what} cannot be loaded ({type(error).__name__})"
        raise UsageError(problem, where=where, remedy="Copy the whole folder again, or name another; --debug shows the cause") from error
