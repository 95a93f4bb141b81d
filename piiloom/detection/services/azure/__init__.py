"""Azure AI Language: jobs that find personal information."""
