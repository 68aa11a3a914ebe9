"""Evaluation: metrics that compare what a context holds with what an answer needs."""
