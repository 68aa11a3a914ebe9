"""OAuth 2.1: an authorization server for owners of keys, and tokens of an OIDC issuer."""
