"""Messages in the broker: copies, descriptors, headers, groups, reports."""
