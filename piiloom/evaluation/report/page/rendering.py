"""Make ``index.html``."""

from __future__ import annotations

from piiloom.evaluation.pages.rendering import render_page
from piiloom.evaluation.report.figures import Figures
from piiloom.evaluation.report.page.contents import page_contents
from piiloom.evaluation.report.sources import Corpus


def dataset_page(corpus: Corpus, figures: Figures) -> str:
    """Return the page as HTML; equal records and figures give equal text."""
    return render_page(__package__, page_contents(corpus, figures), script="page.js")
