"""Evidence: a sentence's claim, the sentences of a chunk that support it, and its probability.

``claims`` finds what a sentence claims, ``support`` its quote and score, ``amounts`` and ``edits`` what it changed.
"""
