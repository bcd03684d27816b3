"""The composition root: makes the parts that the settings name."""
