"""The crash campaign: kills a broker process under load, and judges the broker from the clients' journals.

- `server` is the main program of the broker's process, `supervisor` starts and kills the process, and `phases` records
  the phase of the broker's work.
- `families` defines the kinds of load, and `acts` the operations of the clients. Each client runs in a process of its
  own (`client`).
- `accounts` computes from the clients' journals how often each message may be seen; `claims` records the claims.
- `campaign` runs all of these.
"""
