from __future__ import annotations

from weft.cli import main

main()
