"""MDX: the text that a page shows, without what is said to the program that makes it."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.ingest.loaders.mdx import plain
from tests.app.ingest.conftest import load_one, texts

DOCUSAURUS = """---
title: Pump station
sidebar_position: 3
---

import Tabs from "@theme/Tabs";
import {
  Valve,
  Gauge,
} from "@site/src/parts";

export const pressures = {low: 2, high: 6};

:::warning
Close the valve first.
:::

<Tabs
  values={[
    {label: (<><Valve size={2} /> Left</>), value: "left"},
  ]}>
<TabItem value="left" label="Left pump">

The left pump runs at 1,450 turns.

</TabItem>
</Tabs>

| Pump | Flow (l/s) |
|---|---|
| Left | 31 |
"""


def test_a_page_of_a_documentation_site_is_read(tmp_path: Path) -> None:
    """Its title, notes, tables and what stands on a tab, with the tab's label; no import, no property."""
    file = tmp_path / "pump.mdx"
    file.write_text(DOCUSAURUS)
    document = load_one(file)
    said = "\n".join(texts(document))
    assert document.title == "Pump station"
    for kept in ("Close the valve first.", "Left pump", "The left pump runs at 1,450 turns.", "| Left | 31 |"):
        assert kept in said
    for gone in ("import", "export", "@theme", "Valve", "TabItem", "value", "{", "}"):
        assert gone not in said


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            '<Card title="Opening hours">\nFrom nine to five.\n</Card>',
            "\n\n**Opening hours**\n\n\nFrom nine to five.\n",
        ),
        ("{/* a note to the writer */}\nThe fee is 12 euros.", "\nThe fee is 12 euros."),
        ("The fee is{' '}\n{`12 euros`} {props.more}.", "The fee is \n12 euros ."),
        ('<Aside type="tip" style={{ color: "red" }}>Use *warm* water.</Aside>', "Use *warm* water."),
        ("<>\nBread\n</>", "\nBread\n"),
    ],
)
def test_components_and_expressions_go(text: str, expected: str) -> None:
    """Of Astro, Nextra, Starlight and others: a string stays, a title is shown, and what a component holds."""
    assert plain(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Write `{name}` and `<Tabs>`.",
        "```jsx\nimport Box from 'box';\n\nexport default () => <Box a={1} />;\n```",
        "The area is $\\frac{a}{b}$ and \\{not a script\\}.",
        "A brace { that is never closed, and 3 < 4 > 2.",
        "Goods that we import or export.\nimport duties are due at once.",
    ],
)
def test_what_is_no_script_stays(text: str) -> None:
    """Code, formulas, escaped and single braces, and sentences with the words of scripts."""
    assert plain(text) == text
