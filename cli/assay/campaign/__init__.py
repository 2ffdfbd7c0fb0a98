"""The crash campaign: kills a broker process under load, at random and chosen moments, and judges it from journals.

- `server` runs the broker's process, `supervisor` starts and kills it, `phases` records its present activity.
- `families` defines the kinds of load, `acts` the operations of the clients, which run in their own processes
  (`client`).
- `accounts` computes from the clients' journals how often each message may be seen; `claims` records the claims.
- `campaign` runs all of these.
"""
