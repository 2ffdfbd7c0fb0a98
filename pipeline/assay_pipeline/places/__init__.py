"""Folders and files of journals and results: local ones, and those on other file systems.

A local folder or file is a `pathlib.Path`, and everything about it works as without this package.  One on another file
system, such as S3 or HDFS, is a `RemotePlace`.  Its text is the URI as Spark takes it, without percent encoding.

Spark itself reads the lines of the journals and writes the tables, through Hadoop's file systems.  The process that
judges does the rest through pyarrow's file systems: it lists the journals, and writes and removes all other files.

- ``naming``: makes a place from what the user wrote;
- ``remote``: `RemotePlace`;
- ``results``: the folder of the results, which is complete or absent;
- ``copies``: local copies of remote files, for code that reads local files only.
"""
