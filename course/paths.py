"""Where the code of the course lies, and where its data lies."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent


def truth_path(lesson: str) -> Path:
    """The percent notebook: the truth of a lesson."""
    return CHECKOUT / "source" / lesson / f"{lesson}.py"


def source_path(lesson: str) -> Path:
    """The instructor's notebook, generated from the truth."""
    return CHECKOUT / "source" / lesson / f"{lesson}.ipynb"


def release_path(lesson: str) -> Path:
    """The student's notebook, generated from the source notebook by nbgrader."""
    return CHECKOUT / "release" / lesson / f"{lesson}.ipynb"


@dataclass(frozen=True)
class DataFolders:
    """Folders of a course's data under `root`; the names are nbgrader's."""

    root: Path

    @property
    def submitted(self) -> Path:
        return self.root / "submitted"

    @property
    def autograded(self) -> Path:
        return self.root / "autograded"

    @property
    def feedback(self) -> Path:
        return self.root / "feedback"

    @property
    def report(self) -> Path:
        return self.root / "report"

    @property
    def gradebook(self) -> Path:
        return self.root / "gradebook.db"

    @property
    def grades(self) -> Path:
        return self.root / "grades.csv"
