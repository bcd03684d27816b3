"""``make bench``: what one question costs, measured from outside on a real server."""
