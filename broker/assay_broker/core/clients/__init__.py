"""What clients hold: connections, links, units of work; how they begin and end."""
