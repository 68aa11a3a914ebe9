"""Connectors to notes, documents and chats: one a file, all behind one protocol."""
