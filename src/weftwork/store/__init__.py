"""Where a workspace is kept: the protocol, its engines, and the contract that each must pass."""
