"""The rate limiter: requests and tokens per minute, back-off after refusals, adaptive concurrency."""
