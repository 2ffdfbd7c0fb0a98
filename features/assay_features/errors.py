"""What can go wrong with the catalogue.

FeaturesError
├── CatalogueError         the file is malformed: file, line, text
├── UnknownRuleError       no rule has this id: id, nearest             (also a KeyError)
└── UnknownProfileError    there is no such profile: profile, nearest   (also a KeyError)
"""


class FeaturesError(Exception):
    """Base of all errors of this package; its text is one sentence for the user."""


class CatalogueError(FeaturesError):
    """A catalogue cannot be read, or does not say what a catalogue must."""

    def __init__(self, file: str, line: int | None, text: str) -> None:
        super().__init__(file, line, text)
        self.file = file
        """The file, as it was asked for."""
        self.line = line
        """The line at fault, counted from 1; None if the file could not be read at all."""
        self.text = text
        """What is wrong there and what to do."""

    def __str__(self) -> str:
        where = self.file if self.line is None else f"{self.file}, line {self.line}"
        return f"{where}: {self.text}"


class UnknownRuleError(FeaturesError, KeyError):
    """The catalogue has no rule of this id."""

    def __init__(self, rule_id: str, nearest: str | None) -> None:
        super().__init__(rule_id, nearest)
        self.id = rule_id
        """The id that was asked for."""
        self.nearest = nearest
        """The id that looks most like it, None if none does."""

    def __str__(self) -> str:
        hint = f"did you mean {self.nearest}?" if self.nearest else "`assay rules` lists them all."
        return f"There is no rule {self.id}; {hint}"


class UnknownProfileError(FeaturesError, KeyError):
    """There is no profile of this name."""

    def __init__(self, profile: str, nearest: str | None) -> None:
        super().__init__(profile, nearest)
        self.profile = profile
        """The profile that was asked for."""
        self.nearest = nearest
        """The profile that looks most like it, None if none does."""

    def __str__(self) -> str:
        hint = f"did you mean {self.nearest}?" if self.nearest else "`assay rules` names the profile of each rule."
        return f"There is no profile {self.profile}; {hint}"
