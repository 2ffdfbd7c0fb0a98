from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from tests.broker.http.conftest import KnownUsers, Serve, Served

from assay_broker.http.description.routes import OPERATIONS
from assay_broker.http.requests.problems import Fault, Faults

OPENAPI = Path(__file__).with_name("openapi-3.1.schema.json")
"""The OpenAPI Initiative's own schema of OpenAPI 3.1 descriptions, 2022-10-07 (Apache License 2.0)."""


@pytest.fixture
def description(served: Served) -> Any:
    return served.ask("GET", "/openapi.json").json


def test_the_description_is_one_of_openapi_3_1(description: Any) -> None:
    schema = json.loads(OPENAPI.read_text(encoding="utf-8"))
    assert list(Draft202012Validator(schema).iter_errors(description)) == []


def test_every_schema_in_it_is_one_and_every_reference_leads_somewhere(description: Any) -> None:
    schemas = description["components"]["schemas"]
    for schema in schemas.values():
        Draft202012Validator.check_schema(schema)
    referred = set(re.findall(r'"#/components/schemas/(\w+)"', json.dumps(description)))
    assert referred == set(schemas)


def test_every_operation_is_in_it_once(description: Any) -> None:
    names = [one["operationId"] for path in description["paths"].values() for one in path.values()]
    assert sorted(names) == sorted(one.name for one in OPERATIONS)
    assert len(set(names)) == len(names)


def test_it_says_whether_a_login_is_needed(description: Any, serve: Serve) -> None:
    assert "securitySchemes" not in description["components"]
    guarded = serve(KnownUsers(mqm="x")).ask("GET", "/openapi.json").json
    assert guarded["components"]["securitySchemes"]["basic"]["scheme"] == "basic"
    assert guarded["paths"]["/"]["get"]["security"] == [{"basic": []}]
    assert guarded["paths"]["/health"]["get"]["security"] == []


def test_answers_are_as_it_says(served: Served, description: Any) -> None:
    def check(name: str, value: Any) -> None:
        schema = {"$ref": f"#/components/schemas/{name}", "components": description["components"]}
        assert list(Draft202012Validator(schema).iter_errors(value)) == []

    queue = "/ibmmq/rest/v2/messaging/qmgr/ASSAY/queue/ORDERS/message"
    served.put("m")
    check("CommandAnswer", served.mqsc("DISPLAY QUEUE(*)").json)
    check("CommandAnswer", served.mqsc("DISPLY").json)
    check("CommandAnswer", served.run(command="display", qualifier="queue", name="*").json)
    check("CommandAnswer", served.run(command="display", qualifier="queue", name="NOPE").json)
    check("Messages", served.ask("GET", f"{queue}list").json)
    check("Messages", served.ask("GET", f"{queue}list?detail=full").json)
    check("WholeMessage", served.ask("GET", f"{queue}?detail=full").json)
    check("State", served.ask("GET", "/ready").json)
    check("Errors", served.ask("GET", "/nothing").json)
    check("Command", {"type": "runCommand", "parameters": {"command": "DISPLAY QMGR"}})
    check("Command", {"type": "runCommandJSON", "command": "display", "qualifier": "qmgr", "parameters": {"a": 1}})


def test_every_path_answers_every_method_of_its_own_and_no_other(served: Served, description: Any) -> None:
    for path, methods in description["paths"].items():
        filled = path.format(version="v2", qmgr="ASSAY", queue="Q", topic="t")
        for method in ("get", "post", "delete", "put", "patch"):
            reply = served.ask(method.upper(), filled, "{}" if method == "post" else None)
            assert (reply.status == 405) is (method not in methods), (method, path)
            if reply.status == 405:
                assert reply.error == (405, "ASWB0002E", 0)
                assert {one.strip().lower() for one in reply.headers["allow"].split(",")} >= set(methods)
            assert reply.headers["x-content-type-options"] == "nosniff"
            assert reply.headers["content-security-policy"].startswith("default-src 'none'")


def test_every_operation_refuses_a_parameter_that_it_does_not_have(served: Served, description: Any) -> None:
    for path, methods in description["paths"].items():
        filled = path.format(version="v2", qmgr="ASSAY", queue="Q", topic="t")
        for method, operation in methods.items():
            reply = served.ask(method.upper(), f"{filled}?misspelt=1", "{}" if method == "post" else None)
            assert reply.error == (400, "ASWB0006E", 0), (method, path)
            assert "'misspelt'" in reply.text
            assert "400" in operation["responses"], (method, path)


def test_identifiers_are_used_for_one_thing_each() -> None:
    faults: list[Fault] = [one.value for one in Faults]
    assert len({one.identifier for one in faults}) == len(faults)
    page = (Path(__file__).parents[3] / "docs" / "http.md").read_text(encoding="utf-8")
    for fault in faults:
        assert f"| `{fault.identifier}` | {fault.status} |" in page
