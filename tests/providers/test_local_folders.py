"""What is checked of a model's folders before anything heavy is loaded, and which provider settings name. Needs no torch."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from piiloom.detection.detector_settings import ModelSettings
from piiloom.foundation.errors import UsageError
from piiloom.providers.local import loading
from piiloom.providers.local.loading import base_digest, open_folder

CONFIG = {"model_type": "llama", "max_position_embeddings": 2048}


@pytest.fixture
def base(tmp_path: Path) -> Path:
    return folder(tmp_path / "base", {"config.json": json.dumps(CONFIG), "tokenizer.json": "{}", "model.safetensors": "weights"})


@pytest.fixture
def adapter(tmp_path: Path) -> Path:
    files = {"adapter_config.json": '{"base_model_name_or_path": "models/llama"}', "adapter_model.safetensors": "more"}
    return folder(tmp_path / "adapter", files)


def folder(path: Path, files: dict[str, str]) -> Path:
    path.mkdir()
    for name, content in files.items():
        (path / name).write_text(content)
    return path


def test_the_digest_names_all_that_shapes_a_reply(base: Path, adapter: Path) -> None:
    digests = [open_folder(base).digest, open_folder(base, adapter).digest]
    for path in (base / "tokenizer_config.json", base / "chat_template.jinja", base / "model.safetensors"):
        path.write_text("changed")
        digests.append(open_folder(base).digest)
    (adapter / "adapter_model.safetensors").write_text("changed")
    digests.append(open_folder(base, adapter).digest)
    (base / "README.md").write_text("shapes nothing")
    assert len(set(digests)) == len(digests)
    assert open_folder(base).digest == digests[4]
    assert open_folder(base).context == 2048


@pytest.mark.parametrize(
    ("missing", "words"),
    [("config.json", "has no config.json"), ("tokenizer.json", "has no tokenizer"), ("model.safetensors", "has no weights")],
)
def test_a_base_that_lacks_a_file_is_told_in_a_line(base: Path, missing: str, words: str) -> None:
    (base / missing).unlink()
    with pytest.raises(UsageError, match=words) as caught:
        open_folder(base)
    assert "\n" not in str(caught.value)


def test_folders_that_are_none(base: Path, adapter: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"--model .*none: there is no such folder"):
        open_folder(tmp_path / "none")
    with pytest.raises(UsageError, match=r"--adapter .*none: there is no such folder"):
        open_folder(base, tmp_path / "none")
    with pytest.raises(UsageError, match="an adapter, not a base model"):
        open_folder(adapter)
    with pytest.raises(UsageError, match=r"has no adapter_config\.json"):
        open_folder(base, base)
    (base / "config.json").write_text("{")
    with pytest.raises(UsageError, match=r"config\.json is damaged"):
        open_folder(base)


def test_an_adapter_says_which_base_it_was_trained_on(base: Path, adapter: Path) -> None:
    card = {"family": "lora", "base": {"name": "llama-3", "sha256": base_digest(base)}}
    (adapter / "piiloom.json").write_text(json.dumps(card))
    assert open_folder(base, adapter).name == "base+adapter"
    (base / "model.safetensors").write_text("another model")
    with pytest.raises(UsageError, match=r"trained on another base model \(llama-3\)"):
        open_folder(base, adapter)
    (adapter / "piiloom.json").write_text('{"family": "encoder"}')
    with pytest.raises(UsageError, match="describes no adapter"):
        open_folder(base, adapter)


def test_settings_name_the_provider(base: Path, adapter: Path, tmp_path: Path) -> None:
    replies = tmp_path / "replies.duckdb"
    settings = ModelSettings(provider="local", replies=replies, model=str(base), adapter=adapter)
    assert settings.name == "base+adapter"
    assert settings.spec().priced
    same = ModelSettings(provider="local", replies=replies, model=str(base), adapter=adapter, device="cpu", batch_size=2)
    assert settings.identity == same.identity, "where it runs shapes no reply"
    (adapter / "adapter_model.safetensors").write_text("trained anew")
    assert settings.identity != ModelSettings(provider="local", replies=replies, model=str(base)).identity
    with pytest.raises(UsageError, match="--model"):
        ModelSettings(provider="local", replies=replies)
    with pytest.raises(UsageError, match="batch_size: must be at least 1"):
        ModelSettings.of({"provider": "local", "model": str(base), "batch_size": 0})


def test_a_missing_library_is_told_with_the_extra(base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    monkeypatch.setattr(loading.importlib, "import_module", missing)
    with pytest.raises(UsageError, match=r"the library torch, which is not installed\. Install it: pip install -e '\.\[train\]'"):
        ModelSettings(provider="local", replies=tmp_path / "replies.duckdb", model=str(base)).connect()
