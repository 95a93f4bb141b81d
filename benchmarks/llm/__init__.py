"""What `benchmarks/llm_throughput.py` is made of: the server, the work, the scenarios, the watching; contestants are in `peers/llm`."""
