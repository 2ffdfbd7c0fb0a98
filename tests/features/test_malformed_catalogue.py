import pickle
import re
import string
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from assay_features import Catalogue, CatalogueError, feature_root, load_catalogue

PACKAGED = feature_root() / "rules.toml"

# The smallest catalogue with one rule of each sort; each test changes a part of it.
SMALL = '''\
# a small catalogue
[[document]]
key = "DELAY"
title = "Delay"
what = "A document."
cited_by = "line"
lines = 93

[[document]]
key = "JMS"
title = "Jakarta Messaging"
what = "A specification."
cited_by = "section"

[[document]]
key = "kit"
title = "Assay"
what = "Ours."
cited_by = "whole"

[[rule]]
id = "DD-02"
title = "Never early"
rule = """
Nobody sees it early.
[[rule]]
id = "a trap for a search by lines"
"""
strength = "must"
judged = ["broker"]
profile = "delay"
basis = ["DELAY:3", "DELAY:88-93", "JMS:6.2.7", "kit"]
tries = [
  "a queue",  # [[rule]]
  "a topic",
]
history = true

[[rule]]
id = "DD-42"
title = "Sizing"
rule = "Large enough."
strength = "note"
judged = ["client", "broker"]
profile = "delay-zos"
basis = ["kit"]
note = "Advice."
'''


def refusal(folder: Path, text: str | bytes) -> CatalogueError:
    file = folder / "broken.toml"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(CatalogueError) as caught:
        load_catalogue(file)
    assert caught.value.file == str(file)
    where = str(file) if caught.value.line is None else f"{file}, line {caught.value.line}"
    assert str(caught.value) == f"{where}: {caught.value.text}"
    return caught.value


def line_of(text: str, fragment: str) -> int:
    return text[: text.index(fragment)].count("\n") + 1


def test_the_small_catalogue_is_whole(tmp_path: Path) -> None:
    file = tmp_path / "small.toml"
    file.write_bytes(SMALL.replace("\n", "\r\n").encode())
    assert [rule.id for rule in load_catalogue(file).rules] == ["DD-02", "DD-42"]


# Refused catalogues. Each case: the replaced text, the new text, the place in the error, and the error's text.

FIRST_RULE = line_of(SMALL, '[[rule]]\nid = "DD-02"')
SECOND_RULE = line_of(SMALL, '[[rule]]\nid = "DD-42"')
LAST = SMALL.count("\n") + 1


def at(fragment: str) -> int:
    return line_of(SMALL, fragment)


