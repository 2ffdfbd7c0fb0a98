"""The page of units of work, drawn from their tables."""

from __future__ import annotations

from assay_broker.core.states.branches import BRANCHES
from assay_broker.core.states.units import UNITS
from tools.pages.state_tables import diagram, listing

_HEAD = """# Units of work

Other clients see the messages that a unit of work sends only after its commit. A message that it receives is held for
it at once. Both happen altogether or not at all. A unit is local to one connection, or it is a branch of a global
unit, about which a transaction manager decides. Each kind has a table (`assay_broker.core.states.units`,
`assay_broker.core.states.branches`); `make pages` draws this page from them.

An input that a state lacks is refused and changes nothing: a local unit refuses it as an illegal state, a branch with
XAER_PROTO.

## Local units

*Lost* is the connection that goes, in order or not; *stored* and *store failed* are what the store says of the commit.
"""

_BRANCHES = """## Branches of global units

The words are X/Open XA's (C193) in the order of its functions: xa_start begins a branch (`ACTIVE`), or takes it up
again (*resume*, *join*); xa_end leaves it (*end*, *fail*, *suspend*); then *prepare*, *commit* (*commit at once*: in
one phase) or *back out*, and *forget*.

- **Before prepare** a branch belongs to the connection that works in it, or did last, and is backed out with it. What
  it has accepted goes back to its queues by itself, marked as redelivered.
- **Prepared** is *in doubt*: no client sees the messages that it has sent. They keep their places on the queues and
  on the staging queue, and a delayed one is not staged yet. No other receiver gets the messages that it has received.
  Neither a lost connection nor a restart nor a kill ends the branch. Non-persistent messages end with the queue
  manager, as always. Time to live goes on; a message that expires meanwhile is found expired when the branch is over.
- **An operator** may decide for a transaction manager that does not come back (`RESOLVE INDOUBT`, see
  [mqsc.md](mqsc.md)). The branch is then *completed* heuristically: it is remembered, a restart or a kill later too,
  and xa_commit and xa_rollback are answered XA_HEURCOM or XA_HEURRB, until xa_forget.
- **A store that fails** leaves nothing half: a branch that cannot be prepared is backed out (XA_RBOTHER), as is one
  that cannot be committed in one phase; one that cannot be committed in the second phase stays in doubt (XA_RETRY),
  and so does one that cannot be backed out (XAER_RMFAIL).

| answer | when |
|---|---|
| XA_RDONLY (the vote *read-only*) | prepare of a branch that holds nothing: it is over |
| XA_RBROLLBACK | its work had failed, so prepare or commit has backed it out |
| XA_RBOTHER | the store could not take it |
| XA_RETRY | the store could not take the commit: ask again |
| XA_HEURCOM, XA_HEURRB | an operator has committed it, or backed it out |
| XAER_NOTA | no such branch: it never began, or is over and forgotten |
| XAER_DUPID | it begins a second time |
| XAER_INVAL | the xid is empty or too long |
| XAER_PROTO | the table has no such transition, or another connection works in it |
| XAER_RMERR | there are too many branches (1000 in one queue manager, those in doubt included) |
| XAER_RMFAIL | the store could not take a rollback or a forget: ask again |
"""


def units_page() -> str:
    """Return the page as Markdown."""
    heads = ("state", "input", "next state", "action")
    parts = [_HEAD, diagram(UNITS, next(iter(UNITS))[0]), listing(UNITS, heads)]
    parts += [_BRANCHES, diagram(BRANCHES, next(iter(BRANCHES))[0]), listing(BRANCHES, heads)]
    return "\n".join(parts)
