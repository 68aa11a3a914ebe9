"""Several servers behind one: parts of the tables are foreign tables, and move from server to server."""
