"""The backend for brokers of other makers: `product` describes a broker, and `backend` starts it in containers."""
