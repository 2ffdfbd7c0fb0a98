from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay_broker.core.administration.changes import Change, DisplayThreads, ResolveIndoubt
from assay_broker.core.objects.factory import factory
from assay_broker.core.objects.host import Host
from assay_broker.core.objects.model import Definition, Namespace
from assay_broker.core.objects.status import ThreadStatus
from assay_broker.mqsc.dry_run import DryRun
from assay_broker.mqsc.lines import Position
from assay_broker.mqsc.script import CommandAnswer, ScriptAnswer, Shown, run_script
from assay_sdk.model.command_reasons import Mqrccf
from assay_sdk.model.reasons import Mqrc

HOST = Host()


@pytest.fixture
def dry_run() -> DryRun:
    return DryRun(factory("QM1", zos=False), HOST)


def run(dry_run: DryRun, script: str, host: Host = HOST) -> ScriptAnswer:
    return run_script(script, dry_run.ask, host)


def one(dry_run: DryRun, command: str) -> CommandAnswer:
    (answer,) = run(dry_run, command).answers
    return answer


def queue(dry_run: DryRun, name: str) -> Definition:
    found = dry_run.directory.queue(name)
    assert found is not None
    return found


def test_a_script_is_answered_as_runmqsc_answers_it(dry_run: DryRun) -> None:
    script = (
        "* queues\nDEFINE QLOCAL(ORDERS) +\n  MAXDEPTH(5)\nDEFINE QLOCAL(ORDERS)\nDEFINE QLOCL(ORDERS)\nEND\nnot read\n"
    )
    exists = 'AMQ8150E: The QLOCAL "ORDERS" exists already; REPLACE redefines it.'
    assert run(dry_run, script).lines == (
        "       : * queues",
        "     1 : DEFINE QLOCAL(ORDERS) +",
        "       :   MAXDEPTH(5)",
        "AMQ8006I: The queue is created.",
        "     2 : DEFINE QLOCAL(ORDERS)",
        f"{exists} (line 4, column 15; MQRCCF_OBJECT_ALREADY_EXISTS (4001))",
        "     3 : DEFINE QLOCL(ORDERS)",
        "AMQ8405I: There is no DEFINE QLOCL (do you mean QLOCAL?). (line 5, column 8; MQRCCF_PARM_SYNTAX_ERROR (3097))",
        "   DEFINE QLOCL",
        "AMQ8427I: Valid are: DEFINE QLOCAL | QALIAS | QMODEL | TOPIC | SUB.",
        "     4 : END",
        "3 MQSC commands read.",
        "One command has a syntax error.",
        "One valid MQSC command could not be processed.",
    )


def test_an_empty_script_has_no_commands(dry_run: DryRun) -> None:
    assert run(dry_run, "").lines == (
        "No MQSC commands read.",
        "No commands have a syntax error.",
        "All valid MQSC commands were processed.",
    )


def test_display_shows_two_columns_and_long_values_alone(dry_run: DryRun) -> None:
    text = "d" * 40
    one(dry_run, f"DEFINE QALIAS(FRONT) TARGET(ORDERS) DESCR('{text}')")
    assert one(dry_run, "DISPLAY QALIAS(FRONT)").lines == (
        "AMQ8409I: A queue.",
        "   QUEUE(FRONT)                            TYPE(QALIAS)",
        "   CLUSNL( )                               CLUSTER( )",
        "   DEFBIND(OPEN)                           DEFPRTY(0)",
        "   DEFPSIST(NO)",
        f"   DESCR({text})",
        "   GET(ENABLED)                            PUT(ENABLED)",
        "   TARGET(ORDERS)                          TARGTYPE(QUEUE)",
    )


def test_words_without_quotes_fold_to_upper_case_and_others_do_not(dry_run: DryRun) -> None:
    run(dry_run, "define qlocal(orders)\nDEFINE QLOCAL('orders') DESCR('it''s')")
    assert queue(dry_run, "ORDERS").text("DESCR") == ""
    assert queue(dry_run, "orders").text("DESCR") == "it's"


