"""The page that Streamlit draws for each tab, again after each interaction."""

from __future__ import annotations

from piiloom.annotation_app.screens.frame import draw_app

draw_app()
