"""The logic of a queue manager: turns commands and the time into effects, without sockets, threads or clocks."""
