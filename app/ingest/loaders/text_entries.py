"""Make items of a label and its value: with dots between them, as in price lists ("Adults .... 6.80"), or a colon."""

import re
from collections.abc import Sequence

LED = re.compile(r"\s*(?P<label>\S.*?)[ \t]?(?:\.[ \t]?){4,}(?P<value>[^.\s].*)$")
MIN_LED = 2  # lines with dots before a value that make a list of a paragraph


def led_entries(lines: Sequence[str]) -> str:
    """Return *lines* with dots between label and value ("Adults .... 6.80") as items; "" for others.

    A label may begin on the line before; a line that ends with a colon leads the items after it in.
    """
    if sum(bool(LED.match(line)) for line in lines) < MIN_LED:
        return ""
    entries: list[str] = []
    label = ""
    for line in map(str.strip, lines):
        led = LED.match(line)
        if led:
            entries.append(f"- {label}{led['label']}: {' '.join(led['value'].split())}")
            label = ""
        elif line.endswith(":"):
            entries.append(f"{label}{line}\n")
            label = ""
        else:
            label += f"{line} "
    return "\n".join([*entries, f"\n{label}"]).strip()


def labelled_entries(cells: Sequence[Sequence[str]]) -> str:
    """Return the rows of a form or a letter's head ("Name:" and a value) as items; "" for other tables.

    Such a table has two columns and no header.
    """
    labels = [row[0] for row in cells]
    if any(len(row) != 2 for row in cells) or 2 * sum(label.endswith(":") for label in labels) <= len(labels):
        return ""
    return "\n".join(f"- {label.rstrip(':')}: {value}".rstrip() for label, value in cells)
