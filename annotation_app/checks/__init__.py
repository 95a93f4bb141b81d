"""What the editor notices while a person works: hints with, where one is at hand, the operation that would mend it."""
