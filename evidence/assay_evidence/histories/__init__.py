"""Further results of the judgement of histories: measures, and the events of each subject that broke a rule."""
