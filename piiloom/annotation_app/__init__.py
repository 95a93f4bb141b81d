"""The annotation app: plain modules that know what people do to records, and thin Streamlit pages over them."""
