"""Fine-tuning a model at OpenAI: a folder for each job, whose ledger says what was begun and what came of it.

``preparing`` makes the files and the plan, ``estimate`` says what it costs, ``tuning`` takes the steps (upload, create, follow, cancel)
so that none is taken twice, ``booking`` sets the money aside in a store and books what was paid. ``job_folder`` and ``ledger`` keep it.
"""
