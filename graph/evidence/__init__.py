"""Evidence: a sentence's claim, the sentences of a chunk that support it, and its probability.

``claims`` reduces a sentence to its claim; ``support`` finds the best quote and scores it; ``amounts`` compares numbers
and units; ``edits`` finds what a near copy changed.
"""
