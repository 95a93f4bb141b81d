"""Write the gallery: one HTML file that fetches nothing."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from piiloom.evaluation.gallery.collector import GalleryCollector
from piiloom.evaluation.gallery.contents import gallery_contents
from piiloom.evaluation.pages.rendering import render_page
from piiloom.foundation.whole_files import drafted


def gallery_page(collector: GalleryCollector, title: str, facts: Iterable[tuple[str, str]] = ()) -> str:
    """Return the page as HTML; equal documents give equal text, whatever their order. *facts*: (name, value) under the title."""
    return render_page(__package__, gallery_contents(collector, title, facts), script="gallery.js", style="gallery.css")


def write_gallery(path: Path, collector: GalleryCollector, title: str, facts: Iterable[tuple[str, str]] = ()) -> None:
    """Write the page to *path*, replacing what is there. Raises ``OutputError``."""
    with drafted(path) as file:
        file.write(gallery_page(collector, title, facts).encode("utf-8", "replace"))
