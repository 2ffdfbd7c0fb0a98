"""The crash campaign: kills a broker process under load, at random and chosen moments, and judges it from journals.

- `server` is the broker's process, `supervisor` starts and kills it, `phases` records what the broker was doing;
- `families` are the kinds of load, `acts` the operations of clients, which run in processes of their own (`client`);
- `accounts` works out from the clients' journals how often each message may be seen, `claims` claims it;
- `campaign` runs all of it.
"""
