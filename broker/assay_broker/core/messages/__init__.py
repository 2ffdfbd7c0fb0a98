"""Messages in the broker: their copies, descriptors, headers, groups and reports."""
