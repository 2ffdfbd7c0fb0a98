"""Verdicts on scenarios and rules, made from findings by circumstances and roles."""
