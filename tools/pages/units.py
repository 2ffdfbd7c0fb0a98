"""The page about units of work (`docs/units.md`), made from the state tables."""

from __future__ import annotations

from assay_broker.core.states.branches import BRANCHES
from assay_broker.core.states.units import UNITS
from tools.pages.state_tables import diagram, listing

_HEAD = """# Units of work

Messages that a client sends in a unit of work are visible to other clients only after the commit. Messages that it
receives in a unit of work are locked at once: no other client gets them. The commit makes all sends and receives final,
or none of them. A unit is local to one connection, or it is a branch of a global unit, which a transaction manager
commits or backs out. Each kind has a state table (`assay_broker.core.states.units`,
`assay_broker.core.states.branches`); `make pages` draws this page from the tables.

If a state has no row for an input, the queue manager refuses the input and changes nothing. The error is an illegal
state for a local unit, and XAER_PROTO for a branch.

## Local units

The input *lost* means that the connection ends, normally or not. *Stored* and *store failed* are the store's results
of the commit. The actions are:

- *join*: the queue manager adds a send or a delivery to the unit
- *apply*: it carries out the unit's sends and settlements
- *discard*: it drops the messages that the unit has sent, and makes the deliveries in the unit unsettled again
- *await*: it changes nothing until the store answers
- *forget*: it removes the unit
"""

_BRANCHES = """## Branches of global units

The inputs are named after the functions of X/Open XA (C193):

- xa_start begins a branch (`ACTIVE`), or continues it (*resume*, *join*).
- xa_end ends or suspends the work in the branch (*end*, *fail*, *suspend*).
- xa_prepare, xa_commit, xa_rollback and xa_forget are *prepare*, *commit* (in one phase: *commit at once*),
  *back out* and *forget*.

The actions are:

- *enlist*: the queue manager adds a send or a delivery to the branch
- *rest*: it changes only the state
- *take up*: it lets a session work in the branch
- *discard*: it drops the messages that the branch has sent, and returns the messages that were accepted in it to their
  queues
- *break*: it does what *discard* does, and refuses the request
- *secure*: it records the branch's messages so that commit and back-out are both possible, even after a restart
- *apply*: it commits a branch that was not prepared
- *carry out*: it commits a prepared branch
- *give back*: it backs out a prepared branch
- *tell*: it answers with the heuristic outcome
- *strike*: it removes the heuristic outcome from the store
- *keep*: it keeps the branch, and does nothing else
- *drop*: it removes the branch

Important states and events:

- **Before prepare**, a branch belongs to the connection that works in it, or that worked in it last. If this connection
  ends, the queue manager backs the branch out. Messages received in the branch return to their queues, marked as
  redelivered.
- **Prepared** means *in doubt*. No client sees the messages that were sent in the branch, and no other receiver gets
  the messages that were received in it. Sent messages keep their places on the queues, but a delayed message
  goes to the staging queue only after the commit. A lost connection, a restart or a kill does not end the branch.
  Non-persistent messages are lost with the queue manager, as always. The time to live of messages continues; a message
  that has expired meanwhile is removed when the branch ends.
- **An operator** may decide for a transaction manager that does not come back (`RESOLVE INDOUBT`, see
  [mqsc.md](mqsc.md)). The branch is then *completed* heuristically: until xa_forget, also after a restart or a kill,
  the queue manager answers xa_commit and xa_rollback with XA_HEURCOM or XA_HEURRB.
- **If the store fails**, no step is done in part. If a prepare or a one-phase commit fails, the branch is backed out
  (XA_RBOTHER). If a two-phase commit fails, the branch stays in doubt (XA_RETRY). If a back-out of a prepared branch
  fails, the branch stays in doubt, too (XAER_RMFAIL).

| answer | when |
|---|---|
| XA_RDONLY (the vote *read-only*) | a prepare of a branch without any message; this ends the branch |
| XA_RBROLLBACK | the branch's work had failed, so that prepare or commit has backed it out |
| XA_RBOTHER | the store could not write the prepare or the one-phase commit |
| XA_RETRY | the store could not write the commit; the transaction manager must repeat it |
| XA_HEURCOM, XA_HEURRB | an operator has committed the branch, or backed it out |
| XAER_NOTA | the branch is unknown: it never began, or it has ended and is forgotten |
| XAER_DUPID | the branch exists already |
| XAER_INVAL | the xid is empty or too long |
| XAER_PROTO | the table has no such transition, or another connection works in the branch |
| XAER_RMERR | the queue manager has too many branches (1000, including branches in doubt) |
| XAER_RMFAIL | the store could not write a rollback or a forget; the transaction manager must repeat it |
"""


def units_page() -> str:
    """Return the page as Markdown."""
    heads = ("state", "input", "next state", "action")
    parts = [_HEAD, diagram(UNITS, next(iter(UNITS))[0]), listing(UNITS, heads)]
    parts += [_BRANCHES, diagram(BRANCHES, next(iter(BRANCHES))[0]), listing(BRANCHES, heads)]
    return "\n".join(parts)
