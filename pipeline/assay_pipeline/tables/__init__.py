"""The tables of the history, made from single events with Spark."""
