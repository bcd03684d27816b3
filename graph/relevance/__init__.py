"""Relevance: how probable it is that a chunk is about a question, and that it answers it.

compound     the parts of a question             english      how rare a word is, in any collection
features     what is measured of question and chunk     reading      what the reader finds in a chunk
calibration  the fitted models, one set per embedding model (``relevance_model.json``)
gates        relevance, and the probability to answer   extractive   the sentences that answer
"""
