from __future__ import annotations

import json
from typing import Any

import pytest
from tests.broker.http.conftest import CSRF, Served

from assay_broker.http.handlers.commands import RunCommandJson, json_command
from assay_broker.http.requests.problems import HttpProblem
from assay_sdk.model.command_reasons import Mqrccf
from assay_sdk.model.reasons import Mqrc

MQSC = "/ibmmq/rest/v2/admin/action/qmgr/ASSAY/mqsc"


def items(served: Served, command: str) -> list[dict[str, Any]]:
    reply = served.mqsc(command)
    assert reply.status == 200
    found: list[dict[str, Any]] = reply.json["commandResponse"]
    return found


def shown(served: Served, **body: Any) -> list[dict[str, Any]]:
    reply = served.run(**body)
    assert (reply.status, reply.json["overallCompletionCode"]) == (200, 0), reply.text
    return [one["parameters"] for one in reply.json["commandResponse"]]


# commands as text ----------------------------------------------------------------------------------------------------


def test_a_command_is_carried_out_and_answered_as_runmqsc_would(served: Served) -> None:
    reply = served.mqsc("DEFINE QLOCAL(ORDERS) MAXDEPTH(5)")
    assert reply.json == {
        "commandResponse": [{"completionCode": 0, "reasonCode": 0, "text": ["AMQ8006I: The queue is created."]}],
        "overallCompletionCode": 0,
        "overallReasonCode": 0,
    }
    (item,) = items(served, "DISPLAY QLOCAL(ORDERS) MAXDEPTH CURDEPTH")
    assert item["text"][0].split("\n") == [
        "AMQ8409I: A queue.",
        "   QUEUE(ORDERS)                           TYPE(QLOCAL)",
        "   CURDEPTH(0)                             MAXDEPTH(5)",
    ]


def test_each_object_that_is_shown_is_an_item_of_its_own(served: Served) -> None:
    served.must("DEFINE QLOCAL(A1)", "DEFINE QLOCAL(A2)")
    assert ["QUEUE(A1)" in one["text"][0] for one in items(served, "DISPLAY QLOCAL(A*)")] == [True, False]


def test_a_refusal_says_what_is_wrong_and_where(served: Served) -> None:
    reply = served.mqsc("DISPLAY QLOCAL(NOPE)").json
    (item,) = reply["commandResponse"]
    assert (item["completionCode"], item["reasonCode"], item["syntaxError"]) == (2, Mqrc.UNKNOWN_OBJECT_NAME, False)
    assert item["text"][0].startswith("AMQ8147E: ")
    assert (reply["overallCompletionCode"], reply["overallReasonCode"]) == (2, Mqrccf.COMMAND_FAILED)
    (wrong,) = items(served, "DEFINE QLOCL(Q)")
    assert (wrong["reasonCode"], wrong["column"], wrong["syntaxError"]) == (Mqrccf.PARM_SYNTAX_ERROR, 8, True)


def test_one_request_holds_one_command(served: Served) -> None:
    for two in ("DEFINE QLOCAL(A)\nDEFINE QLOCAL(B)", "DEFINE QLOCAL(A); DEFINE QLOCAL(B)", "* nothing", ""):
        (item,) = items(served, two)
        assert item["syntaxError"]
    assert "AMQ8147E" in served.mqsc("DISPLAY QLOCAL(A)").text


def test_a_command_may_be_so_long_and_no_longer(served: Served) -> None:
    fits = f"DEFINE QLOCAL(A){' ' * (32_762 - 16)}"
    assert items(served, fits)[0]["completionCode"] == 0
    (item,) = items(served, f"{fits} ")
    assert "at most 32762 characters" in item["text"][0]


# commands in JSON ----------------------------------------------------------------------------------------------------


def test_an_object_is_defined_altered_shown_and_deleted(served: Served) -> None:
    made = served.run(
        command="define",
        qualifier="qlocal",
        name="ORDERS",
        parameters={"MaxDepth": 5, "descr": "a 'good' one", "put": "disabled", "share": "no", "replace": "yes"},
    )
    assert made.json["commandResponse"] == [
        {"completionCode": 0, "reasonCode": 0, "message": ["AMQ8006I: The queue is created."]}
    ]
    served.run(command="alter", qualifier="qlocal", name="ORDERS", parameters={"maxdepth": "7"})
    (queue,) = shown(served, command="DISPLAY", qualifier="QUEUE", name="ORDERS", responseParameters=["all"])
    assert (queue["queue"], queue["type"], queue["maxdepth"], queue["curdepth"]) == ("ORDERS", "QLOCAL", 7, 0)
    assert (queue["descr"], queue["put"], queue["share"]) == ("a 'good' one", "DISABLED", "NO")
    (part,) = shown(served, command="display", qualifier="qlocal", name="ORDERS", responseParameters=["maxdepth"])
    assert part == {"queue": "ORDERS", "type": "QLOCAL", "maxdepth": 7}
    served.must("ALTER QLOCAL(ORDERS) PUT(ENABLED)")
    served.put("m")
    refused = served.run(command="delete", qualifier="qlocal", name="ORDERS").json
    assert refused["commandResponse"][0]["message"][0].startswith("AMQ8")
    assert "line" not in refused["commandResponse"][0]["message"][0]
    gone = served.run(command="delete", qualifier="qlocal", name="ORDERS", parameters={"purge": "yes"})
    assert gone.json["overallCompletionCode"] == 0


