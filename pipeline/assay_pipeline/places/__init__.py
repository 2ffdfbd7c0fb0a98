"""Folders and files of journals and results: local ones, and those on other file systems.

A local folder or file is a `pathlib.Path`.  A folder or file on another file system, such as S3 or HDFS, is a
`RemotePlace`; ``str`` returns its URI in Spark's form, without percent encoding.

Spark itself reads the lines of the journals and writes the tables, through Hadoop's file systems.  The process that
judges does the rest through pyarrow's file systems: it lists the journals, and writes and removes all other files.

- ``naming``: makes a place from a path or URI of the user;
- ``remote``: `RemotePlace`;
- ``results``: the folder of the results, which is complete or recognizable as incomplete;
- ``copies``: local copies of remote files, for code that reads local files only.
"""
