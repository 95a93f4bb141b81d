"""What a report leaves in a folder: figures, card and plots, all or nothing."""

from __future__ import annotations

import json
import subprocess
import sys
import xml.etree.ElementTree as ET

import pytest

from piiloom.corpus.record import RecordPlan
from piiloom.evaluation.report.figures import measure
from piiloom.evaluation.report.folder import write_report
from piiloom.evaluation.report.plots import all_plots
from piiloom.evaluation.report.sources import Corpus, Source
from piiloom.foundation.errors import OutputError
from piiloom.foundation.whole_files import check_folder
from piiloom.taxonomy.entity_types import shipped_taxonomy
from tests.evaluation.report_records import marked, varied, write_native

CORPUS = Corpus(source=Source(file="some.jsonl"), splits={"all": varied()})
FIGURES = measure(CORPUS.splits, taxonomy=shipped_taxonomy())
PLOTS = {"lengths", "openers", "relevance", "values", "guessability"}
ALL_FILES = {"report.json", "report.md", "index.html", *(f"{name}.{kind}" for name in PLOTS for kind in ("png", "svg"))}


def names(folder):
    return {path.name for path in folder.iterdir()}


@pytest.mark.long
def test_the_folder_holds_everything(tmp_path):
    out = tmp_path / "a" / "b"
    written = write_report(out, CORPUS, FIGURES)
    assert names(out) == set(written.files) == ALL_FILES
    assert written.files[-1] == "report.json"
    data = json.loads((out / "report.json").read_text(encoding="utf-8"))
    assert (data["schema"], data["source"]["file"], data["counts"]["records"]) == (1, "some.jsonl", 14)
    card = (out / "report.md").read_text(encoding="utf-8")
    assert all(f"]({name}.png)" in card for name in PLOTS)


@pytest.mark.long
def test_equal_records_give_equal_bytes(tmp_path):
    for name in ("a", "b"):
        write_report(tmp_path / name, CORPUS, measure({"all": varied()}, taxonomy=shipped_taxonomy()))
    assert {name: (tmp_path / "a" / name).read_bytes() for name in ALL_FILES} == {
        name: (tmp_path / "b" / name).read_bytes() for name in ALL_FILES
    }


def test_a_folder_that_is_not_empty_is_left_alone_unless_forced(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    (tmp_path / "guessability.png").write_text("of an earlier report")
    bare = Corpus(source=CORPUS.source, splits={"all": [marked("no values here", None)]})
    figures = measure(bare.splits, taxonomy=shipped_taxonomy())
    with pytest.raises(OutputError, match="--force"):
        write_report(tmp_path, bare, figures)
    assert names(tmp_path) == {"mine.txt", "guessability.png"}
    write_report(tmp_path, bare, figures, force=True)
    # What cannot be drawn of these records is not left from others.
    assert names(tmp_path) == {"mine.txt", "report.json", "report.md", "index.html"} | {
        f"{name}.{kind}" for name in ("lengths", "openers") for kind in ("png", "svg")
    }


@pytest.mark.long
def test_a_file_is_no_folder(tmp_path):
    path = tmp_path / "file"
    path.write_text("")
    with pytest.raises(OutputError, match="not a folder"):
        check_folder(path, force=True)
    with pytest.raises(OutputError, match="cannot be written"):
        write_report(path / "under", CORPUS, FIGURES)


@pytest.mark.long
def test_without_the_extra_all_but_the_plots_is_written(tmp_path):
    path = write_native(varied(), tmp_path / "some.jsonl")
    code = (
        "import sys; sys.modules['matplotlib'] = sys.modules['sacrebleu'] = None\nfrom pathlib import Path\n"
        "from piiloom.evaluation.report.figures import measure\nfrom piiloom.evaluation.report.folder import write_report\n"
        "from piiloom.evaluation.report.sources import corpus_of_file\n"
        "corpus = corpus_of_file(Path(sys.argv[1]))\n"
        "print(write_report(Path(sys.argv[2]), corpus, measure(corpus.splits, corpus.taxonomy)).install)"
    )
    out = tmp_path / "out"
    done = subprocess.run([sys.executable, "-c", code, str(path), str(out)], capture_output=True, text=True, check=True)
    assert done.stdout == "pip install -e '.[report]' in a clone of piiloom\n"
    assert names(out) == {"report.json", "report.md", "index.html"}
    assert "Self-BLEU needs an extra: pip install -e '.[report]'" in (out / "report.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "records",
    [
        pytest.param(varied(), marks=pytest.mark.long),
        pytest.param([marked("I am [Ann|name|low].")], marks=pytest.mark.long),
        pytest.param([marked("nothing at all", None)], marks=pytest.mark.long),
        [marked("")],
        pytest.param(
            [
                marked("我是[医生|occupation|high]，住在[上海|location|low]。", "我$能_{x}$吗？"),
                marked(f"Pay $x_1$ or $y now: [{'9' * 90}|code|none].", "$\\frac$?"),
            ],
            marks=pytest.mark.long,
        ),
        pytest.param(
            [marked(f"{'word ' * n}[gout|health|high]", plan=RecordPlan(pair=("age", "belief"))) for n in (1, 90, 9000)],
            marks=pytest.mark.long,
        ),
    ],
    ids=["varied", "one", "bare", "empty", "odd text", "long"],
)
def test_plots_of_any_records_are_images(records):
    plots = list(all_plots(measure({"all": records}, taxonomy=shipped_taxonomy())))
    assert {plot.name for plot in plots} <= PLOTS
    for plot in plots:
        assert plot.png.startswith(b"\x89PNG\r\n")
        assert ET.fromstring(plot.svg).tag.endswith("svg")  # noqa: S314 - our own file
        assert b"<dc:date>" not in plot.svg
