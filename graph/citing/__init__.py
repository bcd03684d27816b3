"""From a draft's markers (``citations``) to an answer whose every marker is verified (``attribution``)."""
