"""``piiloom report``: what a data set holds, how varied it is, what leaks, and from what relevance can be guessed."""
