"""What `benchmarks/llm_throughput.py` is made of: one server, one driver a contestant, the scenarios, the watching."""
