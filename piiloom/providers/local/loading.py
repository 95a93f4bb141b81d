"""Load a model and its tokenizer from their folders, which are checked before anything heavy is imported.

The digest of a base model is over every file that shapes a reply: configuration, weights, tokenizer, chat template. It names the model in
the journal of replies, and a trained adapter (``piiloom.json``) names its base by it. Weights are read once for it, a few seconds for
each ten GB. The libraries come with an extra and are slow to import.

``PromptLayout`` turns messages into tokens, the same for asking a local model and for training it. The prompt is what the tokenizer's chat
template makes of the messages, with the opening of the model's turn. A template that takes no message of the system gets it at the head of
the user's message, with a blank line between. A tokenizer without a template gets ``FALLBACK``, the layout of Alpaca, and so does any
tokenizer where that is asked for. An instruction that has the heading itself, as one with words before it, is taken as it is.

The answer's tokens are made by themselves and follow those of the prompt. So a prompt has the same tokens whether an answer
follows (training) or not (asking), whatever the white space at their seam; taken together, tokens could join across it.

White space at the end of a message is left out: the templates that prompts are made of leave it out, and so do most chat templates.
An export has it, and a model is to be asked what it has learnt.

Texts may have what looks like a special token (``<|im_end|>``). In a message it is tokenized as the characters it consists of, so no
text can end a turn or open one.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

from piiloom.foundation.errors import PiiloomError, UsageError, how_to_install
from piiloom.foundation.torch_devices import chosen_device
from piiloom.providers.protocol import Message

_HEADING: Final = "### Instruction:\n"
_HEADED: Final = "headed"  # the role of an instruction with its heading
FALLBACK: Final = {
    "system": f"{_HEADING}{{}}\n\n",
    _HEADED: "{}\n\n",
    "user": "### Input:\n{}\n\n",
    "assistant": "### Response:\n{}\n\n",
}
FALLBACK_OPENING: Final = "### Response:\n"
# Stand-ins for contents while a template is rendered; letters only, so that no template trims, escapes or splits them.
_SENTINEL: Final = "piiloomcontent{}end"


class PromptLayout:
    """The layout for *tokenizer* (of transformers): that of its chat template, or that of Alpaca if *alpaca*.

    Raises ``UsageError`` if the chat template cannot be used.
    """

    def __init__(self, tokenizer: Any, *, alpaca: bool = False) -> None:
        self._tokenizer, self.alpaca = tokenizer, alpaca
        self._special = sorted({str(token) for token in tokenizer.get_added_vocab()} | set(tokenizer.all_special_tokens), key=len)
        self._joins_system = self.has_template and not self._takes_system()
        self._end = self._end_of_turn()

    @property
    def has_template(self) -> bool:
        """Whether the layout is that of the tokenizer's chat template."""
        return bool(self._tokenizer.chat_template) and not self.alpaca

    def prompt(self, messages: Sequence[Message]) -> list[int]:
        """Return the tokens of *messages* and of the opening of the model's turn."""
        given: list[tuple[str, str]] = [(message.role, message.content.rstrip()) for message in messages]
        if self._joins_system:
            given = _with_system_joined(given)
        if not self.has_template:
            given = [(_HEADED if role == "system" and _HEADING in content else role, content) for role, content in given]
        if any(self._looks_special(content) for _, content in given):
            return self._in_parts(given)
        return self._opening(self._rendered(given, opened=True))

    def answer(self, text: str) -> list[int]:
        """Return the tokens of an answer, with the one that ends the turn."""
        return [*self._content(text), self._end]

    def end_tokens(self) -> list[int]:
        """The tokens at which an answer ends: that of the layout, and the tokenizer's own."""
        return sorted({self._end, *([] if self._tokenizer.eos_token_id is None else [int(self._tokenizer.eos_token_id)])})

    def read(self, tokens: Sequence[int]) -> str:
        """Return the text of an answer's *tokens*."""
        return str(self._tokenizer.decode(list(tokens), skip_special_tokens=True, clean_up_tokenization_spaces=False))

    def _content(self, text: str) -> list[int]:
        return list(self._tokenizer(text, add_special_tokens=False, split_special_tokens=True, **_PLAIN)["input_ids"])

    def _looks_special(self, text: str) -> bool:
        return any(token in text for token in self._special)

    def _in_parts(self, messages: Sequence[tuple[str, str]]) -> list[int]:
        """Tokenize what the template adds and the contents apart, so that contents have no special tokens."""
        marks = [_SENTINEL.format(number) for number in range(len(messages))]
        rest = self._rendered([(role, mark) for (role, _), mark in zip(messages, marks, strict=True)], opened=True)
        tokens: list[int] = []
        for number, ((_, content), mark) in enumerate(zip(messages, marks, strict=True)):
            before, found, rest = rest.partition(mark)
            if not found:
                raise UsageError("the chat template does not give the messages in their order", remedy="Use another base model")
            tokens += [*(self._tokens(before) if number else self._opening(before)), *self._content(content)]
        return tokens + self._tokens(rest)

    def _opening(self, text: str) -> list[int]:
        """Tokenize the beginning of a prompt: a template writes the token that begins a text itself, ``FALLBACK`` does not."""
        if self.has_template:
            return self._tokens(text)
        tokens = list(self._tokenizer(text, add_special_tokens=True, **_PLAIN)["input_ids"])
        return tokens[:-1] if tokens and tokens[-1] == self._tokenizer.eos_token_id else tokens

    def _tokens(self, text: str) -> list[int]:
        return list(self._tokenizer(text, add_special_tokens=False, **_PLAIN)["input_ids"])

    def _rendered(self, messages: Sequence[tuple[str, str]], *, opened: bool) -> str:
        if not self.has_template:
            return "".join(FALLBACK[role].format(content) for role, content in messages) + (FALLBACK_OPENING if opened else "")
        turns = [{"role": role, "content": content} for role, content in messages]
        # Models that think before they answer are asked not to: nothing in a release shows them how.
        return str(self._tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=opened, enable_thinking=False))

    def _takes_system(self) -> bool:
        """Whether the template renders a message of the system. Raises ``UsageError`` if it renders not even one of the user."""
        try:
            self._rendered([("user", "two")], opened=True)
        except Exception as error:
            raise UsageError("the tokenizer's chat template cannot be used", remedy="Use another base model") from error
        try:
            return "one" in self._rendered([("system", "one"), ("user", "two")], opened=True)
        except Exception:  # noqa: BLE001 - templates raise what they like for a role that they don't know
            return False

    def _end_of_turn(self) -> int:
        """Return the token that ends an answer: the special one that the template has behind it, or else the tokenizer's end."""
        if self.has_template:
            mark = _SENTINEL.format("")
            text = self._rendered([("user", "two"), ("assistant", mark)], opened=False)
            behind = self._tokens(text.partition(mark)[2].lstrip())
            if behind and int(behind[0]) in self._special_ids():
                return int(behind[0])
        if self._tokenizer.eos_token_id is None:
            raise UsageError("the tokenizer has no token that ends a text", remedy="Use another base model")
        return int(self._tokenizer.eos_token_id)

    def _special_ids(self) -> set[int]:
        return {int(number) for number in self._tokenizer.get_added_vocab().values()} | set(self._tokenizer.all_special_ids)


