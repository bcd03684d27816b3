"""Evidence: which stretch of a chunk carries a sentence of the answer, and how probable it is that it does.

support              the best quote, and its support
verbatim, wording    the same words; many of the same words
amounts              numbers and units that the quote does not state
edits                near copies with one word turned
confidence           the support of all sentences together
"""
