"""A notebook without ipywidgets: the Python functions in a real kernel, in a process of its own."""

from __future__ import annotations

import pytest

pytest.importorskip("ipykernel", reason="ipykernel is not installed")
client = pytest.importorskip("jupyter_client", reason="jupyter_client is not installed")

pytestmark = pytest.mark.long

# Cells, each with what it displays or prints. A thread of its own is where some front ends run cells.
CELLS = {
    "import sys; sys.modules['ipywidgets'] = None\nimport piiloom": "",
    "SETTINGS = {'store': 'work.duckdb', 'pairs': 'health+occupation'}": "",
    "piiloom.generate(samples=8, **SETTINGS).accepted": "8",
    "piiloom.generate(samples=10, **SETTINGS).to_pandas()['accepted'].tolist()": "[10]",
    "piiloom.release('v1', store='work.duckdb', test_size=2).name": "'v1'",
    "[file.records for file in piiloom.export('v1', 'out', store='work.duckdb').files]": "[8, 2]",
    "len(piiloom.load('out', split='train')), piiloom.records(store='work.duckdb').to_pandas().shape[0]": "(8, 10)",
    "piiloom.report(store='work.duckdb', release='v1', out='report')['source']['release']": "'v1'",
    "piiloom.import_file('out/train.jsonl', store='other.duckdb').records": "8",
    "piiloom.evaluate('out/test.jsonl', 'out/test.jsonl').of('exact').overall['f1']": "1.0",
    "piiloom.detect_files('out/train.jsonl', 'found.jsonl', locale='en_US', workers='2').figures['documents']": "8",
    "open('a.txt', 'w').write('[PERSON_1] called.'); piiloom.surrogate('a.txt', 'filled', workers='1').replaced": "1",
    "from concurrent.futures import ThreadPoolExecutor": "",
    "ThreadPoolExecutor(1).submit(lambda: piiloom.generate(samples=3, seed=9, **SETTINGS)).result().status": "'finished'",
    "await __import__('asyncio').to_thread(piiloom.generate, samples=4, seed=9, **SETTINGS) and None": "",
    "from piiloom.cli.main import run; run(['report', '--store', 'work.duckdb', '--out', 'again'])": "report on work.duckdb",
}


@pytest.fixture
def kernel(tmp_path, monkeypatch):
    for name in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    work = tmp_path / "work"
    work.mkdir()
    manager, connected = client.manager.start_new_kernel(kernel_name="python3", cwd=str(work))
    yield connected
    connected.stop_channels()
    manager.shutdown_kernel(now=True)
    manager.cleanup_resources()


# Cells that fail, each with the last words that are shown.
FAILING = {
    "piiloom.records(store='nothing.duckdb')": "nothing.duckdb: there is no store here. Generate one first, or name another with --store",
    "piiloom.load('out', splt='train')": "unknown keyword 'splt'; did you mean split? See help(piiloom.load)",
    "piiloom.generate(provider='openai', base_url='http://127.0.0.1:9/v1')": "OPENAI_API_KEY",
}


def test_cells_of_a_notebook(kernel):
    for cell, expected in CELLS.items():
        shown: list[str] = []

        def collect(message, shown=shown):
            content = message["content"]
            if message["msg_type"] == "stream":
                shown.append(content["text"])
            elif message["msg_type"] in ("execute_result", "display_data"):
                shown += ["html"] if "text/html" in content["data"] else []
                shown.append(content["data"]["text/plain"])
            elif message["msg_type"] == "error":
                shown.append("\n".join(content["traceback"]))

        reply = kernel.execute_interactive(cell, timeout=120, output_hook=collect)["content"]
        printed = "".join(shown)
        assert reply["status"] == "ok", printed[-2000:]
        assert printed == expected or (expected.startswith("report") and printed.startswith(expected)), cell
        assert "ipywidgets" not in printed
    for cell, expected in FAILING.items():
        shown = kernel.execute_interactive(f"1\n{cell}", timeout=60, output_hook=lambda _: None)["content"]["traceback"]
        assert expected in shown[-1]
        assert cell in "".join(shown)
        assert len("\n".join(shown).splitlines()) <= 5
    completed = kernel.complete("piiloom.", reply=True, timeout=60)["content"]["matches"]
    assert {"piiloom.generate", "piiloom.records", "piiloom.load"} <= {*completed} | {f"piiloom.{name}" for name in completed}
