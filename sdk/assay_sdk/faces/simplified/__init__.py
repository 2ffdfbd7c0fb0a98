"""The simplified face: `connect` returns a `Context`, which creates producers and consumers (JMS 2.0, 5.2).

Its calls raise `assay_sdk.errors.MessagingRuntimeError` and its subclasses.
"""

from assay_sdk.faces.simplified.consumer import Consumer
from assay_sdk.faces.simplified.context import Context, XaContext, connect
from assay_sdk.faces.simplified.producer import Producer

__all__ = ["Consumer", "Context", "Producer", "XaContext", "connect"]
