"""The OpenAPI description: complete, and kept by what the server does."""

from copy import deepcopy

import pytest
from hypothesis import HealthCheck, given, settings
from tests.depth import DEEP

from weftwork.server.http.app import make_app
from weftwork.server.http.openapi import describe
from weftwork.server.http.options import Limits, Options

from .serving import STUDIO, key_for, open_studio, running

EXAMPLES = 4 if DEEP else 1
"""Requests for each operation and mode. Four meet each field's border over all operations."""
DESTRUCTIVE = ("DELETE", "/v1/workspaces/{workspace}")
REFUSABLE = ["2xx", "400", "401", "403", "404", "413", "422"]
"""A request may fit its description and still name what does not exist, or what the engine cannot use."""


@pytest.fixture(scope="module")
def studio(tmp_path_factory):
    with open_studio(tmp_path_factory.mktemp("described") / "studio.weft") as weft:
        yield weft, key_for(weft, scope="admin")


@pytest.fixture(scope="module")
def app(studio):
    return make_app(studio[0], Options(local=STUDIO, limits=Limits(requests_per_minute=0)))


@pytest.fixture(scope="module")
def operations(app):
    paths = describe(app)["paths"]
    return {(method.upper(), path): each for path, found in paths.items() for method, each in found.items()}


def test_every_operation_says_what_it_does_needs_and_answers(operations):
    assert len(operations) > 50
    for (method, path), operation in operations.items():
        where = f"{method} {path}"
        assert operation["summary"] and operation["description"] and operation["tags"], where
        if path not in ("/healthz", "/readyz", "/metrics"):
            assert operation["security"] == [{"key": []}], where
        assert {"401", "403", "404", "422", "500"} <= operation["responses"].keys() or path in ("/healthz", "/readyz")
        for parameter in operation.get("parameters", ()):
            assert parameter["schema"], where


def test_every_body_has_an_example_that_the_server_takes_for_well_formed(app, operations):
    schemas = describe(app)["components"]["schemas"]
    for where, operation in operations.items():
        for kind, content in operation.get("requestBody", {}).get("content", {}).items():
            if kind == "application/json":
                name = content["schema"]["$ref"].rpartition("/")[2]
                assert schemas[name].get("examples"), f"{where}: {name}"


def test_operations_have_stable_names_by_which_clients_call_them(operations):
    names = {operation["operationId"] for operation in operations.values()}
    assert len(names) == len(operations)
    assert all(name.isalpha() for name in names)
    # Generated clients break when one of these changes.
    assert names >= {
        "buildContext", "previewContext", "explainContext", "buildDelta", "checkCitations", "searchPassages",
        "readNode", "writeNodes", "removeNodes", "uploadDocument", "readJob", "remember", "searchMemories",
        "buildMemoryContext", "startThread", "addMessages", "askQuestion", "giveFeedback", "readDocument",
    }  # fmt: skip


def _untyped(schema, where):
    """The places of a schema that promise nothing of what stands there."""
    if isinstance(schema, list):
        for number, part in enumerate(schema):
            yield from _untyped(part, f"{where}/{number}")
    if not isinstance(schema, dict):
        return
    of_any = schema.get("additionalProperties", True) in (True, {})
    if schema == {} or (schema.get("type") == "object" and "properties" not in schema and of_any):
        yield where
    for name, part in schema.items():
        if name not in ("examples", "default", "additionalProperties") or (isinstance(part, dict) and part):
            yield from _untyped(part, f"{where}/{name}")


def test_every_answer_is_typed_to_its_leaves(app):
    description = describe(app)
    schemas = description["components"]["schemas"]
    assert [where for name, schema in schemas.items() for where in _untyped(schema, name)] == []
    assert [name for name in schemas if "_" in name] == []
    for path, found in description["paths"].items():
        for method, operation in found.items():
            success = next(iter(operation["responses"].items()))
            assert success[0] == "204" or success[1]["content"], f"{method} {path}"


def _without_headers(description):
    """The description without the headers that name a user or a workspace: made-up ones would be all that is tested."""
    told = deepcopy(description)
    for found in told["paths"].values():
        for operation in found.values():
            operation["parameters"] = [each for each in operation.get("parameters", ()) if each["in"] != "header"]
    return told


def test_the_server_keeps_what_its_description_promises(studio, app, operations):
    # Here, since all workers read this file and one of them runs this test.
    import schemathesis
    from schemathesis.config import SchemathesisConfig
    from schemathesis.generation import GenerationMode

    _, key = studio
    config = SchemathesisConfig.from_dict({"checks": {"positive_data_acceptance": {"expected-statuses": REFUSABLE}}})
    schema = schemathesis.openapi.from_dict(_without_headers(describe(app)), config=config)
    limits = settings(
        max_examples=EXAMPLES, derandomize=True, database=None, deadline=None, suppress_health_check=list(HealthCheck)
    )
    called = set()
    with running(app) as url:
        for found in schema.get_all_operations():
            operation = found.ok()
            where = (operation.method.upper(), operation.path)
            inside = "{workspace}" in operation.path and where != DESTRUCTIVE
            for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
                body = operations[where].get("requestBody", {}).get("content", {})
                if mode is GenerationMode.NEGATIVE and "application/json" not in body:
                    continue  # in an address and in a form, everything is text
                strategy = operation.as_strategy(mode, path_parameters={"workspace": "studio"} if inside else None)

                @limits
                @given(case=strategy)
                def keeps(case):
                    called.add((case.method, case.path))
                    case.call_and_validate(base_url=url, headers=key, timeout=20)

                keeps()
    assert called == operations.keys()
