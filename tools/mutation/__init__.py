"""The mutation score of the suite: the share of small changes of the rule-enforcing code that make a scenario fail.

A scenario *convicts* a mutant if the scenario's verdict is `fail` while the mutant runs.  docs/mutation.md describes
the method.
"""
