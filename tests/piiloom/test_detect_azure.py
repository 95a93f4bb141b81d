"""``piiloom detect --detector azure``: texts are sent with consent only, and each ends as a row or among the rejects."""

from __future__ import annotations

import json

from tests.fakes.azure_server import KEY, AzureServer


def test_texts_end_as_rows_or_rejects(cli, tmp_path, monkeypatch):
    monkeypatch.setenv("AZURE_LANGUAGE_KEY", KEY)
    source, out = tmp_path / "in.txt", tmp_path / "found.jsonl"
    source.write_text("Ada has ada@example.org.\nREFUSED bob@example.org.\nNobody here.\n")
    words = ("detect", source, "--lines", "--locale", "de_DE", "--detector", "azure", "--out", out)
    with AzureServer(polls=1) as server:
        refused = cli(*words, "--endpoint", server.url)
        assert refused.code == 2
        assert "--yes" in refused.err
        assert not server.counts
        outcome = cli(*words, "--endpoint", server.url, "--yes")
    assert outcome.code == 0, outcome.err
    assert "not detected: 1 document" in outcome.out
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert [[span["text"] for span in row["spans"]] for row in rows] == [["ada@example.org."], []]
    (reject,) = [json.loads(line) for line in (tmp_path / "found.detect-rejects.jsonl").read_text().splitlines()]
    assert (reject["line"], reject["reason"]) == (2, "azure refused the text (UnsupportedLanguageCode)")
    assert KEY not in outcome.out + outcome.err + out.read_text()


def test_without_a_key_or_an_endpoint_it_says_what_is_missing(cli, tmp_path, monkeypatch):
    for name in ("AZURE_LANGUAGE_KEY", "AZURE_LANGUAGE_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)
    source = tmp_path / "in.txt"
    source.write_text("Ada\n")
    words = ("detect", source, "--locale", "en_US", "--detector", "azure", "--out", tmp_path / "found.jsonl", "--yes")
    assert "AZURE_LANGUAGE_ENDPOINT" in cli(*words).error_line()
    assert "AZURE_LANGUAGE_KEY" in cli(*words, "--endpoint", "https://x.example.org").err.splitlines()[-1]
