"""Re-identification: what a stated, rule-based attacker makes of a corpus in which values are masked."""
