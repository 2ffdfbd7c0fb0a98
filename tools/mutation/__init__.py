"""The mutation score of the suite: the share of small changes of the rule-enforcing code that make a scenario fail.

A scenario convicts a mutant if its verdict under the mutant is `fail`.  docs/mutation.md describes the method.
"""
