"""``python -m assay``: the command, if its script is not on the path."""

from assay.main import main

main()
