"""A causal language model from a local folder as a provider: no server, no key, no network.

``prompt_layout``   how messages become tokens, the same for asking and for training
``model_folder``    what is checked of a base folder and an adapter folder before anything heavy is loaded, and their digests
``loading``         the model and its tokenizer in memory
``generating``      replies to a batch of prompts
``local_provider``  the provider: gathers concurrent calls into batches
"""
