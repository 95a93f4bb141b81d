"""One run of a detector over an input: read, in workers or through a model, written chunk by chunk, gone on with after a kill.

``running`` is the run; ``reading`` gives its documents, ``worker`` detects in them, ``unfinished`` keeps what is done, ``outputs`` makes
the result of it.
"""
