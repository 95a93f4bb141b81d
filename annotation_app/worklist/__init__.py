"""Who works on what, and in which order: the pool of records, priorities, leases, lists. Plain Python, no Streamlit."""
