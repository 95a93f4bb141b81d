"""The desk: takes what browsers send, once and in order, and knows how every document of every person stands."""
