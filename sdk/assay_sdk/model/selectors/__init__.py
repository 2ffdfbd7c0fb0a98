"""JMS message selectors (Jakarta Messaging 3.1, 3.8): parsed once, evaluated for every message.

``Selector.parse("colour = 'red' AND weight > 2500").matches(message)``.
"""

from assay_sdk.model.selectors._errors import SelectorError
from assay_sdk.model.selectors._selector import Limits, Selector

__all__ = ["Limits", "Selector", "SelectorError"]
