"""Files that describe a broker, for tests."""

from __future__ import annotations

from pathlib import Path

HEAD = 'title = "Acme MQ"\nversion = "7.2"\n'
CAPABILITIES = """
[capabilities]
queue = "manual, 1"
topic = "manual, 2"
time-to-live = "manual, 3"
non-persistent = "manual, 4"
"""
OWN = """
[process]
start = [
    "{python}", "-m", "assay", "broker", "--amqp", "127.0.0.1:{{port}}", "--stomp", "none", "--http", "none",
    "--data", "{{data}}",
]
"""


def at(url: str, more: str = "") -> str:
    """Return the text of a file for a broker that runs at a URL; `more` is the end of its ``[broker]`` table."""
    return f'{HEAD}\n[broker]\nurl = "{url}"\n{more}\n{CAPABILITIES}'


def write(folder: Path, text: str) -> Path:
    """Write a file that describes a broker, and return its path."""
    file = folder / "acme.toml"
    file.write_text(text, encoding="utf-8")
    return file


def program(folder: Path, name: str, text: str) -> Path:
    """Write an executable program, and return its path."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
    return path
