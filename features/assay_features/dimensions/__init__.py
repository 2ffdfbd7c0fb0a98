"""Tables of the circumstances (traits) under which scenarios test each rule, with the reasons for untested ones."""

from assay_features.dimensions._reasons import Reasons, Untried, load_reasons
from assay_features.dimensions._table import Cell, State, table_of
from assay_features.dimensions._traits import DIMENSIONS, Dimension, Trait

__all__ = ["DIMENSIONS", "Cell", "Dimension", "Reasons", "State", "Trait", "Untried", "load_reasons", "table_of"]
