"""An Obsidian vault as a tool of an assistant, over the Model Context Protocol.

pip install 'weftwork[mcp]'
python examples/obsidian_over_mcp.py ~/vault "When do we ship?"

`weftwork mcp install --client claude-desktop` does the same for an assistant: this shows what it will be told.
"""

import asyncio
import sys

from mcp import Client, StdioServerParameters

from weftwork import Weft


async def ask(question: str, *, store: str) -> str:
    """Start the server as an assistant does, and call its tool."""
    command = StdioServerParameters(command=sys.executable, args=["-m", "weftwork.cli", "mcp", "--store", store])
    async with Client(command) as client:
        result = await client.call_tool("weftwork_context", {"query": question})
    return str(getattr(result.content[0], "text", ""))


def main(vault: str, question: str) -> None:
    """Add the vault, and ask as an assistant would."""
    with Weft.open("vault.weft") as weft:
        weft.add(vault)
    print(asyncio.run(ask(question, store="vault.weft")))


if __name__ == "__main__":
    main(*sys.argv[1:])
