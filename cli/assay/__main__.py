"""Runs the command as ``python -m assay``, for systems without the script ``assay`` on the path."""

from assay.main import main

main()