def test_a_quoted_blank_blanks_an_attribute(dry_run: DryRun) -> None:
    run(dry_run, "DEF QL(Q) BOQNAME(B) DESCR('x')\nALT QL(Q) BOQNAME(' ') DESCR('  ')")
    assert queue(dry_run, "Q").text("BOQNAME") == queue(dry_run, "Q").text("DESCR") == ""


def test_blanks_and_commas_separate(dry_run: DryRun) -> None:
    assert one(dry_run, "DEF, QL (Q),MAXDEPTH ( 5 )\tPUT(DISABLED)").refused is None


def test_replace_and_like_work_and_may_stand_anywhere(dry_run: DryRun) -> None:
    answer = run(dry_run, "DEF QL(A) MAXDEPTH(3)\nDEF QL(B) PUT(DISABLED)\nDEF QL(B) LIKE(A) REPLACE GET(DISABLED)")
    assert answer.refused == ()
    assert (queue(dry_run, "B").number("MAXDEPTH"), queue(dry_run, "B").text("PUT")) == (3, "ENABLED")


def test_a_flag_is_said_by_its_keyword_or_its_no_form(dry_run: DryRun) -> None:
    run(dry_run, "DEF QL(Q) NOSHARE HARDENBO")
    assert (queue(dry_run, "Q").text("SHARE"), queue(dry_run, "Q").text("HARDENBO")) == ("NO", "YES")
    assert "   SHARE" not in one(dry_run, "DIS QL(Q) SHARE").lines
    assert one(dry_run, "DIS QL(Q) SHARE").lines[-1] == "   NOSHARE"


def test_keywords_are_no_reserved_words(dry_run: DryRun) -> None:
    assert run(dry_run, "DEF QL(REPLACE) DESCR(LIKE)\nDIS QL(REPLACE)\nDEF QL(END)").refused == ()


@pytest.mark.parametrize(
    ("display", "names"),
    [
        ("DIS Q(A*)", ["A1", "A2", "AB"]),
        ("DIS QL(A*)", ["A1", "A2"]),
        ("DIS QA('A*')", ["AB"]),
        ("DIS Q(A*) TYPE(QALIAS)", ["AB"]),
        ("DIS Q(A*) WHERE(MAXDEPTH GT 5)", ["A2"]),
        ("DIS Q(A*) WHERE(MAXDEPTH LE 5)", ["A1"]),
        ("DIS Q(A*) WHERE(DEFPRTY EQ 0)", ["A1", "A2", "AB"]),
        ("DIS Q(A*) WHERE(TARGET LK 'A*')", ["AB"]),
        ("DIS Q(A*) WHERE(PUT NE ENABLED)", ["A2"]),
        ("DIS Q(A*) WHERE(DESCR EQ ' ')", ["A1", "AB"]),
        ("DIS Q(A*) WHERE(DESCR NL 's*')", ["A1", "AB"]),
        ("DIS QS(A*) WHERE(CURDEPTH EQ 0)", ["A1", "A2"]),
    ],
)
def test_display_finds_by_generic_name_and_condition(dry_run: DryRun, display: str, names: list[str]) -> None:
    run(dry_run, "DEF QL(A1) MAXDEPTH(5)\nDEF QL(A2) MAXDEPTH(6) PUT(DISABLED) DESCR('second')\nDEF QA(AB) TARGET(A1)")
    shown = one(dry_run, display).shown
    assert [item.name for item in shown if isinstance(item, Definition)] == names


def test_of_one_object_everything_is_shown_and_of_several_only_what_they_are(dry_run: DryRun) -> None:
    assert any("MAXDEPTH(5000)" in line for line in one(dry_run, "DIS QL(SYSTEM.DEFAULT.LOCAL.QUEUE)").lines)
    several = one(dry_run, "DIS QL(*)").lines
    assert not any("MAXDEPTH" in line for line in several)
    assert any("MAXDEPTH(5000)" in line for line in one(dry_run, "DIS QL(*) MAXDEPTH").lines)
    assert any("MAXDEPTH(5000)" in line for line in one(dry_run, "DIS QL(*) ALL").lines)


def test_the_queue_manager_shows_its_level_and_platform(dry_run: DryRun) -> None:
    lines = one(dry_run, "DISPLAY QMGR CMDLEVEL PLATFORM DEADQ").lines
    assert lines == (
        "AMQ8408I: The queue manager.",
        "   QMNAME(QM1)                             CMDLEVEL(800)",
        "   DEADQ( )                                PLATFORM(UNIX)",
    )


