"""Tell the number of a page from what else stands in a page header or footer."""

import re

_NUMBER = re.compile(r"\W*(?:[^\W\d]+\W*)?\d*\W*(?:[^\W\d]{1,3}\W*\d*)?\W*")


def is_page_number(text: str) -> bool:
    """Tell whether a text with a field for the page is nothing more: ``7``, ``Page 7``, ``Page 7 of 12``."""
    return bool(_NUMBER.fullmatch(text))
