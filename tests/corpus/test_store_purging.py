"""Forgetting texts: they are gone, even from the file's bytes after compacting, and the money stays."""

from __future__ import annotations

import subprocess
import sys
from datetime import datetime

import pytest

from piiloom.corpus.store import deleting
from piiloom.corpus.store.call_events import find_replies, iter_events
from piiloom.corpus.store.costs import journal_lines
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.deleting import compact, last_heard, purge_texts, without_texts
from piiloom.corpus.store.records import add_records, iter_records
from piiloom.corpus.store.runs import RejectRow, load_rejects, save_rejects
from piiloom.foundation.errors import NotAStore, StoreError, StoreLocked
from tests.corpus.call_stories import AT, SYSTEM, failed, new_run, reply, sent, tell, verdict

TEXTS = (b"USER-TEXT", b"REPLY-TEXT", b"SYSTEM-TEXT", b"MESSAGE-TEXT", b"FAULT-TEXT", b"LAST-REPLY-TEXT")


def fill(store, run_id="r1"):
    new_run(store, run_id)
    tell(
        store,
        sent("k1"),
        failed("k1"),
        sent("k1", 2),
        reply("k1", 2),
        verdict("k1", "leak: FAULT-TEXT"),
        sent("k2"),
        reply("k2", error="refused: FAULT-TEXT"),
        run_id=run_id,
    )
    row = RejectRow(plan_index=7, stage="question", reason_code="leak", attempts=2, last_reply="LAST-REPLY-TEXT")
    save_rejects(store, run_id, [row])


def test_texts_go_and_figures_stay(store):
    fill(store)
    before, told = journal_lines(store), [event.kind for event in iter_events(store)]
    purged = purge_texts(store, ["r1"])
    assert (purged.prompts, purged.replies, purged.rejects) == (3, 2, 1)  # two prompts of calls and the system prompt
    (line,) = journal_lines(store)
    assert (line.cost_usd, line.calls, line.unusable, line.refused, line.purged) == (0.5, 2, 1, 1, 2)
    assert [line.cost_usd for line in before] == [line.cost_usd]
    events = list(iter_events(store))
    assert [event.kind for event in events] == told
    assert not any(text.decode() in str(event.entry) for event in events for text in TEXTS)
    assert [event.entry.get("fault", event.entry.get("error")) for event in events if event.kind in {"verdict", "reply"}] == [
        None,
        "leak",
        "refused",
    ]
    assert store.rows("SELECT * FROM prompt_texts") == []
    assert [row.last_reply for row in load_rejects(store, "r1")] == [None]


def test_a_purged_reply_is_not_found_again(store):
    fill(store)
    keys = {key for (key,) in store.rows("SELECT DISTINCT key FROM call_events")}
    assert set(find_replies(store, sorted(keys))) == keys
    purge_texts(store, ["r1"])
    assert find_replies(store, sorted(keys)) == {}


def test_other_runs_keep_their_texts_and_the_prompts_they_need(store):
    for run in ("r1", "r2"):
        fill(store, run)
    untouched = list(iter_events(store, "r2"))
    assert purge_texts(store, ["r1"]).prompts == 2
    assert list(iter_events(store, "r2")) == untouched
    assert store.rows("SELECT sha256, text FROM prompt_texts") == [SYSTEM]
    assert purge_texts(store, ["r1"]) == deleting.Purged()


def test_many_events_are_purged_in_pieces(store, monkeypatch):
    monkeypatch.setattr(deleting, "_CHUNK", 4)
    new_run(store)
    for number in range(11):
        tell(store, sent(f"{number:04x}"), reply(f"{number:04x}"))
    assert (purge_texts(store, ["r1"]).replies, journal_lines(store)[0].purged) == (11, 11)
    assert [event.key for event in iter_events(store)][::2] == [f"{number:04x}" for number in range(11)]


def test_only_texts_are_taken_from_an_entry():
    entry = dict(reply().entry) | {"unknown": {"kept": 1}}
    assert without_texts(entry) == entry | {"reply": None}
    assert without_texts({"verdict": "accepted", "fault": None}) == {"verdict": "accepted", "fault": None}
    assert without_texts({"from_run": "r0"}) == {"from_run": "r0"}


def test_when_a_run_was_last_heard_of(store):
    for run in ("r1", "r2"):
        new_run(store, run)
    tell(store, sent(at="2026-11-20T08:00:00.000+00:00"), sent("k2", at=AT))
    tell(store, reply(), run_id="r2")  # from before schema version 3: nothing was noted when it was sent
    assert last_heard(store) == {"r1": datetime.fromisoformat(AT), "r2": None}


def big(path, make_record):
    """A store with much free space: two runs of calls, one of them deleted."""
    with Store.open(path) as store:
        fill(store)
        add_records(store, "r1", [(number, make_record(number)) for number in range(50)])
        store.append("prompt_texts", ("sha256", "text"), [(f"{number:064x}", f"{number:032x}" * 200) for number in range(2_000)])
    with Store.open(path) as store:
        store.change("DELETE FROM prompt_texts WHERE sha256 <> ?", [SYSTEM[0]])


