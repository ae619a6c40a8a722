"""How far attention looks."""

REACH = 32  # words to either side; farther ones count as this far
