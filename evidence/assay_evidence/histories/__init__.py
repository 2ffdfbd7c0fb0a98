"""The results of `assay judge` beside verdicts: a run's measures, and the events of each subject that broke a rule."""
