"""Evidence: which sentences of a chunk carry a sentence of the answer, and with what probability.

``support`` finds the best quote and scores it; ``lexical_overlap`` counts shared words; ``amounts`` compares numbers
and units; ``edits`` finds what a near copy changed.
"""
