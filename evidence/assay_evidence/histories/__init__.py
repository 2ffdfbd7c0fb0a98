"""What a judgement of histories shows beside its verdicts: measures, and the stories of what broke a rule."""
