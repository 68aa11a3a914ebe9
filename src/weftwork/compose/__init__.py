"""Documents and what of them may be shown: what is found is a passage, what is shown is an excerpt."""
