"""``garden health``: the state of every part, and what to do."""

from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from app.bootstrap.compose import AppContainer, build_container
from app.cli.shared import FAILED, OK, JsonFlag, print_json, run_opened
from app.ops.advice import ADVICE


def run_health(as_json: JsonFlag = False) -> int:
    """Check every part: store, embedding model, chat model."""
    health = run_opened(build_container, _health)
    if as_json:
        print_json(health)
    else:
        out = Console(highlight=False)
        table = Table("part", "state")
        for part, state in health.items():
            if part != "notes":
                table.add_row(part, str(state))
        out.print(table)
        for note in health["notes"]:
            out.print(escape(note), soft_wrap=True)
    return FAILED if health["status"] == "unhealthy" else OK


async def _health(container: AppContainer) -> dict[str, Any]:
    """Return the state of every part; ``notes`` say what is wrong, and what to do."""
    health, notes = await container.health.check(), []
    if problem := await container.health.not_ready():
        notes = [problem.reason, *([f"Advice: {problem.do}."] if problem.do else [])]
    elif health["status"] == "degraded":
        notes = [f"The chat model is down, search works. Advice: {ADVICE['ModelUnavailable']}."]
    return {**health, "notes": notes}
