"""The annotation app for Streamlit's own command: ``streamlit run annotation_app/app.py -- --store F``.

``streamlit run`` finds the assignment of an ``st.App`` in the source, imports this module, and serves ``app``: the app of
``piiloom annotate``, with the same routes and checks. ``.streamlit/config.toml`` beside this file binds the port to 127.0.0.1.
"""

from __future__ import annotations

import streamlit as st

from piiloom.cli.annotate import streamlit_arguments

app = st.App(**streamlit_arguments())
