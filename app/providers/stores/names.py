"""What a collection may be called, in every store."""

import re

COLLECTION_NAME = re.compile(r"[\w-][\w.-]{0,99}")
"""It is the name of a folder, and part of addresses."""
