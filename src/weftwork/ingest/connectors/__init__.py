"""What people keep their notes, documents and chats in: one connector a file, all behind one protocol."""
