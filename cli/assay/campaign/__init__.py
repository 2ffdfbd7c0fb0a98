"""The crash campaign: kills a broker process under load, and judges the broker from the clients' journals.

- `server` runs the broker's process, `supervisor` starts and kills it, and `phases` records the phase of its work.
- `families` defines the kinds of load, and `acts` the operations of the clients. Each client runs in a process of its
  own (`client`).
- `accounts` computes from the clients' journals how often each message may be seen; `claims` records the claims.
- `campaign` runs all of these.
"""
