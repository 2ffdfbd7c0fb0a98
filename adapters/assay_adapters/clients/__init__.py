"""Clients under test behind the `Client` port: our SDK in each face (`sdk`); a vendor's own comes beside it."""