REFUSED = {
    "bad TOML": ('id = "DD-42"', 'id = "DD-42', at('id = "DD-42"'), "this is not TOML, correct it: "),
    "bad TOML at the end": ('note = "Advice."\n', 'note = """Advice.', LAST - 1, "this is not TOML, correct it: "),
    "a key twice": ('note = "Advice."', 'note = "A."\nnote = "B."', at("note = ") + 1, "cannot overwrite a value"),
    "an unknown array": ('[[rule]]\nid = "DD-42"', '[[rul]]\nid = "DD-42"', SECOND_RULE, "did you mean rule?"),
    "an unknown profile to define": (
        'note = "Advice."',
        'note = "Advice."\n\n[[profile]]\nkey = "dely"\nwhat = "Any."',
        at("note = ") + 3,
        'profile dely: key is "dely"; did you mean delay?',
    ),
    "a profile twice": (
        'note = "Advice."',
        'note = "Advice."\n\n[[profile]]\nkey = "qos"\nwhat = "Any."\n[[profile]]\nkey = "qos"\nwhat = "Any."',
        at("note = ") + 6,
        f"profile qos is already in line {at('note = ') + 3}; give this one another key.",
    ),
    "a profile without a meaning": (
        'note = "Advice."',
        'note = "Advice."\n\n[[profile]]\nkey = "qos"',
        at("note = ") + 2,
        "profile qos has no key what; add it.",
    ),
    "an unknown top-level key": ("# a small catalogue", "version = 1", 1, '"version" is no part of a catalogue'),
    "an unknown key": (
        'note = "Advice."',
        'notes = "Advice."',
        at("note = "),
        'unknown key "notes"; did you mean note?',
    ),
    "an unknown key like no other": ("history =", "zzz =", at("history ="), "known are id, title, rule, strength"),
    "a subtable": ("history = true", "[rule.more]", FIRST_RULE, 'unknown key "more"'),
    "an unknown document key": ("lines = 93", "line = 93", at("lines = 93"), "did you mean lines?"),
    "a missing key": ('title = "Sizing"\n', "", SECOND_RULE, "rule DD-42 has no key title; add it."),
    "a missing id": ('id = "DD-42"\n', "", SECOND_RULE, "this rule has no key id; add it."),
    "a number for a text": ('"Sizing"', "7", at('"Sizing"'), "rule DD-42: title is 7; write a string."),
    "a text for a truth": (
        "history = true",
        'history = "yes"',
        at("history"),
        'history is "yes"; write true or false.',
    ),
    "a text for an array": ('["broker"]', '"broker"', at('["broker"]'), 'judged is "broker"; write an array of'),
    "a number in an array": ('"a topic",', "1,", at("tries ="), "tries is ['a queue', 1]; write an array of strings."),
    "a text for a number": ("lines = 93", 'lines = "93"', at("lines = 93"), 'lines is "93"; write a whole number.'),
    "a number for why one server cannot": (
        "history = true",
        "beyond_one_server = 1",
        at("history"),
        "rule DD-02: beyond_one_server is 1; write a string.",
    ),
    "no reason why one server cannot": (
        "history = true",
        'beyond_one_server = " "',
        at("history"),
        "rule DD-02: beyond_one_server holds an empty text; fill it in or remove it.",
    ),
    "a reason why one server cannot show advice": (
        'note = "Advice."',
        'note = "Advice."\nbeyond_one_server = "Why."',
        at("note = ") + 1,
        'rule DD-42 has strength "note" and is tried nowhere; remove beyond_one_server.',
    ),
    "an unknown strength": ('"must"', '"mist"', at('"must"'), 'rule DD-02: strength is "mist"; did you mean must?'),
    "an unknown judge": ('["broker"]', '["brokr"]', at('["broker"]'), "did you mean broker?"),
    "an unknown profile": ('"delay-zos"', '"delay-zso"', at('"delay-zos"'), "did you mean delay-zos?"),
    "an unknown way to cite": (
        '"section"',
        '"chapter"',
        at('"section"'),
        'cited_by is "chapter"; write one of "line", "section", "whole".',
    ),
    "an id twice": ('"DD-42"', '"DD-02"', at('"DD-42"'), f"DD-02 is already in line {FIRST_RULE + 1}"),
    "an id of another shape": ('"DD-42"', '"DD-042"', at('"DD-42"'), 'rule id "DD-042" must be DD, PD, QS or BT and'),
    "an id of another family": ('"DD-42"', '"XX-42"', at('"DD-42"'), "must be DD, PD, QS or BT"),
    "an id with a line end": ('"DD-42"', '"DD-42\\n"', at('"DD-42"'), "must be DD, PD, QS or BT"),
    "a profile of another family": (
        '"delay-zos"',
        '"batch"',
        at('"delay-zos"'),
        "to delay or delay-mq or delay-zos.",
    ),
    "a note without a note": ('note = "Advice."\n', "", at('strength = "note"'), 'strength "note" and no note; write'),
    "a note that is tried": ('note = "Advice."', 'note = "A."\ntries = ["x"]', LAST, "remove tries"),
    "a must without a try": ('"must"', '"kit"\nreading = "x"\n[[rule]]', FIRST_RULE, "rule DD-02 has no key judged"),
    "nothing to try": (
        '[\n  "a queue",  # [[rule]]\n  "a topic",\n]',
        "[]",
        at("tries ="),
        "say in tries what",
    ),
    "a basis without a document": (
        '["kit"]',
        '["kid"]',
        at('["kit"]'),
        "no document; did you mean kit?",
    ),
    "a line of zero": ('"DELAY:3"', '"DELAY:0"', at("DELAY:3"), "a line from 1 to 93"),
    "a negative line": ('"DELAY:3"', '"DELAY:-3"', at("DELAY:3"), "a line from 1 to 93"),
    "a line past the end": ('"DELAY:3"', '"DELAY:94"', at("DELAY:3"), "a line from 1 to 93"),
    "a line of a thousand digits": ('"DELAY:3"', f'"DELAY:{"9" * 5000}"', at("DELAY:3"), "a line from 1 to 93"),
    "a range backwards": ("88-93", "93-88", at("88-93"), "or a range such as 3-5"),
    "no line": ('"DELAY:3"', '"DELAY"', at("DELAY:3"), "a line from 1 to 93"),
    "a section by name": ("JMS:6.2.7", "JMS:six", at("JMS:6"), "the number of a section"),
    "a line of ours": ('["kit"]', '["kit:1"]', at('["kit"]'), '"kit" alone'),
    "no basis": ('["kit"]', "[]", at('["kit"]'), "basis is empty; name at least one"),
    "a basis twice": ('["kit"]', '["kit", "kit"]', at('["kit"]'), "says something twice"),
    "an empty text": ('"Sizing"', '" "', at('"Sizing"'), "title holds an empty text"),
    "an empty try": ('"a topic"', '""', at("tries ="), "tries holds an empty text"),
    "a document twice": ('key = "JMS"', 'key = "kit"', at('key = "kit"'), "document kit is already in line"),
    "a document key that no basis can name": ('key = "JMS"', 'key = "J:S"', at('key = "JMS"'), "must be letters only"),
    "a document whose address is no web page": (
        "lines = 93",
        'lines = 93\nurl = "javascript:alert(1)"',
        at("lines = 93") + 1,
        "begin it with https://",
    ),
    "a document of no lines": ("lines = 93\n", "", at("[[document]]"), "say in lines how many it has"),
    "a document of minus one line": ("lines = 93", "lines = -1", at("lines = 93"), "say in lines how many it has"),
    "lines for sections": (
        '"section"',
        '"section"\nlines = 3',
        at('"section"') + 1,
        "not cited by line; remove lines",
    ),
    "a number too large to read": ("lines = 93", f"lines = {'9' * 5000}", at("lines ="), "has too many digits"),
}


