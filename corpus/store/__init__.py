"""The store: one DuckDB file that holds runs, paid replies, stage results, records, rejects and releases.

``database.Store`` opens it; each other module holds the queries of one matter and takes the store as its first
argument. Nothing outside this package writes SQL.
"""
