"""Write plots."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from piiloom.foundation.whole_files import drafted

if TYPE_CHECKING:
    from piiloom.evaluation.pages.plots import Plot  # needs matplotlib


def write_plot(folder: Path, plot: Plot) -> list[Path]:
    """Write *plot* to *folder* as PNG and SVG, and return the files. Raises ``OutputError``."""
    images = {folder / f"{plot.name}.png": plot.png, folder / f"{plot.name}.svg": plot.svg}
    for path, image in images.items():
        with drafted(path) as file:
            file.write(image)
    return list(images)
