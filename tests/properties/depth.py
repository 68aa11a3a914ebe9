import os


def some(examples):
    """So many examples where there is time (`make test-deep`), a third of them otherwise."""
    return examples if "WEFTWORK_DEEP" in os.environ else examples // 3
