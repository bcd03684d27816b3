"""Evidence: which stretch of a chunk carries a sentence of the answer, and how well.

support                                          the best quote, and its support
verbatim, wording                                the same words; many of the same words
claims, statement                                what a sentence asserts that must not change
naming, demonyms                                 its names
quantities, quantity_check, spelled_numbers, number_words    its numbers
polarity, lexicon                                what it denies
alignment, contradiction                         what was put in, left out or exchanged
confidence                                       support read as a probability
"""
