"""The mutation score of the suite: which small changes of the code that enforces the rules its scenarios convict."""
