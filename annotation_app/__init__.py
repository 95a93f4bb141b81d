"""The annotation app: plain modules that know what people do to records, and thin Streamlit pages over them."""

if __name__ == "annotation_app":  # a checkout on sys.path: this would load a second copy of every module
    raise ImportError("import it as piiloom.annotation_app")
