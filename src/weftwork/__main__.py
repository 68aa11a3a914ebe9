"""The command as `python -m weftwork`, for where scripts are not on the path."""

from weftwork.cli import main

main()
