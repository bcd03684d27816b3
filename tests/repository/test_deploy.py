"""The files of deploy/ agree with the code; their own grammars are the business of ``make manifests``."""

from __future__ import annotations

import re
import tomllib
from typing import Any

import yaml

from app.settings import Settings, load_settings
from tests.support.paths import ROOT

DEPLOY = ROOT / "deploy"
BASE = DEPLOY / "kubernetes" / "base"
DOCKERFILE = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
COMPOSE: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
SETTINGS = {name.upper() for name in Settings.model_fields}


def manifest(name: str) -> Any:
    return yaml.safe_load((BASE / name).read_text(encoding="utf-8"))


def pod() -> Any:
    return manifest("deployment.yaml")["spec"]["template"]["spec"]


def test_every_setting_is_one() -> None:
    """What compose file, config map and secret set are settings the service knows."""
    secret = yaml.safe_load((DEPLOY / "kubernetes" / "secret.example.yaml").read_text(encoding="utf-8"))
    given = COMPOSE["services"]["garden"]["environment"].keys() | secret["stringData"].keys()
    assert given | manifest("config.yaml")["data"].keys() <= SETTINGS
    assert {"API_KEYS", "QDRANT_API_KEY"} <= secret["stringData"].keys()
    of_image = set(re.findall(r"([A-Z_]+)=", DOCKERFILE)) & SETTINGS
    assert of_image == {"DATA_DIR", "HOST", "PORT"}


def test_the_image_holds_what_the_distribution_does() -> None:
    """Every package and module of pyproject.toml is copied, and .dockerignore lets just those through."""
    setup = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
    packages = {name.partition(".")[0] for name in setup["packages"]}
    modules = {f"{name}.py" for name in setup["py-modules"]}
    copied = {name for line in re.findall(r"^COPY (?!--)(.*) \S+$", DOCKERFILE, re.MULTILINE) for name in line.split()}
    assert packages | modules <= copied
    let_through = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert let_through == copied


def test_nothing_is_open_that_should_not_be() -> None:
    """Ports of the compose file are on loopback and answer to no other host name, so that it needs no key; the pod has
    no root and no writable root."""
    for service in COMPOSE["services"].values():
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", []))
    assert COMPOSE["services"]["garden"]["environment"]["TRUSTED_HOSTS"] == "${TRUSTED_HOSTS:-localhost}"
    assert COMPOSE["services"]["garden"]["read_only"] is True
    assert pod()["securityContext"]["runAsNonRoot"] is True
    (container,) = pod()["containers"]
    assert container["securityContext"]["readOnlyRootFilesystem"] is True
    assert f"USER {pod()['securityContext']['runAsUser']}:" in DOCKERFILE


def test_probes_ask_what_is_there() -> None:
    """Image, liveness and readiness ask the paths that ``app.api.monitoring`` serves."""
    (container,) = pod()["containers"]
    probes = {kind: container[f"{kind}Probe"]["httpGet"]["path"] for kind in ("startup", "liveness", "readiness")}
    assert probes == {"startup": "/health/live", "liveness": "/health/live", "readiness": "/health/ready"}
    assert "/health/live" in DOCKERFILE
    source = (ROOT / "app" / "api" / "monitoring.py").read_text(encoding="utf-8")
    assert all(f'"{path}"' in source for path in probes.values())


def test_a_pod_has_time_to_finish() -> None:
    """The grace period is longer than the pause before the stop and the service's own wait together."""
    (container,) = pod()["containers"]
    pause = container["lifecycle"]["preStop"]["sleep"]["seconds"]
    assert pod()["terminationGracePeriodSeconds"] > pause + load_settings().drain_timeout_seconds
    assert int(COMPOSE["services"]["garden"]["stop_grace_period"].rstrip("s")) > load_settings().drain_timeout_seconds


def test_the_base_is_whole() -> None:
    """The kustomization lists every manifest, and all of them name the same thing."""
    listed = manifest("kustomization.yaml")["resources"]
    assert sorted(listed) == sorted(path.name for path in BASE.glob("*.yaml") if path.stem != "kustomization")
    assert {manifest(name)["metadata"]["name"] for name in listed} == {"knowledge-garden"}
    selected = manifest("service.yaml")["spec"]["selector"].items()
    assert selected <= manifest("deployment.yaml")["spec"]["template"]["metadata"]["labels"].items()


def test_mounted_files_are_there() -> None:
    """What the compose file mounts from deploy/ exists."""
    mounts = [
        volume.partition(":")[0] for service in COMPOSE["services"].values() for volume in service.get("volumes", [])
    ]
    assert [path for path in mounts if path.startswith("./") and not (DEPLOY / path).exists()] == []


def test_the_example_changes_what_there_is() -> None:
    """Its files are there, its patches name what the base has, and host, TLS, volume and service fit together."""
    example = DEPLOY / "kubernetes" / "example"
    read = {path.stem: yaml.safe_load(path.read_text(encoding="utf-8")) for path in example.glob("*.yaml")}
    listed = read["kustomization"]["resources"]
    assert sorted(listed) == ["../base", *sorted(f"{name}.yaml" for name in read if name != "kustomization")]
    patches = [yaml.safe_load(row["patch"]) for row in read["kustomization"]["patches"]]
    kinds = {manifest(name)["kind"] for name in manifest("kustomization.yaml")["resources"]}
    assert {patch["kind"] for patch in patches} <= kinds
    assert {patch["metadata"]["name"] for patch in patches} == {"knowledge-garden"}
    config, deployment, _ = patches
    assert set(config["data"]) <= SETTINGS
    (volume,) = deployment["spec"]["template"]["spec"]["volumes"]
    assert volume["name"] in {mounted["name"] for mounted in pod()["volumes"]}
    assert volume["persistentVolumeClaim"]["claimName"] == read["volume"]["metadata"]["name"]
    (rule,), (tls,) = read["ingress"]["spec"]["rules"], read["ingress"]["spec"]["tls"]
    assert [rule["host"]] == tls["hosts"] == [config["data"]["TRUSTED_HOSTS"]]
    (path,) = rule["http"]["paths"]
    service = path["backend"]["service"]
    assert service["name"] == manifest("service.yaml")["metadata"]["name"]
    assert service["port"]["name"] in {port["name"] for port in manifest("service.yaml")["spec"]["ports"]}
