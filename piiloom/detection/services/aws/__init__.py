"""AWS Comprehend: personal information, a request a text."""
