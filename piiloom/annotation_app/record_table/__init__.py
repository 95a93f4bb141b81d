"""The table of records: a Streamlit component of rows that read as the records do, and open by a click, a tap or Enter."""
