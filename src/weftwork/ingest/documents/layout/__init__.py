"""Layout analysis: positioned text, of a text layer or of OCR, to Markdown."""
