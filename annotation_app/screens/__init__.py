"""The pages that Streamlit draws: thin, one a file. What they show and do is worked out in the plain modules beside."""
