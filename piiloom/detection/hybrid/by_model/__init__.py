"""The three phases' questions to a language model: prompts, replies, and the session in which they are paid for."""
