"""The subcommands of ``assay``, with a module for each."""
