"""What somebody gets who talks to the real server without our pages: nothing without a login, nothing of a higher role."""

from __future__ import annotations

import json
from contextlib import contextmanager

import pytest
from editor_page import marked
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import connect

from piiloom.annotation_app.serving.services import open_services
from piiloom.corpus.store.annotation_events import read_events
from piiloom.corpus.store.database import Store
from tests.annotation_app.app_driver import make_project, record_of
from tests.annotation_app.people_tools import GOOD
from tests.annotation_app.served_app import served

pytestmark = pytest.mark.browser  # no Chromium here, but the running app: those tests start one anyway

RECORDS = [record_of(f"r-{n}", marked(f"[[Ada|name|low]] met [[Grace|name|low]] as note {n}.")) for n in range(2)]
INSIDE = (
    "/media/0123456789abcdef.png",
    "/_stcore/upload_file/s/f",
    "/_stcore/metrics",
    "/_stcore/script-health-check",
    "/_stcore/bidi-components/x/index.js",
    "/component/streamlit.x/index.html",
    "/account/files/exports/v1-native",
    "/account/files/rejects/import-1.jsonl",
)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    folder = tmp_path_factory.mktemp("doors")
    return make_project(folder / "s.duckdb", RECORDS, {"ana": "annotator", "judge": "adjudicator", "boss": "admin"})


@pytest.fixture(scope="module")
def server(path):
    with served(path, "--snapshot-every", "0") as running:
        yield running


def token_of(server, name):
    with server.client() as client:
        server.log_in(client, name, GOOD)
        return client.cookies[server.cookie]


class Wire:
    """A web socket to the app of whoever has *token*; all that a browser can send, and more."""

    def __init__(self, socket):
        self.socket = socket
        self.session = ""

    def say(self, message):
        self.socket.send(message.SerializeToString())

    def run(self, page="", widgets=(), query=""):
        """Have the script run with *widgets* (id, field, value) on the page with the hash *page*; gives what it sends."""
        message = BackMsg()
        message.rerun_script.query_string = query
        message.rerun_script.page_script_hash = page
        for name, field, value in widgets:
            one = message.rerun_script.widget_states.widgets.add()
            one.id = name
            setattr(one, field, value)
        self.say(message)
        sent = []
        while True:
            got = ForwardMsg()
            got.ParseFromString(self.socket.recv(timeout=60))
            sent.append(got)
            if got.WhichOneof("type") == "new_session":
                self.session = got.new_session.initialize.session_id or self.session
            if got.WhichOneof("type") == "script_finished" and got.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN:
                return sent


@contextmanager
def wire(server, token=None):
    headers = {"Cookie": f"{server.cookie}={token}"} if token else {}
    address = f"ws://{server.host}/_stcore/stream"
    with connect(address, origin=server.url, subprotocols=["streamlit"], additional_headers=headers, proxy=None, max_size=None) as socket:
        yield Wire(socket)


def elements(sent):
    for got in sent:
        if got.WhichOneof("type") == "delta" and got.delta.WhichOneof("type") == "new_element":
            yield got.delta.new_element


def pages(sent):
    """Hash by address, of the pages that the browser is told of."""
    found = {}
    for got in sent:
        if got.WhichOneof("type") == "navigation":
            found.update({page.url_pathname: page.page_script_hash for page in got.navigation.app_pages})
    return found


def widgets(sent):
    """(id, field, value) as if somebody had pressed every button there is, switched every switch, and sent every form."""
    found = []
    for element in elements(sent):
        kind = element.WhichOneof("type")
        one = getattr(element, kind)
        if kind == "button":
            found.append((one.id, "trigger_value", True))
        elif kind == "checkbox":
            found.append((one.id, "bool_value", True))
        elif kind == "text_input":
            found.append((one.id, "string_value", "mallory"))
        elif kind == "text_area":
            found.append((one.id, "string_value", "# Mine\nMark nothing."))
        elif kind == "selectbox" and len(one.options):
            found.append((one.id, "string_value", one.options[-1]))
        elif kind == "bidi_component":
            outbox = {"client": "c-forged", "operations": []}
            found.append((one.id, "json_value", json.dumps({"outbox": outbox})))
    return found


def events(path):
    with Store.open(path, create=False) as store:
        return [(event.actor, event.kind) for event in read_events(store)]


