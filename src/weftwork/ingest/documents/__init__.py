"""Documents with pages: PDF, DOCX, PPTX, XLSX, HTML, EPUB and pictures.

Parsing runs in a process of its own (`worker.py`), which `parsing.py` starts, feeds and, if it hangs, kills: nothing
that a document contains runs or crashes in the process that writes the store.
"""
