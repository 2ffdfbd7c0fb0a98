"""The step vocabulary, by noun.  `docs/vocabulary.md` shows an example of each step; a QA team reuses them all.

Given-steps make what a scenario needs and end it as inconclusive where the pair refuses; When-steps act and remember
the answer; Then-steps observe and record one claim each.  Names in quotation marks are the scenario's own.
"""

VOCABULARY = (
    "assay_steps.vocabulary.places",
    "assay_steps.vocabulary.objects",
    "assay_steps.vocabulary.users",
    "assay_steps.vocabulary.members",
    "assay_steps.vocabulary.sending",
    "assay_steps.vocabulary.receiving",
    "assay_steps.vocabulary.subscribing",
    "assay_steps.vocabulary.qualities",
    "assay_steps.vocabulary.confirming",
    "assay_steps.vocabulary.units",
    "assay_steps.vocabulary.branches",
    "assay_steps.vocabulary.batches",
    "assay_steps.vocabulary.faults",
    "assay_steps.vocabulary.answers",
    "assay_steps.vocabulary.sightings",
    "assay_steps.vocabulary.timing",
    "assay_steps.vocabulary.contents",
    "assay_steps.vocabulary.reports",
    "assay_steps.vocabulary.storage",
)
"""The modules, as pytest plugins."""
