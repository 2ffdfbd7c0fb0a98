"""Topics: the topic tree, subscriptions, publications, retained publications."""
