"""Topics: the tree, subscriptions, publications, retained ones."""
