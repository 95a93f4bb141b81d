"""Sharing one account between processes: a coordinator (the "desk") that grants slots and money, and its clients."""
