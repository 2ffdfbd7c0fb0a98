"""The state tables of the core: units of work, branches, links, the delay processor, the release of a message."""
