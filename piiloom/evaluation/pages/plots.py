"""Draw plots as PNG and SVG. Needs matplotlib (the extra ``report``); import this module only if plots are wanted.

It uses neither pyplot nor global state: each plot is its own ``Figure``. The same figures give the same bytes (no dates, no random
ids). Labels with text of the corpus are never parsed as math markup.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from piiloom.foundation.whole_files import drafted

_DPI = 130
BLUE, ORANGE, GREY = "#3b6ea8", "#d98232", "#b5b5b5"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """One plot: its name (also the base name of its files), caption and images."""

    name: str
    caption: str
    png: bytes
    svg: bytes

    def files(self) -> dict[str, bytes]:
        """Return the images by file name."""
        return {f"{self.name}.png": self.png, f"{self.name}.svg": self.svg}


def draw_plot(name: str, caption: str, height: float, fill: Callable[[Figure], None]) -> Plot:
    """Return the plot that *fill* draws on a figure of *height* inches."""
    with _style(), warnings.catch_warnings():
        # Characters missing from the font are drawn as boxes; no warning is needed.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        layout = ConstrainedLayoutEngine()
        figure = Figure(figsize=(8.6, height), layout=layout, dpi=_DPI)
        fill(figure)
        layout.execute(figure)
        figure.set_layout_engine("none")  # each file that is saved would lay it out twice again, which takes as long as drawing
        images = {}
        for kind, metadata in (("png", {"Software": None}), ("svg", {"Date": None})):
            buffer = io.BytesIO()
            figure.savefig(buffer, format=kind, dpi=_DPI, metadata=metadata)
            images[kind] = buffer.getvalue()
    return Plot(name=name, caption=caption, png=images["png"], svg=images["svg"])


def _style() -> AbstractContextManager[None]:
    return mpl.rc_context(
        {
            "font.size": 10,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.titlesize": 11,
            "axes.titlelocation": "left",
            "svg.hashsalt": "piiloom",  # without it, ids in the file are random
            "text.parse_math": False,  # "$" in a text of the corpus is a dollar
        }
    )


def write_plot(folder: Path, plot: Plot) -> list[Path]:
    """Write *plot* to *folder* as PNG and SVG, and return the files. Raises ``OutputError``."""
    for name, image in plot.files().items():
        with drafted(folder / name) as file:
            file.write(image)
    return [folder / name for name in plot.files()]
