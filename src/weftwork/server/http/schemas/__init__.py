"""What goes in and out of the HTTP API: the border at which JSON becomes Weftwork's own values."""
