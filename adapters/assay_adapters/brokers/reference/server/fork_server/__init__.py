"""The fork server: one process with the broker's modules loaded forks a server for each scenario that needs its own."""