_PLAIN: Final = {"truncation": False, "padding": False, "verbose": False}


def _with_system_joined(messages: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    system = "\n\n".join(content for role, content in messages if role == "system")
    rest = [(role, content) for role, content in messages if role != "system"]
    if system and rest:
        rest[0] = (rest[0][0], f"{system}\n\n{rest[0][1]}")
    return rest


EXTRA: Final = "train"
# They tell each other's users, and so ours, what will be called otherwise one day.
_TALKATIVE: Final = ("transformers", "peft", "trl", "accelerate")


def library(name: str) -> Any:
    """Return the module *name*, imported now. Raises ``UsageError`` with the command that installs it if it is missing."""
    for other in _TALKATIVE:
        warnings.filterwarnings("ignore", category=FutureWarning, module=rf"{other}\b")
    try:
        return importlib.import_module(name)
    except ImportError as error:
        top = name.partition(".")[0]
        if error.name is not None and error.name.partition(".")[0] != top:
            top = f"{top} (it lacks {error.name})"
        raise UsageError(f"a local model needs the library {top}, which is not installed", remedy=how_to_install_it()) from error


def how_to_install_it() -> str:
    """Return the remedy for a missing library."""
    return f"Install it: {how_to_install(EXTRA)}"


def out_of_memory(error: BaseException) -> bool:
    """Whether *error* says that the memory of a GPU or of the machine is not enough; some libraries say so by a plain ``RuntimeError``."""
    if isinstance(error, MemoryError | library("torch").OutOfMemoryError):
        return True
    said = str(error).casefold() if isinstance(error, RuntimeError) else ""
    return "out of memory" in said or "can't allocate memory" in said or "alloc_failed" in said


BASE_OPTION: Final = "--model"
ADAPTER_OPTION: Final = "--adapter"
CARD: Final = "piiloom.json"  # what a training of piiloom writes into a folder, as its last file
ADAPTER_CONFIG: Final = "adapter_config.json"
CONFIG: Final = "config.json"
TOKENIZERS: Final = ("tokenizer.json", "tokenizer.model", "vocab.json", "vocab.txt", "spiece.model")
_ADAPTER_WEIGHTS: Final = ("adapter_model.safetensors", "adapter_model.bin")
# What shapes a reply beside the weights. Special tokens and templates stand in files of their own in some folders.
_SHAPING: Final = (
    CONFIG,
    "generation_config.json",
    *TOKENIZERS,
    "merges.txt",
    "added_tokens.json",
    "special_tokens_map.json",
    "tokenizer_config.json",
    "chat_template.jinja",
    "chat_template.json",
)
_EXAMPLE: Final = "Name the folder of a local causal language model, with config.json, tokenizer and weights (docs/training-llm.md)"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFolder:
    """A base model, and an adapter for it if there is one. ``digest`` names both; ``context`` is how many tokens fit, if it is said."""

    base: Path
    adapter: Path | None
    digest: str
    context: int | None

    @property
    def name(self) -> str:
        """How the model is called: the name of the base's folder, and that of the adapter's."""
        adapter = "" if self.adapter is None else f"+{self.adapter.resolve().name}"
        return f"{self.base.resolve().name}{adapter}"


def open_folder(base: Path, adapter: Path | None = None) -> ModelFolder:
    """Check both folders. Raises ``UsageError`` for what lacks a file, is damaged, or does not belong together."""
    config = check_base(base)
    digest = base_digest(base)
    if adapter is not None:
        _check_adapter(adapter, base, digest)
        digest = _digest([adapter / ADAPTER_CONFIG, *_weights_of_adapter(adapter)], digest)
    return ModelFolder(base=base, adapter=adapter, digest=digest, context=_context(config))


def check_base(base: Path) -> Mapping[str, Any]:
    """Return the configuration of the base model in *base*; raises ``UsageError`` if it is no folder of a model."""
    where = f"{BASE_OPTION} {base}"
    if not base.is_dir():
        raise UsageError("there is no such folder", where=where, remedy=_EXAMPLE)
    if (base / ADAPTER_CONFIG).is_file() and not (base / CONFIG).is_file():
        raise UsageError("this is an adapter, not a base model", where=where, remedy=f"Give it with {ADAPTER_OPTION}, and its base here")
    config = _json(base / CONFIG, where, _EXAMPLE)
    if not any((base / name).is_file() for name in TOKENIZERS):
        raise UsageError(f"the folder has no tokenizer (none of {', '.join(TOKENIZERS)})", where=where, remedy=_EXAMPLE)
    if not _weights(base):
        raise UsageError("the folder has no weights (no *.safetensors and no pytorch_model*.bin)", where=where, remedy=_EXAMPLE)
    return config


def base_digest(base: Path) -> str:
    """Return the digest of the base model in *base*."""
    return _digest([*(base / name for name in _SHAPING), *_weights(base)])


def _check_adapter(adapter: Path, base: Path, digest: str) -> None:
    where = f"{ADAPTER_OPTION} {adapter}"
    remedy = "Name the folder that piiloom train lora wrote, or one of peft"
    if not adapter.is_dir():
        raise UsageError("there is no such folder", where=where, remedy=remedy)
    config = _json(adapter / ADAPTER_CONFIG, where, remedy)
    if not _weights_of_adapter(adapter):
        raise UsageError(f"the folder has no weights of an adapter (none of {', '.join(_ADAPTER_WEIGHTS)})", where=where, remedy=remedy)
    card = adapter / CARD
    if not card.is_file():
        return
    stated = _json(card, where, "Copy the whole folder again, or train again")
    trained = stated.get("base")
    if not isinstance(trained, Mapping) or stated.get("family") != "lora":
        raise UsageError(f"its {CARD} describes no adapter of a language model", where=where, remedy=remedy)
    if trained.get("sha256") != digest:
        name = trained.get("name") or Path(str(config.get("base_model_name_or_path") or "?")).name
        problem = f"the adapter was trained on another base model ({name}) than the one in {base}"
        raise UsageError(problem, where=where, remedy=f"Give the folder of that model, unchanged, with {BASE_OPTION}")


def _json(path: Path, where: str, remedy: str) -> Mapping[str, Any]:
    if not path.is_file():
        raise UsageError(f"the folder has no {path.name}", where=where, remedy=remedy)
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise UsageError(f"its {path.name} is damaged", where=where, remedy="Copy the whole folder again")
    return found


def _weights(base: Path) -> list[Path]:
    safe = sorted(base.glob("*.safetensors"))
    return safe or sorted(base.glob("pytorch_model*.bin"))


def _weights_of_adapter(adapter: Path) -> list[Path]:
    return [adapter / name for name in _ADAPTER_WEIGHTS if (adapter / name).is_file()][:1]


def _context(config: Mapping[str, Any]) -> int | None:
    for part in (config, config.get("text_config")):
        found = part.get("max_position_embeddings") if isinstance(part, Mapping) else None
        if isinstance(found, int) and found > 0:
            return found
    return None


def _digest(files: Iterable[Path], begun: str = "") -> str:
    """Return a SHA-256 over names and contents of those of *files* that there are."""
    whole = hashlib.sha256(begun.encode())
    for path in files:
        if path.is_file():
            with path.open("rb") as fh:
                whole.update(f"{path.name}\0{hashlib.file_digest(fh, 'sha256').hexdigest()}\n".encode())
    return whole.hexdigest()


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
