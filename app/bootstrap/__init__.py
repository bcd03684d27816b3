"""The composition root: ``compose.py`` makes the parts the settings name, ``container.py`` holds them."""
