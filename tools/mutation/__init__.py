"""The mutation score of the suite: the share of small changes to rule-enforcing code that some scenario finds.

A scenario *convicts* a mutant if the scenario's verdict is `fail` while the mutant runs.  docs/mutation.md describes
the method.
"""
