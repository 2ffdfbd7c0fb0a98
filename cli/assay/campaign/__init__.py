"""The crash campaign: a broker process under load, killed at random instants and at chosen ones, judged from journals.

`phases` says where in its work the broker was; `server` is the broker's process and `keeper` starts and kills it;
`families` are the kinds of load and `acts` what clients do of each, in processes of their own (`client`); `accounts`
makes the claims, from what the clients wrote down; `campaign` is the whole of it.
"""
