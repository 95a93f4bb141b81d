"""A causal language model from a local folder as a provider: no server, no key, no network.

``loading``         the checks of a base folder and an adapter folder, their digests; model, tokenizer and layout of prompts in memory
``local_provider``  the provider: gathers concurrent calls into batches and has the model reply to them
"""
