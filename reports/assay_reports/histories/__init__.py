"""The pages of a judgement of histories: the measures with plots, and the stories of the subjects that broke a rule."""
