"""The results of a judgement of histories beside its verdicts: measures, and the stories of what broke a rule."""
