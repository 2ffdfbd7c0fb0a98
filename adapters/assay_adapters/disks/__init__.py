"""A disk that can lose its power and be slow: a FUSE file system over a folder, in a process of its own."""
