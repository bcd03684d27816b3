"""Citing: from a draft's markers to an answer whose every marker is verified.

``citations`` parses a draft (``markers``, ``marked_text``), ``anchors`` finds its claims, ``attribution`` verifies.
"""
