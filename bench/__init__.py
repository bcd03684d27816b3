"""``make bench``: what one question costs, ours and four other services' side by side. How to read it: NOTES.md."""
