"""The script that Streamlit runs, again and again, for each tab."""

from __future__ import annotations

from piiloom.annotation_app.screens.frame import run

run()
