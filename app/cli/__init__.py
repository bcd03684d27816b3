"""The command ``garden``: ``main.py`` parses the arguments, one module for each command."""
