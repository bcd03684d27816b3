"""``make audit``: known holes in what is installed to run, and secrets among the files that are tracked.

Exit status 1 when there is one. An advisory service that cannot be reached is said, and passes: it says nothing about
this project, and a machine without network must be able to check its work.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LOCK = ROOT / "requirements" / "run.txt"
SECONDS = 120
"""Longest time for the advisory service."""

TOO_LARGE = 300_000
"""Files of more bytes are data: nobody pastes a key into one."""

# Tokens and keys that have a form of their own. Entropy says little among hashes, and is left out.
FORMS = """
    ArtifactoryDetector AWSKeyDetector AzureStorageKeyDetector BasicAuthDetector CloudantDetector
    DiscordBotTokenDetector GitHubTokenDetector GitLabTokenDetector IbmCloudIamDetector IbmCosHmacDetector
    JwtTokenDetector MailchimpDetector NpmDetector OpenAIDetector PrivateKeyDetector PypiTokenDetector
    SendGridDetector SlackDetector SoftlayerDetector SquareOAuthDetector StripeDetector TelegramBotTokenDetector
    TwilioKeyDetector
""".split()
WORDS = ["KeywordDetector"]
"""``password = "..."`` and the like; tests are full of made-up ones, and are spared."""


def main() -> int:
    """Audit, scan, and say what was found."""
    holes = audit(LOCK)
    secrets = [*scan(tracked(), ROOT)]
    for line in (*holes, *secrets):
        print(f"audit: {line}", file=sys.stderr)  # noqa: T201  # it is what the command is for
    return 1 if holes or secrets else 0


def audit(lock: Path) -> list[str]:
    """What the advisory service knows against the pinned versions of *lock*. One package is asked for first."""
    first = next(line.split()[0] for line in lock.read_text().splitlines() if "==" in line)
    with tempfile.TemporaryDirectory() as folder:
        (probe := Path(folder, "probe.txt")).write_text(f"{first}\n")
        answered = _advisories(probe)
    found = _advisories(lock) if answered and not any("skip_reason" in package for package in answered) else None
    if found is None:
        _say("the advisory service cannot be reached from here: dependencies were not audited")
        return []
    _say(f"{sum('skip_reason' not in package for package in found)} of {len(found)} dependencies were audited")
    return [
        f"{package['name']} {package['version']}: {hole['id']}"
        for package in found
        for hole in package.get("vulns", [])
    ]


def _advisories(requirements: Path) -> list[dict] | None:
    options = ["--disable-pip", "--no-deps", "--format=json", "--progress-spinner=off", "--timeout=10"]
    command = [sys.executable, "-m", "pip_audit", "-r", str(requirements), *options]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
        return json.loads(done.stdout)["dependencies"]
    except (subprocess.TimeoutExpired, ValueError, KeyError):
        return None


def tracked() -> list[Path]:
    """The files git tracks; none where this is no checkout."""
    done = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S607
    if done.returncode:
        _say("this is no git checkout: nothing was searched for secrets")
    return [ROOT / name for name in done.stdout.split("\0") if name]


def scan(files: Iterable[Path], root: Path) -> Iterator[str]:
    """Where, below *root*, a secret stands, and of which kind; never the secret."""
    from detect_secrets.core.scan import scan_file
    from detect_secrets.settings import transient_settings

    filters = [{"path": f"detect_secrets.filters.heuristic.{name}"} for name in ("is_templated_secret", "is_lock_file")]
    filters += [{"path": "detect_secrets.filters.allowlist.is_line_allowlisted"}]
    kept = [path for path in files if path.is_file() and path.stat().st_size <= TOO_LARGE]
    made_up = [path for path in kept if "tests" in path.relative_to(root).parts]
    for names, some in ((FORMS, made_up), (FORMS + WORDS, [path for path in kept if path not in made_up])):
        with transient_settings({"plugins_used": [{"name": name} for name in names], "filters_used": filters}):
            for path in some:
                found = scan_file(str(path))
                yield from (f"{path.relative_to(root)}:{secret.line_number}: {secret.type}" for secret in found)


def _say(what: str) -> None:
    print(f"audit: {what}")  # noqa: T201  # it is what the command is for


if __name__ == "__main__":
    sys.exit(main())
