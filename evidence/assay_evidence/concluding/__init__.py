"""From findings to the verdicts on scenarios and rules: circumstances, roles."""