def test_compacting_gives_the_space_back_and_keeps_everything(store_path, make_record):
    big(store_path, make_record)
    with Store.open(store_path) as store:
        before = (list(iter_events(store)), list(iter_records(store)))
    size = store_path.stat().st_size
    done = compact(store_path)
    assert (done.before, done.after) == (size, store_path.stat().st_size)
    assert done.after < done.before / 2
    assert [path.name for path in store_path.parent.iterdir()] == [store_path.name]
    with Store.open(store_path) as store:
        assert (list(iter_events(store)), list(iter_records(store))) == before
        assert store.rows("SELECT nextval('record_order')") == [(51,)]


def test_after_purging_and_compacting_no_byte_of_the_texts_is_left(store_path, make_record):
    big(store_path, make_record)
    # The system prompt is compressed in the file; the others are not, so that their absence below says something.
    assert [text for text in TEXTS if text in store_path.read_bytes()] == [text for text in TEXTS if text != b"SYSTEM-TEXT"]
    with Store.open(store_path) as store:
        purge_texts(store, ["r1"])
    compact(store_path)
    assert not [text for text in TEXTS if text in store_path.read_bytes()]


def test_a_link_to_the_store_stays_a_link(store_path, tmp_path, make_record):
    big(store_path, make_record)
    store_path.chmod(0o640)
    link = tmp_path / "link.duckdb"
    link.symlink_to(store_path)
    compact(link)
    assert link.is_symlink()
    assert store_path.stat().st_mode & 0o777 == 0o640


def test_a_leftover_of_a_killed_compacting_is_in_nobodys_way(store_path, make_record):
    big(store_path, make_record)
    partial = store_path.with_name(f"{store_path.name}.vacuum.part")
    partial.write_bytes(b"half a file")
    assert compact(store_path).rows > 0
    assert not partial.exists()


HOLD = """
import sys, pathlib
from piiloom.corpus.store.database import Store
with Store.open(pathlib.Path(sys.argv[1])) as store:
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.mark.long
def test_a_store_that_another_process_holds_is_left_alone(store_path, make_record):
    big(store_path, make_record)
    before = store_path.read_bytes()
    with subprocess.Popen([sys.executable, "-c", HOLD, str(store_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(StoreLocked):
            compact(store_path)
        holder.stdin.close()
    assert store_path.read_bytes() == before


@pytest.mark.long
def test_a_process_that_comes_between_copy_and_exchange_loses_nothing(store_path, make_record, monkeypatch):
    big(store_path, make_record)
    copied = deleting._copy

    def copied_and_then_written(store, partial):
        rows = copied(store, partial)
        monkeypatch.setattr(store, "close", lambda: (type(store).close(store), write_elsewhere(store_path)))
        return rows

    monkeypatch.setattr(deleting, "_copy", copied_and_then_written)
    with pytest.raises(StoreLocked, match="opened the store in the meantime"):
        compact(store_path)
    assert [path.name for path in store_path.parent.iterdir()] == [store_path.name]
    with Store.open(store_path) as store:
        assert store.rows("SELECT id FROM runs ORDER BY created_order") == [("r1",), ("late",)]


def write_elsewhere(path):
    code = """
import sys, pathlib
from piiloom.corpus.store.database import Store
from tests.corpus.call_stories import new_run
with Store.open(pathlib.Path(sys.argv[1])) as store:
    new_run(store, "late")
"""
    subprocess.run([sys.executable, "-c", code, str(path)], check=True)


def test_a_copy_that_differs_does_not_take_the_stores_place(store_path, make_record, monkeypatch):
    big(store_path, make_record)
    before = store_path.read_bytes()
    counted = deleting._sum
    monkeypatch.setattr(deleting, "_sum", lambda store, base, table: (0, 1) if base == deleting._COPY else counted(store, base, table))
    with pytest.raises(StoreError, match="the copy differs"):
        compact(store_path)
    assert store_path.read_bytes() == before
    assert [path.name for path in store_path.parent.iterdir()] == [store_path.name]


@pytest.mark.long
def test_without_room_nothing_is_changed(store_path, make_record):
    big(store_path, make_record)
    before = store_path.read_bytes()
    code = """
import sys, pathlib, resource
from piiloom.corpus.store.deleting import compact
from piiloom.foundation.errors import OutputError
sys.dont_write_bytecode = True  # half a file would be taken for a whole one next time
resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))
import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
try:
    compact(pathlib.Path(sys.argv[1]))
except OutputError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code, str(store_path)], capture_output=True, text=True, check=True)
    assert "the file size limit is reached" in done.stdout
    assert store_path.read_bytes() == before
    assert [path.name for path in store_path.parent.iterdir()] == [store_path.name]


def test_what_is_no_store_is_refused(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("not a store " * 1000)
    with pytest.raises(NotAStore):
        compact(path)
    with pytest.raises(StoreError, match="no store here"):
        compact(tmp_path / "absent.duckdb")
