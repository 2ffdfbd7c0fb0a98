"""Several queue managers: channels, clusters, hierarchies, sharing groups."""