@pytest.mark.parametrize(
    ("keyword", "answer", "share"),
    [("share", "yes", "YES"), ("share", "no", "NO"), ("noshare", "yes", "NO"), ("noshare", "no", "YES")],
)
def test_a_keyword_and_its_opposite_take_yes_or_no(served: Served, keyword: str, answer: str, share: str) -> None:
    served.must("DEFINE QLOCAL(ORDERS)" + (" NOSHARE" if share == "YES" else " SHARE"))
    served.run(command="alter", qualifier="qlocal", name="ORDERS", parameters={keyword: answer})
    (queue,) = shown(served, command="DISPLAY", qualifier="QUEUE", name="ORDERS", responseParameters=["share"])
    assert queue["share"] == share


def test_a_missing_object_is_told_as_ibm_mq_tells_it(served: Served) -> None:
    reply = served.run(command="display", qualifier="qlocal", name="NOPE")
    assert reply.status == 200
    (item,) = reply.json["commandResponse"]
    assert (item["completionCode"], item["reasonCode"]) == (2, Mqrc.UNKNOWN_OBJECT_NAME)
    assert item["message"][0].startswith("AMQ8147E: ")
    assert (reply.json["overallCompletionCode"], reply.json["overallReasonCode"]) == (2, 3008)


def test_names_and_texts_keep_their_case_and_words_do_not(served: Served) -> None:
    served.run(command="define", qualifier="qalias", name="front", parameters={"target": "orders", "targtype": "queue"})
    (alias,) = shown(served, command="display", qualifier="qalias", name="front", responseParameters=["ALL"])
    assert (alias["queue"], alias["target"], alias["targtype"]) == ("front", "orders", "QUEUE")


def test_authorities_are_set_and_shown(served: Served) -> None:
    done = served.run(
        command="set",
        qualifier="authrec",
        parameters={"profile": "ORDERS.**", "objtype": "queue", "principal": "alice", "authadd": ["put", "get"]},
    )
    assert done.json["overallCompletionCode"] == 0, done.text
    served.run(
        command="set",
        qualifier="authrec",
        parameters={"profile": "ORDERS.**", "objtype": "queue", "principal": "alice", "authadd": "inq,browse"},
    )
    records = shown(served, command="display", qualifier="authrec", parameters={"profile": "ORDERS.**"})
    assert records == [
        {
            "profile": "ORDERS.**",
            "entity": "alice",
            "enttype": "PRINCIPAL",
            "objtype": "QUEUE",
            "authlist": ["BROWSE", "GET", "INQ", "PUT"],
        }
    ]


def test_what_holds_for_a_topic_string_and_the_queue_manager_is_shown(served: Served) -> None:
    (topic,) = shown(served, command="display", qualifier="tpstatus", name="a/b")
    assert (topic["tpstatus"], topic["pub"], topic["subcount"]) == ("a/b", "ENABLED", 0)
    (manager,) = shown(served, command="display", qualifier="qmgr")
    assert (manager["qmname"], manager["cmdlevel"]) == ("ASSAY", 800)
    threads = served.run(command="display", qualifier="thread", name="*", parameters={"type": "*"})
    assert threads.json["commandResponse"][0]["reasonCode"] == Mqrc.UNKNOWN_OBJECT_NAME


@pytest.mark.parametrize("where", ["TOPICSTR EQ 'a b'", ["topicstr", "eq", "a b"]])
def test_a_condition_selects(served: Served, where: object) -> None:
    served.must(
        "DEFINE QLOCAL(NEWS)", "DEFINE SUB(S1) TOPICSTR('a b') DEST(NEWS)", "DEFINE SUB(S2) TOPICSTR(c) DEST(NEWS)"
    )
    found = shown(
        served,
        command="display",
        qualifier="sub",
        name="*",
        parameters={"where": where, "subtype": "all"},
        responseParameters=["all"],
    )
    assert [(one["sub"], one["topicstr"], one["dest"]) for one in found] == [("S1", "a b", "NEWS")]


