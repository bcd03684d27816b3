"""Join the two rows of a table's header, and give rows the name of their group.

A header of two rows has groups of columns above their names, or names above their units.

A table keeps one header in every chunk, so the names of a column have to stand in one row. Headers of two rows are
told from a header and its first row of data by what data has: digits where the header has none.
"""

import re
from collections.abc import Sequence
from itertools import pairwise

MAX_UNIT_CHARS = 12  # longest unit of a column
_ADDRESS = re.compile(r"\S@\S|://|\bwww\.|^(?!(?:1[89]|20)\d\d\W)\+?[\d ()/-]{7,}$")
_SENTENCE = re.compile(r"[.!?]\s*\Z")
TOTAL_NAMES = "(?:(?:grand |sub-? ?)?total|sum|average|mean|gesamt|summe)"
TOTAL = re.compile(rf"\W*{TOTAL_NAMES}\b", re.IGNORECASE)
"""What a row that sums others up begins with: it is of no group."""
_YEAR = re.compile(r"(?:1[89]|20)\d\d(?!\d)")
_QUANTITY = re.compile(r"(?:[€$£]|[A-Z]{3})? ?\d")


def one_header(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """Return the rows of a table with its two header rows joined by column: ``2024 Adults``, ``Output kW``.

    A table with a header of one row is returned as it is.
    """
    table = [[" ".join(cell.split()) for cell in row] for row in rows]
    if len(table) < 3 or len(table[0]) < 2:
        return [list(row) for row in rows]
    width = max(map(len, table))
    upper, lower = (row + [""] * (width - len(row)) for row in table[:2])
    data = table[2:]
    if not (_is_grouped(upper, lower, data) or _has_units(upper, lower, data)):
        return [list(row) for row in rows]
    groups = _carried(upper, lower)
    names = [group if group == name else f"{group} {name}".strip() for group, name in zip(groups, lower, strict=True)]
    return [names, *map(list, rows[2:])]


def with_groups(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """Return the rows of a table with the name of their group in a second column, where rows of one cell name groups.

    Such a row stands right below the header, and each above a fuller one: "Weekdays", five lines, "Sundays", two lines.
    Of a table of two columns it is one cell over both. A row of one sentence is a remark. A table whose rows are in no
    groups is returned as it is.
    """
    table = [list(row) for row in rows]
    start = next((at for at, row in enumerate(table) if filled(row) > 1), len(table))
    header, below = table[start : start + 1], table[start + 1 :]
    alone = [at for at, row in enumerate(below) if filled(row) == 1 and row[0].strip()]
    names = [at for at in alone if not _SENTENCE.search(below[at][0])]
    fuller = [at for at, row in enumerate(below) if filled(row) > 1]
    is_grouped = bool(names) and names[0] == 0 and all(at + 1 in fuller for at in names)
    clearly = is_grouped and (filled(header[0]) > 2 or all(len(below[at]) == 1 for at in names))
    if not clearly or len(alone) + len(fuller) < len(below):
        return table
    members: list[list[str]] = []
    group = ""
    for at, (first, *others) in enumerate(below):
        if at in names:
            group = first
        else:
            in_group = at in fuller and not TOTAL.match(first)
            members.append([first, group if in_group else "", *others])
    return [*table[:start], [header[0][0], "", *header[0][1:]], *members]


def labelled_entries(rows: Sequence[Sequence[str]]) -> str:
    """Return the rows of a form, a card or a price list without a header as a list ``- Label: value``; "" for others.

    Of two columns, most labels end with a colon, or the first value is a quantity, or some are addresses, numbers and
    words. Of more, all labels end with a colon, or the first row is like the others: in columns of numbers, half of
    them at most, it has one.
    """
    table = [[" ".join(cell.split()) for cell in row] for row in rows if any(map(str.strip, row))]
    first, *others = table or [[]]
    if len(table) < 2 or len(first) < 2 or len({*map(len, table)}) > 1:
        return ""
    if (
        len(first) > 2
        and len(first) % 2 == 0
        and all(label.endswith(":") for row in table for label in row[::2] if label)
    ):
        pairs = [row[at : at + 2] for row in table for at in range(0, len(row), 2)]  # several in a row
        return "\n".join(f"- {entry_line(label, value)}" for label, value in pairs if label or value)
    if len(first) == 2:
        ending = 2 * sum(label.endswith(":") for label, _ in table) > len(table)
        without_header = ending or bool(first[0] and (opens_with_quantity(first[1]) or {*map(_kind, table)} == _KINDS))
    else:
        numeric = [at for at in range(1, len(first)) if is_numeric(others, at) and all(row[at] for row in others)]
        without_header = (
            bool(numeric and first[0])
            and 2 * len(numeric) < len(first)
            and all(opens_with_quantity(first[at]) for at in numeric)
        )
    entries = (entry_line(label, ", ".join(filter(None, values))) for label, *values in table)
    return "\n".join(f"- {entry}" for entry in entries) if without_header else ""


_KINDS = {"address", "number", "words"}


def _kind(pair: Sequence[str]) -> str:
    """Return what kind of value a label has: an address, a number, or words."""
    return "address" if _ADDRESS.search(pair[1]) else "number" if has_digit(pair[1]) else "words"


def opens_with_quantity(text: str) -> bool:
    """Whether a text begins with a number or a price, but not with a year: so it is a value and no column's name."""
    return bool(_QUANTITY.match(text)) and not _YEAR.match(text)


def entry_line(label: str, value: str) -> str:
    """Return a label with its value as one line: ``Label: value``."""
    return f"{label.removesuffix(':')}: {value}".rstrip() if label else value


def filled(row: Sequence[str]) -> int:
    """Count the cells of a row that are not blank."""
    return sum(map(bool, map(str.strip, row)))


def has_digit(text: str) -> bool:
    """Tell whether a text holds a digit."""
    return any(map(str.isdigit, text))


def is_numeric(rows: Sequence[Sequence[str]], at: int) -> bool:
    """Tell whether at least half of the filled cells of a column hold digits."""
    cells = [row[at] for row in rows if at < len(row) and row[at].strip()]
    return bool(cells) and 2 * sum(map(has_digit, cells)) >= len(cells)


def _is_grouped(upper: list[str], lower: list[str], data: list[list[str]]) -> bool:
    """Tell whether the upper row names groups of the columns below it: its cells repeat, or stand over two columns.

    The lower row has names or years, and none in the first column that differs from the upper row's.
    """
    spans = any(
        lower[at] and upper[at - 1] and upper[at] in ("", upper[at - 1]) and lower[at - 1] != lower[at]
        for at in range(2, len(upper))
    )
    starts = not lower[0] or not upper[0] or lower[0] == upper[0]
    named = [at for at in range(1, len(lower)) if lower[at]]
    return (
        spans
        and starts
        and not has_digit(lower[0])
        and all(not has_digit(lower[at]) or bool(_YEAR.fullmatch(lower[at])) or lower[at] == upper[at] for at in named)
        and any(is_numeric(data, at) for at in named)
    )


def _has_units(upper: list[str], lower: list[str], data: list[list[str]]) -> bool:
    """Tell whether the lower row holds nothing but units: short words above columns of numbers."""
    named = [at for at, cell in enumerate(lower) if cell]
    return (
        bool(named)
        and not lower[0]
        and bool(data[0] and data[0][0])
        and all(upper)
        and not any(map(has_digit, upper))
        and all(len(lower[at]) <= MAX_UNIT_CHARS and not has_digit(lower[at]) for at in named)
        and all(is_numeric(data, at) for at in named)
    )


def _carried(upper: list[str], lower: list[str]) -> list[str]:
    """Return the upper row with the name of a group in each of its columns.

    Where a name is repeated, merged cells were filled: what is empty beside them is of no group.
    """
    filled = any(group and group == following for group, following in pairwise(upper[1:]))
    carried = upper[:1]
    for group, name in zip(upper[1:], lower[1:], strict=True):
        carried.append(group or (carried[-1] if name and len(carried) > 1 and not filled else ""))
    return carried
