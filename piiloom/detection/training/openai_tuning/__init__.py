"""Fine-tuning a model at OpenAI: ``tuning_options``, then ``job_plan`` (rows, cost, plan), then ``tuning_job`` (upload, job, booking)."""