def test_subscriptions_are_shown_with_their_identifier(dry_run: DryRun) -> None:
    run(dry_run, "DEFINE SUB('news to desk') TOPICSTR('news') DEST(DESK)")
    lines = one(dry_run, "DISPLAY SUB('news*') SUBID SUBTYPE DEST").lines
    assert lines[1].split() == ["SUB(news", "to", "desk)", "DEST(DESK)"]
    assert len(lines[2].strip()) == len("SUBID()") + 48
    assert one(dry_run, "DISPLAY SUB(*) SUBTYPE(PROXY)").refused is not None


def test_an_authority_record_is_set_and_shown(dry_run: DryRun) -> None:
    run(dry_run, "SET AUTHREC PROFILE('A.**') OBJTYPE(QUEUE) PRINCIPAL('alice','bob') AUTHADD(PUT,GET)")
    run(dry_run, "SET AUTHREC PROFILE('A.**') OBJTYPE(QUEUE) PRINCIPAL('bob') AUTHRMV(GET)")
    assert dry_run.authorities.allowed("alice", "QUEUE", "A.B", "GET")
    assert not dry_run.authorities.allowed("bob", "QUEUE", "A.B", "GET")
    assert one(dry_run, "DIS AUTHREC PROFILE('A.**') OBJTYPE(QUEUE)").lines[3:6] == (
        "   AUTHLIST(GET,PUT)",
        "AMQ8864I: An authority record.",
        "   PROFILE(A.**)                           ENTITY(bob)",
    )


