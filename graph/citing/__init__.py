"""Citing: from a draft's markers to an answer whose every marker is verified.

``citations`` parses a draft, complete or as it is streamed (``markers``, ``marked_text``); ``anchors`` finds what each
marker claims; ``attribution`` verifies it and places the markers.
"""
