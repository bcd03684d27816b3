"""The HTTP interfaces: ``server.py`` puts them together; one module of routes for each."""