MISTAKES = [
    ("DFINE QL(Q)", (1, 1), 3097, "do you mean DEFINE?"),
    ("DEFIN QL(Q)", (1, 1), 3097, "do you mean DEFINE?"),
    ("DEF", (1, 1), 3228, "needs a noun"),
    ("DEF CHANNEL(C)", (1, 5), 3097, "no DEFINE CHANNEL"),
    ("DEF QL", (1, 5), 3228, "QL needs a value"),
    ("DEF QL()", (1, 5), 3228, "QL needs a value"),
    ("DEF QL('')", (1, 8), 3097, "' ' makes it blank"),
    ("DEF QL(A B)", (1, 10), 3097, "one value"),
    ("DEF QL(A-B)", (1, 9), 3097, "'-' is not allowed outside quotes"),
    ("DEF QL('A B')", (1, 8), 4008, "a name consists of"),
    ("DEF QL(" + "A" * 49 + ")", (1, 8), 4008, "49 characters"),
    ("DEF QL(Q) MAXDPTH(5)", (1, 11), 3097, "do you mean MAXDEPTH?"),
    ("DEF QL(Q) MAXDEPTH", (1, 11), 3228, "MAXDEPTH needs a value"),
    ("DEF QL(Q) MAXDEPTH(1000000000)", (1, 20), 4005, "0 to 999999999"),
    ("DEF QL(Q) MAXDEPTH(-1)", (1, 20), 4005, "0 to 999999999"),
    ("DEF QL(Q) PUT(DISABLE)", (1, 15), 4005, "do you mean DISABLED?"),
    ("DEF QL(Q) DESCR('" + "x" * 65 + "')", (1, 17), 4005, "65 bytes"),
    ("DEF QL(Q) PUT(ENABLED) PUT(DISABLED)", (1, 24), 3097, "PUT may be given once"),
    ("DEF QL(Q) SHARE NOSHARE", (1, 17), 3097, "SHARE and NOSHARE"),
    ("DEF QL(Q) REPLACE NOREPLACE", (1, 19), 3097, "REPLACE and NOREPLACE"),
    ("DEF QA(Q) TARGET(A) TARGQ(B)", (1, 21), 3097, "may be given once"),
    ("DEF QL(Q) SHARE(YES)", (1, 11), 3097, "SHARE takes no value"),
    ("DEF QL(Q) CURDEPTH(1)", (1, 11), 3097, "shown only"),
    ("DEF QL(Q) INDXTYPE(NONE)", (1, 11), 3097, "on z/OS only"),
    ("DEF QL(Q) CAPEXPRY(5)", (1, 11), 3097, "since command level 940"),
    ("DEF QL(Q) DESCR('abc)", (1, 17), 3097, "A quote is not closed"),
    ("DEF QL(Q) DESCR('it's')", (1, 22), 3097, "A quote is not closed"),
    ("DEF QL(Q", (1, 7), 3097, "A parenthesis is not closed"),
    ("DEF QL(Q))", (1, 10), 3097, "closes nothing"),
    ("DEF QL(Q) DESCR(A(B))", (1, 18), 3097, "do not nest"),
    ("DEF QL(Q) ? PUT(ENABLED)", (1, 11), 3097, "'?' is not allowed"),
    ("DEF QL(Q) +\n * x\n", (2, 2), 3097, "has no attribute *"),
    ("DEF QL(Q) LIKE(NOPE)", (1, 11), 2085, "to copy from"),
    ("DEF QA(Q) TARGET(Q)", (1, 11), 4005, "leads back to itself"),
    ("DEF TOPIC(T)", (1, 11), 3228, "TOPICSTR"),
    ("ALT QL(NOPE) PUT(DISABLED)", (1, 8), 2085, '"NOPE"'),
    ("ALT QMGR(QM1) DEADQ(D)", (1, 5), 3097, "takes no value"),
    ("ALT QMGR DEADQ(QM1)", (1, 10), 4005, "is the queue manager"),
    ("ALT TOPIC(T) TOPICSTR(A)", (1, 14), 3097, "DEFINE only"),
    ("DELETE QL(NOPE) PURGE", (1, 11), 2085, '"NOPE"'),
    ("DELETE QL(NOPE) PURG", (1, 17), 3097, "do you mean PURGE?"),
    ("DELETE QA(NOPE) PURGE", (1, 17), 3097, "no PURGE"),
    ("DEL QL(NOPE)", (1, 1), 3097, "DELETE"),
    ("CLEAR QA(Q)", (1, 7), 3097, "no CLEAR QA"),
    ("CLEAR QL(Q) ALL", (1, 13), 3097, "nothing else"),
    ("DIS QL(NOPE)", (1, 8), 2085, "is found"),
    ("DIS QL(A*B)", (1, 10), 3097, "one value"),
    ("DIS QL('A*B')", (1, 8), 4008, "at its end"),
    ("DIS QL('A?')", (1, 8), 4008, "at its end"),
    ("DIS QL(*) WHERE(CURDEPTH)", (1, 11), 3097, "keyword, an operator and a value"),
    ("DIS QL(*) WHERE(CURDEPTHS GT 1)", (1, 17), 3097, "do you mean CURDEPTH?"),
    ("DIS QL(*) WHERE(CURDEPTH IS 1)", (1, 26), 3097, "no operator"),
    ("DIS QL(*) WHERE(CURDEPTH CT 1)", (1, 26), 3097, "for lists"),
    ("DIS QL(*) WHERE(CURDEPTH GT MANY)", (1, 29), 4005, "whole number"),
    ("DIS QL(*) WHERE(CURDEPTH LK '1*')", (1, 29), 4005, "LK and NL compare only texts"),
    ("DIS QL(*) WHERE(PUT GT ENABLED)", (1, 24), 4005, "EQ or NE"),
    ("DIS QL(*) WHERE(PUT EQ ENABLED) WHERE(GET EQ ENABLED)", (1, 33), 3097, "given once"),
    ("DIS QL(*) CURDEPHT", (1, 11), 3097, "do you mean CURDEPTH?"),
    ("DIS Q(*) TYPE(QREMOTE)", (1, 15), 4005, "TYPE is"),
    ("DIS SYSTEM", (1, 5), 3097, "z/OS only"),
    ("SET AUTHREC OBJTYPE(QUEUE) GROUP(G) AUTHADD(PUT)", (1, 5), 3228, "PROFILE"),
    ("SET AUTHREC PROFILE(Q) GROUP(G) AUTHADD(PUT)", (1, 5), 3228, "OBJTYPE"),
    ("SET AUTHREC PROFILE(Q) OBJTYPE(QUEUE) AUTHADD(PUT)", (1, 5), 3228, "PRINCIPAL or GROUP"),
    ("SET AUTHREC PROFILE(Q) OBJTYPE(QUEUE) GROUP(G)", (1, 5), 3228, "AUTHADD or AUTHRMV"),
    ("SET AUTHREC PROFILE(Q) OBJTYPE(TOPIC) GROUP(G) AUTHADD(PUB,PUT)", (1, 60), 3171, '"PUT" is not an authority'),
    ("SET AUTHREC PROFILE(Q) OBJTYPE(QUEU) GROUP(G) AUTHADD(PUT)", (1, 32), 4005, "do you mean QUEUE?"),
    ("CLEAR TOPICSTR('a')", (1, 7), 3228, "CLRTYPE(RETAINED)"),
    ("CLEAR TOPICSTR('a') CLRTYPE(ALL)", (1, 29), 4005, "CLRTYPE is RETAINED"),
    ("CLEAR TOPICSTR('a') CLRTYP(RETAINED)", (1, 21), 3097, "do you mean CLRTYPE?"),
    ("DIS TPSTATUS(' ')", (1, 14), 4005, "1 to 10240 bytes"),
    ("DIS TPSTATUS('a') PUBB", (1, 19), 3097, "do you mean PUB?"),
    ("A" * 3_000, (1, 2_049), 3097, "2048 characters"),
    ("DIS QMGR; DIS Q(*)", (1, 11), 3097, "on a new line"),
]


