"""Live sources: what stands on a server, copied into a folder that connectors read."""
