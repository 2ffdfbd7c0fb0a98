"""The fork server: one process that has loaded the broker's modules and forks all reference servers of a run."""