@pytest.mark.parametrize(("command", "at", "reason", "text"), MISTAKES)
def test_a_mistake_is_answered_with_its_place_and_reason_and_changes_nothing(
    dry_run: DryRun, command: str, at: tuple[int, int], reason: int, text: str
) -> None:
    before = tuple(dry_run.directory)
    (answer,) = run(dry_run, command).answers
    refused = answer.refused
    assert refused is not None
    assert (refused.at, refused.reason) == (Position(*at), reason)
    assert text in refused.text
    assert answer.lines[0].startswith("AMQ8")
    assert f"({reason})" in answer.lines[0]
    assert (tuple(dry_run.directory), tuple(dry_run.authorities)) == (before, ())


def test_the_next_command_follows_a_refused_one(dry_run: DryRun) -> None:
    answer = run(dry_run, "DEF QL('A\nDEF QL(B)")
    assert [one.refused is None for one in answer.answers] == [False, True]


def test_authority_is_not_set_by_mqsc_on_zos() -> None:
    zos = Host(zos=True)
    dry_run = DryRun(factory("MQ01", zos=True), zos)
    answer = run(dry_run, "SET AUTHREC PROFILE(Q) OBJTYPE(QUEUE) GROUP(G) AUTHADD(PUT)", zos)
    assert [refused.reason for refused in answer.refused] == [Mqrccf.PARM_SYNTAX_ERROR]


def _nested(size: int) -> str:
    return "(" * size


