"""MQSC: IBM MQ's command language, as one notation for administrators' commands.

`lines` splits a script into commands, `syntax` a command's text into parameters, and `statements` turns these into a
statement with a command for the core. `answers` writes the core's answer as runmqsc does. `script` runs the commands
one after the other.
"""
