"""Work distribution: the pool of records, their priorities, assignments, leases and lists. Plain Python, no Streamlit."""
