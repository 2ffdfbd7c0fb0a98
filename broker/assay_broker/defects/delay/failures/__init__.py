"""Defects in the failure of delayed deliveries, and in reports."""
