"""The errors of the catalogue of rules.

FeaturesError
├── CatalogueError         the file is malformed: file, line, text
├── UnknownRuleError       no rule has this id: id, nearest             (also a KeyError)
└── UnknownProfileError    no profile has this name: profile, nearest   (also a KeyError)
"""


class FeaturesError(Exception):
    """Base of all errors of this package; its text is one sentence for the user."""


class CatalogueError(FeaturesError):
    """A catalogue cannot be read, or its content is invalid."""

    def __init__(self, file: str, line: int | None, text: str) -> None:
        super().__init__(file, line, text)
        self.file = file
        """The file's path, as the caller gave it."""
        self.line = line
        """The number of the wrong line, counted from 1; None if the file could not be read."""
        self.text = text
        """The fault and its remedy, in one sentence."""

    def __str__(self) -> str:
        where = self.file if self.line is None else f"{self.file}, line {self.line}"
        return f"{where}: {self.text}"


class UnknownRuleError(FeaturesError, KeyError):
    """No rule of the catalogue has this id."""

    def __init__(self, rule_id: str, nearest: str | None) -> None:
        super().__init__(rule_id, nearest)
        self.id = rule_id
        """The id that the caller gave."""
        self.nearest = nearest
        """The most similar id in the catalogue; None if no id is similar."""

    def __str__(self) -> str:
        hint = f"did you mean {self.nearest}?" if self.nearest else "`assay rules` lists them all."
        return f"There is no rule {self.id}; {hint}"


class UnknownProfileError(FeaturesError, KeyError):
    """No profile has this name."""

    def __init__(self, profile: str, nearest: str | None) -> None:
        super().__init__(profile, nearest)
        self.profile = profile
        """The name that the caller gave."""
        self.nearest = nearest
        """The most similar name of a profile; None if no name is similar."""

    def __str__(self) -> str:
        hint = f"did you mean {self.nearest}?" if self.nearest else "`assay rules` names the profile of each rule."
        return f"There is no profile {self.profile}; {hint}"
