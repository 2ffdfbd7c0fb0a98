"""MQSC: IBM MQ's command language, as one notation for what an administrator can ask for.

A script's lines become commands (`lines`), a command's text a list of parameters (`syntax`), these a statement
(`statements`) that holds a change for the core; what the core answers is written as runmqsc writes it (`answers`).
`script` runs them one after the other.
"""
