"""``python -m assay``: the command, where its script is not on the path."""

from assay.main import main

main()
