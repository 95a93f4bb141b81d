"""What a report leaves in a folder: figures, card and plots, all or nothing."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET

import pytest

from piiloom.corpus.record import RecordPlan
from piiloom.evaluation.report.figures import measure
from piiloom.evaluation.report.folder import write_report
from piiloom.evaluation.report.plots import report_plots
from piiloom.evaluation.report.sources import Corpus, ReportSource
from piiloom.foundation.errors import OutputError
from piiloom.foundation.whole_files import check_folder
from piiloom.taxonomy.entity_types import shipped_taxonomy
from tests.evaluation.report_records import marked, varied, varied_figures

CORPUS = Corpus(source=ReportSource(file="some.jsonl"), splits={"all": varied()})
FIGURES = varied_figures()
PLOTS = {"lengths", "openers", "relevance", "values", "guessability"}
ALL_FILES = {"report.json", "report.md", "index.html", *(f"{name}.{kind}" for name in PLOTS for kind in ("png", "svg"))}


def names(folder):
    return {path.name for path in folder.iterdir()}


BARE = Corpus(source=CORPUS.source, splits={"all": [marked("no values here", None)]})


@pytest.mark.long
def test_the_folder_holds_everything_in_equal_bytes_for_equal_records(tmp_path):
    out = tmp_path / "a" / "b"
    files, _ = write_report(out, CORPUS, FIGURES)
    assert names(out) == set(files) == ALL_FILES
    assert files[-1] == "report.json"
    data = json.loads((out / "report.json").read_text(encoding="utf-8"))
    assert (data["schema"], data["source"]["file"], data["counts"]["records"]) == (1, "some.jsonl", 14)
    card = (out / "report.md").read_text(encoding="utf-8")
    assert all(f"]({name}.png)" in card for name in PLOTS)
    for name in PLOTS:
        assert (out / f"{name}.png").read_bytes().startswith(b"\x89PNG\r\n")
        assert ET.fromstring((out / f"{name}.svg").read_text(encoding="utf-8")).tag.endswith("svg")  # noqa: S314 - our own file
    write_report(tmp_path / "again", CORPUS, measure({"all": varied()}, taxonomy=shipped_taxonomy()))
    assert {name: (tmp_path / "again" / name).read_bytes() for name in ALL_FILES} == {name: (out / name).read_bytes() for name in ALL_FILES}


def test_a_folder_that_is_not_empty_is_left_alone_unless_forced(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    (tmp_path / "guessability.png").write_text("of an earlier report")
    figures = measure(BARE.splits, taxonomy=shipped_taxonomy())
    with pytest.raises(OutputError, match="--force"):
        write_report(tmp_path, BARE, figures)
    assert names(tmp_path) == {"mine.txt", "guessability.png"}
    write_report(tmp_path, BARE, figures, force=True)
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
        write_report(path / "under", BARE, measure(BARE.splits, taxonomy=shipped_taxonomy()))


@pytest.mark.parametrize(
    "records",
    [
        pytest.param([marked("I am [Ann|name|low].")], marks=pytest.mark.long),
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
    ids=["one", "empty", "odd text", "long"],
)
def test_plots_of_any_records_are_images(records):
    plots = list(report_plots(measure({"all": records}, taxonomy=shipped_taxonomy())))
    assert {plot.name for plot in plots} <= PLOTS
    for plot in plots:
        assert plot.png.startswith(b"\x89PNG\r\n")
        assert ET.fromstring(plot.svg).tag.endswith("svg")  # noqa: S314 - our own file
        assert b"<dc:date>" not in plot.svg
