"""Weftwork on a server, with the methods of the engine: code moves from a file to a server by changing one line."""

from weftwork.client.client import Client
from weftwork.client.memories import RemoteMemories

__all__ = ["Client", "RemoteMemories"]