@pytest.mark.parametrize(("old", "new", "line", "says"), REFUSED.values(), ids=REFUSED.keys())
def test_a_malformed_catalogue_is_refused_with_file_and_line(
    tmp_path: Path, old: str, new: str, line: int, says: str
) -> None:
    assert old in SMALL
    error = refusal(tmp_path, SMALL.replace(old, new, 1))
    assert says in error.text
    assert error.line == line


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("", 1, "at least one [[document]] table"),
        ("\nrule = 1\n", 1, "at least one [[document]] table"),
        (SMALL[: SMALL.index("[[rule]]")], 1, "at least one [[rule]] table"),
        ("\nrule = 1\n" + SMALL[: SMALL.index("[[rule]]")], 2, "write [[rule]] as the header"),
        ("\ndocument = [1]\n", 2, "document holds 1; write [[document]] tables instead."),
        ("[document]\nkey = 1\n", 1, "write [[document]] as the header"),
        (b"# one\n# \xff\n", 2, "not UTF-8"),
        ("rule = " + "[" * 5000, 1, "nested too deeply"),
    ],
)
def test_what_is_no_catalogue_at_all_is_refused_with_its_line(
    tmp_path: Path, text: str | bytes, line: int, says: str
) -> None:
    error = refusal(tmp_path, text)
    assert says in error.text
    assert error.line == line


@pytest.mark.parametrize("name", ["missing.toml", "", "null\0.toml"])
def test_a_file_that_cannot_be_read_is_refused_without_a_line(tmp_path: Path, name: str) -> None:
    with pytest.raises(CatalogueError, match="cannot be read") as caught:
        load_catalogue(tmp_path / name)
    assert caught.value.line is None
    assert str(caught.value).startswith(f"{tmp_path / name}: ")


