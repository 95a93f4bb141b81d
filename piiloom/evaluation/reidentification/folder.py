"""Write the figures of an attack to a folder: ``reidentification.json``, ``reidentification.md`` and the plot."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from piiloom.evaluation.reidentification.figures import AttackFigures
from piiloom.evaluation.reidentification.tables import attack_tables
from piiloom.evaluation.report.card import markdown_section
from piiloom.foundation.extras import how_to_install
from piiloom.foundation.markdown import escaped
from piiloom.foundation.whole_files import write_folder

FIGURES_FILE, TABLES_FILE = "reidentification.json", "reidentification.md"


def write_attack(out: Path, title: str, told: dict[str, Any], figures: AttackFigures) -> tuple[tuple[str, ...], str | None]:
    """Write the folder; return the names of its files, and what to install if the plot could not be drawn. Raises ``OutputError``.

    *title* says what was attacked, *told* is the content of the JSON file. Files of these names are replaced. The JSON file comes last.
    """
    install: str | None = None
    try:
        from piiloom.evaluation.reidentification.plot import k_plot
    except ImportError:
        images, pictured, install = {}, [], how_to_install("report")
    else:
        plot = k_plot(figures)
        images = {f"{plot.name}.png": plot.png, f"{plot.name}.svg": plot.svg}
        pictured = [f"![{plot.caption}]({plot.name}.png)"]
    parts = [f"# Re-identification: {escaped(title)}", *map(markdown_section, attack_tables(figures)), *pictured]
    texts = {TABLES_FILE: "\n\n".join(parts) + "\n", FIGURES_FILE: json.dumps(told, ensure_ascii=False, indent=2) + "\n"}
    contents = images | {name: text.encode("utf-8", "replace") for name, text in texts.items()}
    write_folder(out, contents)
    return tuple(contents), install
