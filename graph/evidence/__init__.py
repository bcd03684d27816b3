"""A sentence's claim (``claims``), its quote and support (``support``), what it changed (``amounts``, ``edits``)."""
