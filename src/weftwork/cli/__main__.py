from __future__ import annotations

from weftwork.cli import main

main()