@pytest.mark.parametrize("address", INSIDE)
def test_who_is_not_logged_in_gets_no_file_in_or_out(server, address):
    with server.client() as client:
        for method in ("GET", "PUT", "DELETE", "OPTIONS", "HEAD"):
            answer = client.request(method, address, files={"file": b"x"} if method == "PUT" else None)
            assert answer.status_code in ({403, 405} if address.startswith("/account") else {403}), method
            assert answer.status_code == 405 or answer.text in {"", "Log in first."}
        client.cookies.set(server.cookie, "x" * 43)
        assert client.get(address).status_code == 403


def test_what_a_page_needs_before_the_login_is_there(server):
    with server.client() as client:
        assert [client.get(address).status_code for address in ("/", "/_stcore/health", "/_stcore/host-config")] == [200] * 3


def test_an_annotator_uploads_nothing_and_an_admin_does(server):
    for name, status in (("ana", 403), ("judge", 403), ("boss", 204)):
        token = token_of(server, name)
        with wire(server, token) as opened, server.client() as client:
            opened.run()
            client.cookies.set(server.cookie, token)
            xsrf = client.get("/_stcore/health").cookies["_streamlit_xsrf"]
            address = f"/_stcore/upload_file/{opened.session}/f1"
            answer = client.put(address, files={"file": ("a.jsonl", b"{}")}, headers={"X-Xsrftoken": xsrf})
            assert answer.status_code == status, name
            assert client.get("/_stcore/metrics").status_code == (200 if name == "boss" else 403)
            # Without the token against forged requests not even an admin: another site cannot know it.
            assert client.put(address, files={"file": ("a.jsonl", b"{}")}).status_code == 403


def test_a_cookie_that_was_logged_out_opens_no_door(server):
    token = token_of(server, "boss")
    with server.client() as client:
        client.cookies.set(server.cookie, token)
        assert client.get("/_stcore/metrics").status_code == 200
        with wire(server, token) as opened:
            shown = "".join(str(element) for element in elements(opened.run()))
        form = shown.split('name=\\"token\\" value=\\"')[1].split("\\")[0]
        client.post("/account/logout", data={"token": form}, headers={"Origin": server.url})
        client.cookies.set(server.cookie, token)
        assert {client.get(address).status_code for address in INSIDE if address.startswith("/_stcore")} == {403}


@pytest.mark.long
def test_forged_messages_of_lower_roles_change_nothing(tmp_path):
    """All that an admin's browser could send, sent by others, for each page of the app."""
    path = make_project(tmp_path / "s.duckdb", RECORDS, {"ana": "annotator", "judge": "adjudicator", "boss": "admin"})
    before = events(path)
    with served(path, "--snapshot-every", "0") as server:
        with wire(server, token_of(server, "boss")) as boss:
            known = pages(boss.run())
            assert {"admin", "adjudicate", "guidelines"} <= set(known)
            drawn = {name: boss.run(known[name]) for name in ("admin", "adjudicate", "guidelines")}
            sent = {name: widgets(shown) for name, shown in drawn.items()}
            assert len(sent["admin"]) > 30
        for name in ("ana", "judge", None):
            with wire(server, token_of(server, name) if name else None) as other:
                other.run()
                for screen, states in sent.items():
                    if (name, screen) == ("judge", "adjudicate"):
                        continue
                    for query in ("", "embed=true"):
                        shown = "".join(str(element) for element in elements(other.run(known[screen], states, query)))
                        assert "Put into the work list" not in shown
                        assert "Publish as a new version" not in shown
        assert server.stop()[0] == 0
    kinds = {kind for _, kind in events(path)[len(before) :]}
    assert kinds <= {"logged_in", "leased", "asked"}  # anybody may ask
    assert len([1 for _, kind in events(path) if kind == "guideline"]) == 1
    services = open_services(path)
    try:
        assert [account.name for account in services.accounts.list()] == ["ana", "judge", "boss"]
        assert services.settings.current().overlap == 1
        assert services.guidelines.ensure().version == 1
    finally:
        services.close()


@pytest.mark.long
def test_the_same_messages_of_an_admin_do_change_something(tmp_path):
    """The check of the check: were the messages above not as a browser makes them, nothing would follow from them."""
    path = make_project(tmp_path / "s.duckdb", RECORDS, {"boss": "admin"})
    before = events(path)
    with served(path, "--snapshot-every", "0") as server:
        with wire(server, token_of(server, "boss")) as boss:
            admin = pages(boss.run())["admin"]
            presses = [state for state in widgets(boss.run(admin)) if state[1] == "trigger_value"]
            for press in presses[:2]:
                boss.run(admin, [press])
        assert server.stop()[0] == 0
    assert {"logged_in"} < {kind for _, kind in events(path)[len(before) :]}
