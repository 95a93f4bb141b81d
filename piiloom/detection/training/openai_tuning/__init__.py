"""Fine-tuning a model at OpenAI: ``tuning_options``, then ``job_plan`` (rows, plan, money), then ``tuning_job`` (upload, job, card)."""
