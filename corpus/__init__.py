"""What a record is, where it is kept, and how it is read and written."""
