"""``piiloom prices``: the list of models and prices, compared with the one of LiteLLM."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import typer

from piiloom.cli.options import json_setting
from piiloom.cli.terminal import command_group, examples, harmless, in_columns, say, say_json
from piiloom.foundation.command_line import takes
from piiloom.foundation.errors import DataError
from piiloom.foundation.settings import AnyPath, Settings, setting
from piiloom.foundation.words import counted

_CHECK = ("piiloom prices check model_prices_and_context_window.json", "piiloom prices check litellm.json --json")
# LiteLLM's name of each field that is compared. Its prices are for one token.
_FIELDS: Final = {
    "input": "input_cost_per_token",
    "cached": "cache_read_input_token_cost",
    "output": "output_cost_per_token",
    "cache_write": "cache_creation_input_token_cost",
    "max_output_tokens": "max_output_tokens",
}
_PROVIDERS: Final = ("openai", "anthropic")

prices_app = command_group("Compare the list of models and prices with the one of LiteLLM.", *_CHECK)


class CheckPrices(Settings):
    """The options of ``prices check``."""

    file: AnyPath = setting(..., "LiteLLM's model_prices_and_context_window.json, as downloaded.", metavar="FILE", argument=True)
    as_json: bool = json_setting()


@prices_app.callback()
def _group() -> None:
    """Keep ``check`` a command of its own."""


@prices_app.command("check", epilog=examples(*_CHECK))
@takes(CheckPrices)
def check(asked: CheckPrices) -> None:
    """Compare prices and output limits of OpenAI's and Anthropic's models with LiteLLM's price map; exit code 1 if some differ.

    Prices are in USD per million tokens. Left out: models turned off before the date of piiloom's list, and values that LiteLLM lacks.
    """
    from piiloom.providers.prices import load_models

    book, found, compared, unlisted = load_models(), list[dict[str, Any]](), 0, dict.fromkeys(_PROVIDERS, 0)
    for model, entry in _price_map(asked.file).items():
        provider, spec = entry["litellm_provider"], book.find(entry["litellm_provider"], model)
        if str(entry.get("deprecation_date") or book.dated) < str(book.dated):
            continue
        if spec is None:
            unlisted[provider] += 1
            continue
        compared += 1
        for field, name in _FIELDS.items():
            ours, theirs = getattr(spec, field), entry.get(name)
            if isinstance(theirs, int | float) and ours != (wanted := theirs if name == field else round(theirs * 1e6, 9)):
                found.append({"provider": provider, "model": model, "field": field, "ours": ours, "theirs": wanted})
    if asked.as_json:
        say_json({"dated": str(book.dated), "models_compared": compared, "differences": found, "only_theirs": unlisted})
    else:
        rows = [
            (one["model"], one["field"], *("–" if one[who] is None else f"{one[who]:,}" for who in ("ours", "theirs"))) for one in found
        ]
        if rows:
            say("\n".join(harmless(line) for line in in_columns([("model", "field", "ours", "theirs"), *rows], left=(0, 1))))
        others = " and ".join(f"{number:,} of {provider}" for provider, number in unlisted.items())
        say(f"{counted(compared, 'model')} compared: {counted(len(found), 'difference')}; models that only LiteLLM lists: {others}")
    if found:
        raise typer.Exit(1)


def _price_map(path: Path) -> dict[str, dict[str, Any]]:
    """Return the entries of *path* for text models of ``_PROVIDERS``; raises ``DataError`` if it is no price map."""
    try:
        read = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise DataError(f"the price map cannot be read ({type(error).__name__})", where=str(path), remedy="Download it again") from error
    entries = {name: entry for name, entry in read.items() if isinstance(entry, dict)} if isinstance(read, dict) else {}
    kept = {
        name: one for name, one in entries.items() if one.get("litellm_provider") in _PROVIDERS and one.get("mode") in {"chat", "responses"}
    }
    if not kept:
        raise DataError("the file has no model of openai or anthropic", where=str(path), remedy="Name LiteLLM's price map")
    return kept
