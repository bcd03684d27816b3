"""Write as plain text what mammoth leaves out of a Word document: fields, formulas, text boxes; drop hidden text.

The elements are those of Office Open XML (ECMA-376, part 1): 17.16 fields, 17.3.2.41 hidden text, 22.1 formulas.
"""

from collections import defaultdict
from typing import Any

from lxml import etree

from app.ingest.loaders.archive import attribute, local, text_of
from app.ingest.loaders.outline import number_of

_UNWRAPPED = tuple(f"{{*}}{name}" for name in ("fldSimple", "bdo", "dir", "ruby", "rubyBase", "oMathPara"))


def write_out(root: Any) -> list[str]:
    """Change a part of a Word document so that mammoth reads all its visible text; return its hidden texts."""
    hidden = _drop_hidden(root)
    etree.strip_elements(root, "{*}rt")
    for formula in list(root.iterdescendants("{*}oMath")):
        formula.getparent().replace(formula, run_of(root, linear(formula)))
    for choice in list(root.iterdescendants("{*}ddList")):
        _write_choice(root, choice)
    etree.strip_tags(root, *_UNWRAPPED)
    for box in list(root.iterdescendants("{*}txbxContent")):
        _move_out(box)
    return hidden


def linear(formula: Any) -> str:
    """Return a formula in one line: ``a/b``, ``x^2``, ``x_i``, ``√(…)``."""
    name = local(formula)
    if name == "t":
        return formula.text or ""
    parts = defaultdict(str, {local(child): linear(child) for child in formula})
    match name:
        case "f":
            return f"{_bracketed(parts['num'])}/{_bracketed(parts['den'])}"
        case "sSup" | "sSub" | "sSubSup":
            below = f"_{_bracketed(parts['sub'])}" if "sub" in parts else ""
            above = f"^{_bracketed(parts['sup'])}" if "sup" in parts else ""
            return f"{parts['e']}{below}{above}"
        case "rad":
            return f"{parts['deg']}√({parts['e']})"
        case "nary":
            return f"{_sign(formula, 'chr', '∫')}_({parts['sub']})^({parts['sup']}) {parts['e']}"
        case "func":
            return f"{parts['fName']} {parts['e']}"
        case "d":
            inside = ", ".join(linear(child) for child in formula if local(child) == "e")
            return f"{_sign(formula, 'begChr', '(')}{inside}{_sign(formula, 'endChr', ')')}"
    return "".join(map(linear, formula))


def _bracketed(text: str) -> str:
    return text if len(text) == 1 or text.isalnum() else f"({text})"


def _sign(formula: Any, name: str, usual: str) -> str:
    """Return a sign that the properties of a formula name, or the usual one."""
    named = next(formula.iterfind(f"*/{{*}}{name}"), None)
    return usual if named is None else attribute(named, "val") or ""


def run_of(root: Any, text: str) -> Any:
    """Return a run of *text* in the namespace of the part."""
    namespace = root.tag.rpartition("}")[0] + "}"
    run = root.makeelement(f"{namespace}r")
    words = run.makeelement(f"{namespace}t", {"{http://www.w3.org/XML/1998/namespace}space": "preserve"})
    words.text = text
    run.append(words)
    return run


def _drop_hidden(root: Any) -> list[str]:
    """Drop the words that a run hides, and return them by paragraph."""
    hidden: dict[Any, str] = {}
    for mark in root.iterdescendants("{*}vanish"):
        run = mark.getparent().getparent()
        if run is None or local(run) != "r" or attribute(mark, "val") in ("0", "false", "off"):
            continue
        paragraph = next(run.iterancestors("{*}p"), run)
        hidden[paragraph] = hidden.get(paragraph, "") + text_of(run)
        for words in list(run.iterchildren("{*}t", "{*}tab", "{*}br")):
            run.remove(words)
    return [text for text in hidden.values() if text.strip()]


def _write_choice(root: Any, choices: Any) -> None:
    """Write the chosen entry of a drop-down field before the run that begins the field."""
    entries = [attribute(entry, "val") or "" for entry in choices.iterchildren("{*}listEntry")]
    chosen = choices.find("{*}result")
    number = number_of(attribute(chosen, "val") if chosen is not None else None)
    run = next(choices.iterancestors("{*}r"), None)
    if run is not None and number < len(entries):
        run.addprevious(run_of(root, entries[number]))


def _move_out(box: Any) -> None:
    """Put the paragraphs of a drawn text box after its paragraph; mammoth reads the older form of one, if there is."""
    drawing = next(box.iterancestors("{*}drawing"), None)
    host = next(drawing.iterancestors("{*}p"), None) if drawing is not None else None
    if drawing is None or host is None:
        return
    older = [form for both in drawing.iterancestors("{*}AlternateContent") for form in both.iterchildren("{*}Fallback")]
    if not any(text_of(form).strip() for form in older):
        for part in reversed(list(box)):
            host.addnext(part)
