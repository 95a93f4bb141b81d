"""The editor of one record in the browser: scripts, styles and the Streamlit component made of them."""