RUBBISH: list[tuple[str, Callable[[int], str]]] = [
    ("quotes", lambda size: "'" * size),
    ("parentheses", _nested),
    ("words", lambda size: "A " * (size // 2)),
    ("values", lambda size: "DEF QL(Q) " + "PUT(ENABLED) " * (size // 13)),
    ("folded", lambda size: "DEF QL(Q) +\n" + "'A' (B C) +\n" * (size // 12)),
    ("folded words", lambda size: "DIS QL(Q) +\n" + "CURDEPTH +\n" * (size // 11)),
    ("folded quotes", lambda size: "DEF QL(Q) DESCR(+\n" + "'' +\n" * (size // 5)),
    ("short lines", lambda size: "A\n" * (size // 2)),
    ("other letters", lambda size: "Ä\x00\ud800?" * (size // 4)),
]


@pytest.mark.parametrize("make", [make for _, make in RUBBISH], ids=[name for name, _ in RUBBISH])
def test_100_kb_of_rubbish_are_refused_quickly(dry_run: DryRun, make: Callable[[int], str]) -> None:
    begun = time.process_time()
    answer = run(dry_run, make(100_000))
    assert answer.refused
    assert len(answer.refused) == len(answer.answers)
    assert time.process_time() - begun < 20  # an exponential parser takes half a minute, ours a second or two


@settings(deadline=None)  # a busy machine causes no failure
@given(st.text("DEFQL()' ,+-*;\nA1.%\x00Ä", max_size=200))
def test_whatever_the_text_it_is_answered_and_nothing_is_defined_by_chance(script: str) -> None:
    dry_run = DryRun(factory("QM1", zos=False), HOST)
    answer = run(dry_run, script)
    assert len(answer.refused) + sum(one.refused is None for one in answer.answers) == len(answer.answers)


def test_reasons_without_a_message_of_their_own_are_told_as_unexpected(dry_run: DryRun) -> None:
    answer = one(dry_run, "CLEAR QL(Q)")
    assert answer.refused is not None
    assert answer.refused.reason == Mqrccf.COMMAND_FAILED
    assert answer.lines[0].startswith("AMQ8101E: A dry run has no messages.")
    assert Mqrc.UNKNOWN_OBJECT_NAME not in {refused.reason for refused in run(dry_run, "CLEAR QL(Q)").refused}


def test_a_deleted_object_is_gone(dry_run: DryRun) -> None:
    run(dry_run, "DEF TOPIC(T) TOPICSTR(A)\nDELETE TOPIC(T)")
    assert dry_run.directory.find(Namespace.TOPIC, "T") is None


XID = "0000000102AB"


def answered(*shown: ThreadStatus) -> Callable[[Change], tuple[Shown, ...]]:
    """Return a fake queue manager that shows these branches and notes the changes."""
    asked: list[Change] = []

    def ask(change: Change) -> tuple[Shown, ...]:
        asked.append(change)
        return shown if isinstance(change, DisplayThreads) else ()

    ask.asked = asked  # type: ignore[attr-defined]  # for the test alone
    return ask


def test_branches_are_shown_and_resolved() -> None:
    status = ThreadStatus(XID, {"TYPE": "INDOUBT", "STATE": "PREPARED", "OUTCOME": "", "PUTS": 2})
    ask = answered(status)
    script = f"DIS THREAD(*)\nDISPLAY THR({XID}) TYPE(*) ALL\nDIS THREAD(*) TYPE(ACTIVE)\n"
    script += f"RESOLVE INDOUBT({XID}) ACTION(COMMIT)\nRESOLVE IND('{XID}') ACTION(BACKOUT)\n"
    answer = run_script(script, ask, HOST)
    assert answer.refused == ()
    assert answer.answers[0].lines == (
        "AMQ7107I: A branch of a global unit of work.",
        f"   THREAD({XID})",
        "   TYPE(INDOUBT)                           STATE(PREPARED)",
        "   OUTCOME( )                              PUTS(2)",
    )
    assert answer.answers[3].lines == ("AMQ7123I: The branch is resolved.",)
    assert ask.asked == [  # type: ignore[attr-defined]  # for the test alone
        DisplayThreads(),
        DisplayThreads(XID, None),
        DisplayThreads("*", indoubt=False),
        ResolveIndoubt(XID, committed=True),
        ResolveIndoubt(XID, committed=False),
    ]


def test_where_no_branch_is_in_doubt_none_is_found() -> None:
    (refused,) = run_script("DIS THREAD(*)", answered(), HOST).refused
    assert refused.reason == Mqrc.UNKNOWN_OBJECT_NAME


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("DIS THREAD(ORDERS)", "hexadecimal"),
        ("DIS THREAD(A)", "2 to 266 hexadecimal digits"),
        ("RESOLVE INDOUBT(ABC) ACTION(COMMIT)", "an even number"),
        (f"DIS THREAD({'AB' * 134})", "2 to 266 hexadecimal digits"),
        ("RESOLVE INDOUBT(*) ACTION(COMMIT)", "hexadecimal"),
        ("RESOLVE INDOUBT(AB)", "ACTION"),
        ("RESOLVE INDOUBT(AB) ACTION(FORGET)", "COMMIT or BACKOUT"),
        ("RESOLVE INDOUBT(AB) ACTION(COMMIT) NID(X)", "NID"),
        ("DIS THREAD(*) TYPE(REGIONS)", "INDOUBT or ACTIVE"),
    ],
)
def test_mistakes_about_branches_are_reported(command: str, says: str) -> None:
    (refused,) = run_script(command, answered(), HOST).refused
    assert refused.syntax
    assert says in refused.text
