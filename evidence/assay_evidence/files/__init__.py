"""The files of journals: plain files, and parts that are compressed when they are full (`parts`)."""
