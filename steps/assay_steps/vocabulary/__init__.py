"""The step vocabulary, with a module for each subject.  `docs/vocabulary.md` shows an example of each step.

Given-steps set up the scenario; if the pair refuses the set-up, the scenario is inconclusive.  When-steps act, and
many of them store the answer for a later claim.  Then-steps observe and record claims.  The scenario chooses the names
in quotation marks.
"""

VOCABULARY = (
    "assay_steps.vocabulary.setup.destinations",
    "assay_steps.vocabulary.setup.objects",
    "assay_steps.vocabulary.setup.users",
    "assay_steps.vocabulary.setup.queue_managers",
    "assay_steps.vocabulary.clients.sending",
    "assay_steps.vocabulary.clients.receiving",
    "assay_steps.vocabulary.clients.subscriptions",
    "assay_steps.vocabulary.clients.qualities_of_service",
    "assay_steps.vocabulary.clients.confirmation",
    "assay_steps.vocabulary.clients.dispositions",
    "assay_steps.vocabulary.clients.sessions",
    "assay_steps.vocabulary.clients.branches",
    "assay_steps.vocabulary.clients.batches",
    "assay_steps.vocabulary.setup.faults",
    "assay_steps.vocabulary.observations.answers",
    "assay_steps.vocabulary.observations.sightings",
    "assay_steps.vocabulary.observations.timing",
    "assay_steps.vocabulary.observations.queue_contents",
    "assay_steps.vocabulary.observations.reports",
    "assay_steps.vocabulary.observations.storage",
)
"""The modules with the step definitions; pytest loads them as plugins."""
