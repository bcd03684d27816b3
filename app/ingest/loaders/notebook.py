"""Load Jupyter notebooks: text, code, and what the code printed."""

import json
import re
from typing import Any

from app.ingest.documents import LoadedDocument
from app.ingest.loaders.html import add_fragment
from app.ingest.loaders.markdown import add_markdown
from app.ingest.loaders.outline import Outline, fenced
from app.ingest.loaders.text import add_text
from app.ingest.loaders.text_encoding import Unreadable, decode

MAX_LINES = 40
"""Lines of the longest output that is text, each line by itself; a longer one is a block of code."""
_OBJECT = re.compile(r"\s*<.*>\s*\Z")  # "<Figure size 640x480 with 1 Axes>"


def load(data: bytes, source: str) -> LoadedDocument:
    """Read the cells of a notebook (nbformat 4) in their order; of outputs the printed text, tables and values.

    Pictures and other outputs are left out. Raises ``Unreadable`` for what is no notebook.
    """
    try:
        notebook = json.loads(decode(data))
        cells = notebook["cells"]
        language = str(((notebook.get("metadata") or {}).get("language_info") or {}).get("name", ""))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Unreadable("no Jupyter notebook of format 4") from error
    outline = Outline()
    for cell in cells if isinstance(cells, list) else ():
        if not isinstance(cell, dict):
            continue
        text = _text(cell.get("source"))
        if cell.get("cell_type") == "markdown":
            add_markdown(outline, text)
        elif cell.get("cell_type") == "code" and text.strip():
            outline.add(fenced(text, language), "code")
            outputs = cell.get("outputs")
            for output in outputs if isinstance(outputs, list) else ():
                _add_output(outline, output)
        elif text.strip():
            add_text(outline, text, headings=False)
    return outline.document(source)


def _add_output(outline: Outline, output: Any) -> None:
    """Add the text of one output: what was printed, or the value of a cell, as HTML where it has a table."""
    if not isinstance(output, dict) or output.get("output_type") == "error":
        return
    data = output.get("data")
    values: dict[str, Any] = data if isinstance(data, dict) else {}
    html, plain = _text(values.get("text/html")), _text(output.get("text") or values.get("text/plain"))
    lines = [line for line in plain.splitlines() if line.strip() and not _OBJECT.match(line)]
    if "<table" in html:
        add_fragment(outline, html)
    elif len(lines) > MAX_LINES:
        outline.add(fenced("\n".join(lines)), "code")
    else:
        for line in lines:
            outline.add(line.strip())


def _text(value: Any) -> str:
    """Return a text of the format, which is a string or a list of its lines."""
    return "".join(map(str, value)) if isinstance(value, list) else str(value or "")
