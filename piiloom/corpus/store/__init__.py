"""The store: one DuckDB file that holds runs, paid replies, stage results, records, rejects and releases.

``database.Store`` opens the file. Each other module holds the queries for one topic; its functions take the store as their
first argument. No code outside this package writes SQL.
"""
