"""The LLM seam: one protocol, and one file for each API that implements it.

``factory.make_provider`` builds what a run needs. The SDKs are imported only when a provider of theirs is built;
their own retries are off, since ``execution`` asks again.

============================  ========================================================================================
``protocol``, ``errors``      what every caller sees: ``PromptCall`` in, ``Completion`` or a ``ProviderError`` out
``factory``                   the provider of a name, with its key from the environment
``openai_api``                OpenAI Responses
``anthropic_api``             Anthropic Messages
``compatible_api``            chat completions at any base URL (vLLM, Ollama, llama.cpp, LM Studio, gateways …)
``chat_dialects``             what a compatible server turned out not to understand, and what to send instead
``format_probe``              which response format such a server takes, asked before a run
``sdk_provider``              what these three share: time limit, errors, cost, reading of the reply
``connections``               as many connections as calls in flight, in pools that stay quick; time limits
``rate_headers``              what a response says about rate limits, for whoever paces the calls
``sdk_errors``                SDK exceptions and HTTP status to ``piiloom.providers.errors``
``replies``, ``schemas``      JSON from a reply's text; JSON schemas as the APIs take them (``schema_cache``: made once)
``batch_api``, ``*_batches``  the makers' batch APIs, over the same bodies and the same reading of answers
``prices``                    what a model costs and takes (``data/models.yaml``, or the user's own file)
``addresses``, ``redaction``  URLs without credentials; messages without keys or prompt text
============================  ========================================================================================
"""

if __name__ == "providers":  # with a checkout on the path, a second copy of everything in here
    raise ImportError("import it as piiloom.providers")
