"""Storage: the protocol, the stores that implement it, and the contract suite that each must pass."""
