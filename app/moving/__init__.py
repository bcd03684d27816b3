"""A whole collection from one place to another: a file, another folder, a server.

archive.py       the file's format, and how it is written        read_archive.py  reading it back, checked whole first
copying.py       from any source into any store, harmless to kill at any moment, and the next run goes on
command.py       ``garden export``, ``garden import``, ``garden push``
"""
