"""A real chat model: ``make real`` installs it, asks it questions over real documents, and prints how they end."""
