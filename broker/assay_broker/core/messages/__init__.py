"""Messages inside the broker: copies, descriptors, headers, groups, reports."""
