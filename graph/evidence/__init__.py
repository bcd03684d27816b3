"""Evidence: what a sentence claims, which sentences of a chunk carry it, and with what probability.

``claims`` reduces a sentence to its claim; ``support`` finds the best quote and scores it; ``amounts`` compares numbers
and units; ``edits`` finds what a near copy changed.
"""
