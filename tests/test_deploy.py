"""What is in deploy/ names options, variables and figures that there are."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from weftwork.cli import LazyGroup
from weftwork.server.http.metrics import Metrics

DEPLOY = Path(__file__).parent.parent / "deploy"
RUNS = re.compile(r"weftwork (?P<command>serve|backup|keys create)(?P<options>[^'\n]*)")
OWN = {"WEFTWORK_STORE", "WEFTWORK_USER", "WEFTWORK_WORKSPACE"}
FILES = sorted(path for path in DEPLOY.rglob("*") if path.is_file())


def command(name):
    found: Any = LazyGroup()
    for part in name.split():
        found = found.get_command(None, part)
    return found


def rendered(template):
    """A template of the chart, as far as it uses nothing but values."""
    values = yaml.safe_load((DEPLOY / "helm" / "values.yaml").read_text())
    known = {".Release.Name": "weftwork", **{f".Values.{name}": str(value) for name, value in values.items()}}
    return re.sub(r"\{\{ (\S+) \}\}", lambda match: known[match[1]], template.read_text())


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(DEPLOY)))
def test_every_option_and_variable_exists(path):
    text = path.read_text()
    for run in RUNS.finditer(text):
        known = {option for parameter in command(run["command"]).params for option in parameter.opts}
        assert set(re.findall(r"--[a-z-]+", run["options"])) <= known
    variables = {parameter.envvar for parameter in command("serve").params if parameter.envvar}
    assert set(re.findall(r"WEFTWORK_[A-Z_]+", text)) <= variables | OWN


def test_the_dashboard_shows_figures_that_there_are():
    exported = Metrics().text().decode()
    known = set(re.findall(r"^# TYPE (\S+)", exported, re.MULTILINE))
    for panel in json.loads((DEPLOY / "grafana" / "weftwork.json").read_text())["panels"]:
        for target in panel["targets"]:
            for name in re.findall(r"\b(?:weftwork|process)_[a-z_]+", target["expr"].replace('job=~"weftwork', "")):
                assert {name, re.sub("_(bucket|sum|count|total)$", "", name)} & known, name


def test_manifests_are_whole_and_agree_with_each_other():
    deployment, service = (yaml.safe_load(rendered(DEPLOY / "helm" / "templates" / f"{name}.yaml"))
                           for name in ("deployment", "service"))  # fmt: skip
    pod = deployment["spec"]["template"]
    assert service["spec"]["selector"].items() <= pod["metadata"]["labels"].items()
    (server,) = pod["spec"]["containers"]
    assert service["spec"]["ports"][0]["targetPort"] == server["ports"][0]["name"]
    assert {mount["name"] for mount in server["volumeMounts"]} == {volume["name"] for volume in pod["spec"]["volumes"]}
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    assert set(compose["services"]["server"]["depends_on"]) <= set(compose["services"])
    assert (DEPLOY.parent / compose["services"]["server"]["build"]["dockerfile"]).is_file()
