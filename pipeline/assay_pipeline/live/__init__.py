"""Live alarms: breaches in the history of a run that still goes on, with Structured Streaming.

``growing`` reads the lines that writers add to their journals.  ``suspicion`` examines one scenario with the
plain-Python form of the invariants.  ``processor`` keeps the lines of each open scenario in Spark's state, and examines
them again and again.  `watch_run` runs the stream.

Alarms are provisional: a line that has not been read yet, of another writer, may excuse what seems to be a breach.  So
an alarm is raised only if the breach is still there at the next examination, and only `assay judge` gives verdicts.
"""

from assay_pipeline.live.alarms import WATCHED, Alarm, watch_run

__all__ = ["WATCHED", "Alarm", "watch_run"]
