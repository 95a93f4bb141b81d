"""The stages that turn pairs of PII types into records (one module each), and the pipeline that runs them in order."""
