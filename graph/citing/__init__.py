"""Citing: from a draft's markers to an answer whose every marker is verified.

``citations`` parses a draft (``markers``, ``marked_text``, ``phrases``); ``anchors`` finds what each marker claims
(``claims``); ``verification`` checks it and ``attribution`` places the markers; ``render`` and ``marker_stream`` write
the answer, complete or as it comes.
"""
