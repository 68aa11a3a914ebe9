"""From pieces of text with their places to Markdown, for a text layer and for what OCR reads alike."""