@pytest.mark.parametrize("where", ["MAXDEPTH LT 10", ["maxdepth", "lt", 10], ["maxdepth", "lt", "10"]])
def test_a_condition_on_a_number_selects(served: Served, where: object) -> None:
    served.must("DEFINE QLOCAL(SMALL) MAXDEPTH(3)")
    found = shown(served, command="display", qualifier="qlocal", name="*", parameters={"where": where})
    assert [one["queue"] for one in found] == ["SMALL"]


def test_a_queue_that_nobody_has_used_is_shown_where_that_is_asked_for(served: Served) -> None:
    bare = {"command": "display", "qualifier": "qlocal", "name": "FRESH", "responseParameters": ["all"]}
    assert served.run(**bare).json["overallCompletionCode"] == 2
    (queue,) = shown(served, **bare, onUse=True)
    assert (queue["queue"], queue["maxdepth"]) == ("FRESH", 5_000)


def test_status_and_flags_have_their_own_forms(served: Served) -> None:
    served.put("m")
    (status,) = shown(served, command="display", qualifier="qstatus", name="ORDERS")
    assert status == {"queue": "ORDERS", "type": "QUEUE", "curdepth": 1, "ipprocs": 0, "opprocs": 0}


@pytest.mark.parametrize(
    "body",
    [
        "",
        "{",
        "[]",
        '{"type": "runScript"}',
        '{"type": "runCommand"}',
        '{"type": "runCommand", "parameters": {"command": "DISPLAY QMGR"}, "more": 1}',
        '{"type": "runCommand", "parameters": {"command": "DISPLAY QMGR", "more": 1}}',
        '{"type": "runCommandJSON", "command": "display", "qualifier": "qmgr", "parmeters": {}}',
        '{"type": "runCommand", "parameters": {"command": 5}}',
        '{"type": "runCommandJSON", "command": "display"}',
        '{"type": "runCommandJSON", "command": "display", "qualifier": "qlocal", "parameters": {"a b": 1}}',
        '{"type": "runCommandJSON", "command": "define x", "qualifier": "qlocal"}',
        '{"type": "runCommandJSON", "command": "define", "qualifier": "qlocal", "parameters": {"replace": "perhaps"}}',
        "\xff",
    ],
)
def test_a_body_that_is_no_command_is_refused(served: Served, body: str) -> None:
    assert served.ask("POST", MQSC, body.encode("latin-1")).error == (400, "ASWB0005E", 0)


def test_a_value_cannot_smuggle_another_parameter_in() -> None:
    evil = "x') MAXDEPTH(0) DESCR('"
    text = json_command(RunCommandJson(command="define", qualifier="qlocal", name=evil, parameters={"descr": evil}))
    assert text == "DEFINE QLOCAL('x'') MAXDEPTH(0) DESCR(''') DESCR('x'') MAXDEPTH(0) DESCR(''')"
    word = json_command(RunCommandJson(command="alter", qualifier="qlocal", name="Q", parameters={"put": evil}))
    assert word == "ALTER QLOCAL('Q') PUT('x'') MAXDEPTH(0) DESCR(''')"


def test_a_keyword_is_letters() -> None:
    with pytest.raises(HttpProblem):
        json_command(RunCommandJson(command="define", qualifier="qlocal) replace", name="Q"))


def test_a_stopped_queue_manager_is_unavailable(served: Served) -> None:
    served.do(served.queue_manager.stop)
    assert served.mqsc("DISPLAY QMGR").error == (503, "MQWB0300E", Mqrc.Q_MGR_NOT_AVAILABLE)
    served.do(served.queue_manager.start)
    assert served.mqsc("DISPLAY QMGR").json["overallCompletionCode"] == 0


@pytest.mark.parametrize("version", ["v1", "v2", "v3"])
def test_every_version_of_the_interface_takes_commands(served: Served, version: str) -> None:
    body = json.dumps({"type": "runCommand", "parameters": {"command": "DISPLAY QMGR"}})
    assert served.ask("POST", MQSC.replace("v2", version), body, CSRF).status == 200


def test_the_queue_manager_is_named(served: Served) -> None:
    running = {"qmgr": [{"name": "ASSAY", "state": "running"}]}
    assert served.ask("GET", "/ibmmq/rest/v2/admin/qmgr").json == running
    assert served.ask("GET", "/ibmmq/rest/v2/admin/qmgr/ASSAY").json == running
    assert served.ask("GET", "/ibmmq/rest/v2/admin/qmgr/QM2").error == (404, "MQWB0009E", Mqrc.Q_MGR_NAME_ERROR)
    served.do(served.queue_manager.stop)
    assert served.ask("GET", "/ibmmq/rest/v1/admin/qmgr").json["qmgr"][0]["state"] == "endedNormally"
