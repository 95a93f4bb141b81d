"""The annotation app: plain modules that know what people do to records, and thin Streamlit pages over them."""

if __name__ == "annotation_app":  # with a checkout on the path, a second copy of everything in here
    raise ImportError("import it as piiloom.annotation_app")
