"""Requests and responses of the HTTP API: the border at which JSON becomes Weftwork's own values."""
