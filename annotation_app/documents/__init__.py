"""What people do to one record: documents, operations on them, histories, merges and differences, without any storage."""
