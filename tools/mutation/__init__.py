"""The mutation score of the suite: of small changes of code that enforces rules, the share that some scenario finds.

A scenario *convicts* a mutant if the scenario's verdict is `fail` while the mutant runs.  docs/mutation.md describes
the method.
"""
