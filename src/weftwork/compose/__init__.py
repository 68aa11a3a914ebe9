"""Groups the passages that were found by document, and offers the excerpts that may be shown."""
