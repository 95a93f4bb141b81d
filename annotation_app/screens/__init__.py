"""The Streamlit pages: thin, one per file. What they show and do is computed in the plain modules of the other packages."""
