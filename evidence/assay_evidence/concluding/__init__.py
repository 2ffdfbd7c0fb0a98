"""Makes verdicts on scenarios and rules from findings, by the circumstances and roles of the scenarios."""
