"""Computes verdicts on scenarios and rules from findings, with regard to each scenario's circumstances and role."""
