"""The page of the profile stomp-liveness, made from its rules and defects."""

from __future__ import annotations

from assay.liveness.defects import DEFECTS
from assay.liveness.rules import RULES, SECTION, LivenessRule

_HEAD = f"""# Heart-beats over STOMP: the profile stomp-liveness

`assay liveness` judges whether a broker and a client keep their promises about heart-beats, each end separately. The
rules rest on the section [Heart-beating]({SECTION}) of STOMP 1.2. They are
not in [the catalogue](rules/README.md), whose rules come from four other documents; no total of `assay run` counts them.
`make pages` writes this page.

```console
$ assay liveness                                             # the reference broker and the SDK
$ assay liveness --backend artemis+stomp --interval 2s
$ assay liveness --client stomp.py --side client             # stomp.py without the SDK
$ assay liveness --defect starved-client                     # SL-09 must fail
$ assay run --profile stomp-liveness --backend rabbitmq+stomp   # as assay liveness --backend, with results in assay-out
```

`liveness-out/liveness.json` has the verdicts. `liveness-out/wire` has a record for each scenario: the octets (a password as `***`), the
end that sent them, and when they arrived, in milliseconds. The verdicts follow from these records alone.

## Rules

STOMP 1.2 demands the behaviour in *must* rules. It permits, but does not demand, the behaviour in *kit* rules. A product that
does not keep a *kit* rule gets the verdict `recorded`; only the kit's own broker and client can fail it. In each direction, the
*interval* is the larger of the interval that the sender promises and the one that the receiver wants.

| rule | judged | strength | demand | broken if | defect |
|---|---|---|---|---|---|
"""
_END = """
| verdict | meaning |
|---|---|
| `pass` | the record shows what the rule demands |
| `fail` | the record shows the behaviour under *broken if* |
| `not promised` | the end promises no heart-beats, or the other end wants none, so there is nothing to judge |
| `recorded` | a product breaks a *kit* rule |
| `inconclusive` | the record does not decide the rule, for example because the kit itself was late or the connection ended early |

- **Margin.** STOMP asks a receiver to allow for a margin of error, but gives no number. Here an end breaks its promise after one and a
  half intervals without an octet, because stomp.py then ends the connection. Artemis and stompjs allow two intervals.
- **Lateness.** A relay between both ends notes when octets arrive. The relay also measures its own lateness. If this lateness may
  explain the missing octets, the verdict is `inconclusive`. The relay cannot measure how late a broker's process is, so choose a longer
  interval on a busy machine.

## Scenarios

| scenario | the client | judged |
|---|---|---|
| `server-idle` | a plain client sends ends of lines only | SL-01, SL-02, SL-03 |
| `server-frames` | sends frames only (BEGIN and ABORT) | SL-03 |
| `server-mute` | promises heart-beats, and is silent after CONNECT | SL-04, SL-05 |
| `server-none` | promises none, and is silent | SL-06 |
| `client-idle` | the judged client sends and receives no messages | SL-07, SL-08, SL-10 |
| `client-busy` | its listener runs for five intervals | SL-09, SL-10 |
| `client-silent` | the relay holds back all octets of the server | SL-11, SL-12 |
| `client-idle-2` | the client connects again | SL-13 |

## Defects

For each defect the relay simulates a broker or client that breaks one rule. `assay liveness --defect NAME` must then fail this rule.

| defect | rule | behaviour |
|---|---|---|
"""


def liveness_page() -> str:
    """Return the page as Markdown."""
    names = {defect.rule: defect.name for defect in DEFECTS}
    defects = (f"| `{defect.name}` | {defect.rule} | {defect.text} |\n" for defect in DEFECTS)
    return _HEAD + "".join(_line(rule, names[rule.id]) for rule in RULES) + _END + "".join(defects)


def _line(rule: LivenessRule, defect: str) -> str:
    return f"| {rule.id} | {rule.judged} | {rule.strength} | {rule.rule} | {rule.breach} | `{defect}` |\n"
