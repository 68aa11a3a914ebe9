"""How good contexts are: figures that compare what a context holds with what an answer needs."""
