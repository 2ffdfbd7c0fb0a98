"""MQSC, IBM MQ's command language for administrators.

- `lines` splits a script into commands.
- `syntax` splits a command's text into parameters.
- `statements` turns the parameters into a statement with a command for the core.
- `script` runs the commands of a script in order.
- `answers` writes the core's answers as runmqsc does.
"""
