"""Relevance: how probable it is that a chunk is about a question, and that it answers it.

compound     the parts of a question             english      how rare a word is, in any garden
features     what is measured of question and chunk     definitions  sentences that say what a thing is
calibration  the fitted models, one set per embedding model (``relevance_model.json``)
gates        gate one, and what gate two reads   extractive   the sentences that answer
"""
