"""Relevance: the probabilities that a chunk is about a question and answers it.

``compound`` splits a question; ``features`` has the best chunks read, and measures question and chunk; ``calibration``
holds the fitted models; ``graders`` applies them; ``extractive`` answers. None of them needs a vendor.
"""
