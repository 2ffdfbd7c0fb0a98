"""Live alarms: breaches in the history of a run that still goes on, with Structured Streaming.

``growing_journals`` reads the lines that writers add to their journals.  ``examination`` examines one scenario with the
plain-Python form of the invariants.  ``processor`` stores the lines of each open scenario in Spark's state, and
examines them repeatedly.  `watch_run` runs the stream.

Alarms are provisional, because a line of another writer that Spark has not read yet may explain an apparent breach.
So an alarm is raised only if the next examination also finds the breach, and only `assay judge` gives verdicts.
"""

from assay_pipeline.live.alarms import WATCHED, Alarm, watch_run

__all__ = ["WATCHED", "Alarm", "watch_run"]
