"""Load files: ``table.py`` maps a suffix to its loader, one module per format."""
