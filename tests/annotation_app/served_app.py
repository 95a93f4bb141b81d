"""The real app in a process of its own, and a client that speaks to its page as the browser does."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import connect

from tests.forked import Forked

ROOT = Path(__file__).parents[2]
_ADDRESS = re.compile(r"http://[\w.:\[\]]+")
_TOKEN = re.compile(r'name="token" value="(\w+)"')


@dataclass
class Served:
    """A server that runs; ``process`` may be ended by the test."""

    url: str
    process: subprocess.Popen | Forked

    @property
    def host(self):
        return self.url.removeprefix("http://")

    @property
    def cookie(self):
        return f"piiloom_session_{self.host.rpartition(':')[2]}"

    def client(self, **options):
        return httpx.Client(base_url=self.url, trust_env=False, timeout=30, **options)

    def log_in(self, client, name, password, **headers):
        page = client.get("/account/login")
        fields = {"name": name, "password": password, "token": _TOKEN.search(page.text)[1]}
        return client.post("/account/login", data=fields, headers={"Origin": self.url, **headers})

    def stop(self):
        """As Ctrl-C does; gives exit code, standard output and standard error."""
        self.process.send_signal(signal.SIGINT)
        out, err = self.process.communicate(timeout=30)
        return self.process.returncode, out, err


def by_piiloom(store: Path, *words: str):
    """The command line of ``piiloom annotate`` on a free port."""
    return [sys.executable, "-m", "piiloom", "annotate", "--store", str(store), "--port", "0", *words]


def by_streamlit(store: Path, *words: str, streamlit=(), script: Path = ROOT / "annotation_app" / "app.py"):
    """The command line of ``streamlit run`` on a free port, with options of Streamlit's own."""
    return [sys.executable, "-m", "streamlit", "run", str(script), "--server.port", "0", *streamlit, "--", "--store", str(store), *words]


def started(command, folder: Path, **environment: str):
    """The process of *command* in *folder*."""
    known = {"PYTHONPATH": str(ROOT), "HOME": str(folder)}
    how = {"cwd": folder, "env": {**os.environ, **known, **environment}}
    if command[0] == sys.executable and "piiloom" in command:
        return Forked(command, **how)
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **how)


@contextmanager
def served(store: Path, *words: str, folder: Path | None = None, by=by_piiloom, **environment: str):
    """The app on *store* with *words*, on a free port, in *folder*, started as *by* says."""
    process = started(by(store, *words), folder or store.parent, **environment)
    try:
        first = process.stdout.readline()
        found = _ADDRESS.search(first)
        assert found, first + process.stderr.read()
        yield Served(found[0], process)
    finally:
        if process.poll() is None:
            process.terminate()
            process.communicate(timeout=30)
        process.stdout.close()
        process.stderr.close()


@contextmanager
def tab(server: Served, cookie: str | None = None, origin: str | None = None):
    """A web socket to the page's script; gives what runs the script anew and returns what it shows."""
    headers = {"Cookie": f"{server.cookie}={cookie}"} if cookie else {}
    address = f"ws://{server.host}/_stcore/stream"
    options = {"subprotocols": ["streamlit"], "additional_headers": headers, "proxy": None, "max_size": None}
    with connect(address, origin=origin or server.url, **options) as socket:
        yield lambda: _run(socket)


def _run(socket):
    message = BackMsg()
    message.rerun_script.query_string = ""
    socket.send(message.SerializeToString())
    shown = []
    while True:
        got = ForwardMsg()
        got.ParseFromString(socket.recv(timeout=60))
        kind = got.WhichOneof("type")
        if kind == "delta" and got.delta.WhichOneof("type") == "new_element":
            shown.append(str(got.delta.new_element))
        elif kind == "script_finished" and got.script_finished == ForwardMsg.FINISHED_EARLY_FOR_RERUN:
            shown.clear()  # it went on to another page
        elif kind == "script_finished":
            return "\n".join(shown)