def test_an_error_in_the_packaged_catalogue_points_at_the_very_rule(tmp_path: Path) -> None:
    text = PACKAGED.read_text(encoding="utf-8")
    headers = [nth for nth, line in enumerate(text.splitlines(), 1) if line == "[[rule]]"]
    lines = text.splitlines(keepends=True)
    for header in headers[::27]:
        broken = [*lines[:header], "wrong = 1\n", *lines[header:]]
        assert refusal(tmp_path, "".join(broken)).line == header + 1


def test_a_catalogue_error_survives_pickling() -> None:
    error = pickle.loads(pickle.dumps(CatalogueError("f", 3, "t.")))  # noqa: S301 - our own bytes
    assert (error.file, error.line, error.text) == ("f", 3, "t.")


# A damaged file either loads or raises a CatalogueError with a place in the file.

SNIPPETS = st.one_of(
    st.sampled_from(
        ['"', '"""', "'''", "[", "]", "[[rule]]\n", "[rule]\n", "rule.x = 1\n", "=", "\n", "#", "\\", "{}", "\r"]
    ),
    st.text(string.printable, max_size=8),
    st.text(max_size=4),
)


@settings(deadline=None)  # each example writes a file, and a busy disk causes no failure
@given(start=st.integers(0, len(SMALL)), length=st.integers(0, 60), put=SNIPPETS)
@example(start=SMALL.index('["DELAY:3"'), length=10, put="[1979-99-99, ")
@example(start=0, length=len(SMALL), put="document = [" + "{a=" * 3000)
def test_a_damaged_text_never_raises_anything_but_a_catalogue_error(
    tmp_path_factory: pytest.TempPathFactory, start: int, length: int, put: str
) -> None:
    damaged = SMALL[:start] + put + SMALL[start + length :]
    check_damaged(tmp_path_factory.getbasetemp(), damaged.encode("utf-8", "surrogatepass"))


@settings(deadline=None)  # each example writes a file, and a busy disk causes no failure
@given(start=st.integers(0, len(SMALL)), put=st.binary(min_size=1, max_size=6))
def test_damaged_bytes_never_raise_anything_but_a_catalogue_error(
    tmp_path_factory: pytest.TempPathFactory, start: int, put: bytes
) -> None:
    damaged = SMALL.encode()
    check_damaged(tmp_path_factory.getbasetemp(), damaged[:start] + put + damaged[start + len(put) :])


VALUES = st.recursive(
    st.one_of(
        st.booleans(), st.integers(), st.floats(), st.text(max_size=5), st.sampled_from(["must", "DD-02", "kit"])
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=3), inner, max_size=3)),
    max_leaves=4,
)


@settings(deadline=None)  # each example writes a file, and a busy disk causes no failure
@given(
    st.sampled_from([line for line in SMALL.splitlines() if re.match(r"\w+ = .*[^\"\[]$|\w+ = \"[^\"]", line)]), VALUES
)
def test_a_value_of_any_other_kind_is_refused_at_its_line_or_fits(
    tmp_path_factory: pytest.TempPathFactory, line: str, value: object
) -> None:
    key = line.partition(" ")[0]
    damaged = SMALL.replace(line, f"{key} = {toml(value)}", 1)
    check_damaged(tmp_path_factory.getbasetemp(), damaged.encode())


def toml(value: object) -> str:
    """Write a value as TOML."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{toml(key)} = {toml(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(toml(item) for item in value) + "]"
    if isinstance(value, str):
        return '"' + "".join(f"\\U{ord(char):08X}" for char in value) + '"'
    return str(value).lower()


def check_damaged(folder: Path, content: bytes) -> None:
    file = folder / "damaged.toml"
    file.write_bytes(content)
    result = loaded(file)
    if isinstance(result, Catalogue):
        assert result.rules
        return
    assert result.line is not None
    assert 1 <= result.line <= content.count(b"\n") + 1
    assert re.search(r"[^.?;,: ][.?]$", result.text), result.text
    assert len(result.text) < 400
    assert str(result).isprintable()


def loaded(file: Path) -> Catalogue | CatalogueError:
    try:
        return load_catalogue(file)
    except CatalogueError as error:
        return error
