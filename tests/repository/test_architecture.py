"""The layout holds: layers, listed packages, one reader of the environment, light imports, short files."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import tomllib
from pathlib import Path

from tests.support.paths import ROOT

PACKAGES = ("answering", "app", "graph", "prompts")
SETUP = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
TOP_MODULES = sorted(ROOT.glob("*.py"))
SOURCES = sorted(path for name in PACKAGES for path in (ROOT / name).rglob("*.py")) + TOP_MODULES

MAX_LINES = 220
VENDORS = {
    "chromadb",
    "cohere",
    "grpc",
    "langchain_cohere",
    "langchain_ollama",
    "langchain_qdrant",
    "ollama",
    "onnx",
    "onnxruntime",
    "qdrant_client",
    "usearch",
    "tokenizers",
}
FRAMEWORKS = {"fastapi", "langchain", "langchain_core", "langgraph", "langserve", "uvicorn"}
LIBRARIES = {"bs4", "docutils", "lxml", "mammoth", "numpy", "openpyxl", "pptx", "pypdfium2"}
HEAVY = VENDORS | FRAMEWORKS | LIBRARIES


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def heavy_modules_after(code: str) -> set[str]:
    """The heavy packages that a fresh interpreter has loaded after that code."""
    script = f"import sys, json\n{code}\nprint(json.dumps([name for name in sys.modules if '.' not in name]))"
    run = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    return HEAVY & set(json.loads(run.stdout.splitlines()[-1]))


def test_layers() -> None:
    """import-linter keeps every contract of pyproject.toml: layers, pure graph, nodes apart, no cycle."""
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-logo", "--no-cache"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr


def test_every_package_is_listed() -> None:
    """A folder with modules is a package that pyproject.toml lists: the wheel holds what the checkout does."""
    folders = {path.parent for path in SOURCES if path.parent != ROOT}
    assert [name_of(folder) for folder in folders if not (folder / "__init__.py").is_file()] == []
    packages = {".".join(folder.relative_to(ROOT).parts) for folder in folders}
    assert set(SETUP["packages"]) == packages | {"knowledge"}
    assert SETUP["py-modules"] == [module.stem for module in TOP_MODULES]


def test_every_data_file_is_packaged() -> None:
    """Prompts, page, fitted models and samples match a pattern of package-data."""
    patterns = SETUP["package-data"]
    folders = [ROOT / name for name in (*PACKAGES, "knowledge")]
    data = {
        path
        for folder in folders
        for path in folder.rglob("*")
        if path.is_file() and path.suffix not in (".py", ".pyc") and "__pycache__" not in path.parts
        if path.name != "README.md"  # for who reads the checkout
    }
    packaged = {
        path
        for package, globs in patterns.items()
        for pattern in globs
        for path in ROOT.joinpath(*package.split(".")).glob(pattern)
    }
    assert sorted(map(name_of, data - packaged)) == []


def test_only_settings_reads_the_environment() -> None:
    """No module but app/settings.py names ``os.environ`` or ``os.getenv``."""
    names = {"environ", "environb", "getenv", "getenvb"}
    readers = [
        f"{name_of(path)}:{node.lineno}"
        for path in SOURCES
        if path != ROOT / "app" / "settings.py"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if (isinstance(node, ast.Attribute) and node.attr in names)
        or (isinstance(node, ast.ImportFrom) and node.module == "os" and names & {alias.name for alias in node.names})
    ]
    assert readers == []


def test_the_command_line_is_light() -> None:
    """``import app.cli.main`` loads none of what only a running garden needs: ``garden --help`` is there at once."""
    assert heavy_modules_after("import app.cli.main") == set()


def test_vendors_are_loaded_when_used() -> None:
    """Importing the interfaces and the composition root, all of them, loads no vendor's package."""
    names = ["app.bootstrap.compose", "app.api.server", *(module.stem for module in TOP_MODULES)]
    vendors = HEAVY - {
        "docutils",
        "fastapi",
        "langchain",
        "langchain_core",
        "langgraph",
        "langserve",
        "numpy",
        "uvicorn",
    }
    assert heavy_modules_after(f"import {', '.join(names)}") & vendors == set()


def test_files_are_short() -> None:
    """A source file is read in one go: at most 220 lines."""
    lengths = {name_of(path): len(path.read_text(encoding="utf-8").splitlines()) for path in SOURCES}
    assert {name: length for name, length in lengths.items() if length > MAX_LINES} == {}
