"""LLM providers: one interface, and one module for each API that implements it.

``factory.make_provider`` builds the provider for a run. An SDK is imported only when a provider that uses it is built. The
SDKs' own retries are off, because ``execution`` retries.

============================  ========================================================================================
``protocol``, ``errors``      the interface: ``PromptCall`` in, ``Completion`` or a ``ProviderError`` out
``factory``                   builds a provider by name, with its key from the environment
``openai_api``                OpenAI Responses, and its Batch API
``anthropic_api``             Anthropic Messages, and its Message Batches API
``compatible_api``            chat completions at any base URL (vLLM, Ollama, llama.cpp, LM Studio, gateways …)
``format_probe``              finds the response format that such a server supports, before a run
``sdk_provider``              base class of these three: time limit, errors, cost, reading of the reply
``connections``               HTTP connection pools for many concurrent calls; time limits
``rate_headers``              rate limits from response headers, for the rate limiter
``sdk_errors``                maps SDK exceptions and HTTP status codes to ``piiloom.providers.errors``
``replies``                   JSON from a reply's text; JSON schemas in the form the APIs accept (``SchemaCache``)
``local``                     a causal language model from a local folder, with or without an adapter
``batch_api``                 base class of the vendors' batch APIs, with the same request bodies and reply parsing
``prices``                    prices and limits of models (``data/models.yaml``, or the user's own file)
``addresses``                 URLs without credentials; messages without keys or prompt text
============================  ========================================================================================
"""
