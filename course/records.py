"""What grading says of a submission: a record for each exercise, and the problems met on the way.

Both travel inside the graded notebook (`metadata.mjcourse.graded`), so that feedback and reports
need nothing but `autograded/` and the gradebook.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any


@dataclass(frozen=True)
class Problem:
    """A submission that was repaired, or could not be graded, and why.

    Attributes:
      kind: one word for counting, such as `duplicate_cell` or `unreadable`.
      message: what was found and what was done about it, for the instructor.
    """

    kind: str
    message: str
    lesson: str = ""
    student: str = ""

    def of(self, student: str, lesson: str) -> Problem:
        """The same problem, of that submission."""
        return replace(self, student=student, lesson=lesson)

    def to_json(self) -> dict[str, str]:
        return {
            "student": self.student,
            "lesson": self.lesson,
            "kind": self.kind,
            "message": self.message,
        }


@dataclass(frozen=True)
class Record:
    """The grade of one exercise of one submission.

    Attributes:
      points: `None` until a person has read a text answer.
      misconceptions: ids, most likely first, two at most.
      messages: sentences for the student.
    """

    student: str
    lesson: str
    exercise: str
    points: float | None
    max_points: float
    misconceptions: list[str] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def attach(
    notebook: dict[str, Any], results: Iterable[Any], problems: Iterable[Problem] = ()
) -> None:
    """Write results (`course.grading.score.Result`) and problems into a graded notebook.

    An answer whose cell failed is said to have failed, not to be missing; one that is still the
    stub is said to be that, whatever its names hold.
    """
    failures, untouched = _failures(notebook), _untouched(notebook)
    graded = {
        "results": [
            {
                "exercise": r.exercise,
                "points": float(r.points),
                "max_points": float(r.max_points),
                **_words(r, failures, untouched),
                "parts": [
                    {"name": p.name, "points": float(p.points), "max_points": float(p.max_points)}
                    for p in r.parts
                ],
            }
            for r in results
        ],
        "problems": [{"kind": p.kind, "message": p.message} for p in problems],
    }
    metadata = notebook.setdefault("metadata", {})
    ours = metadata.get("mjcourse")
    metadata["mjcourse"] = {**(ours if isinstance(ours, Mapping) else {}), "graded": graded}


def _failures(notebook: Mapping[str, Any]) -> dict[str, str]:
    """How the solution cells that raised an error ended, by grade id."""
    found = {}
    for cell in notebook.get("cells", []):
        data = cell.get("metadata", {}).get("nbgrader", {})
        for output in cell.get("outputs", []):
            error = output.get("output_type") == "error"
            if data.get("solution") and error and output.get("ename") != "NotImplementedError":
                found[data["grade_id"]] = f"{output.get('ename')}: {output.get('evalue')}"
    return found


def _untouched(notebook: Mapping[str, Any]) -> set[str]:
    """Grade ids of the solution cells that nobody has worked on, as nbgrader finds them."""
    from nbformat import from_dict
    from nbgrader.utils import compute_checksum

    found = set()
    for cell in notebook.get("cells", []):
        data = cell.get("metadata", {}).get("nbgrader", {})
        if data.get("solution") and data.get("checksum") == compute_checksum(from_dict(cell)):
            found.add(data["grade_id"])
    return found


def _words(result: Any, failures: Mapping[str, str], untouched: set[str]) -> dict[str, list[str]]:
    if result.exercise in untouched and not result.points:
        return {"misconceptions": ["not_written"], "messages": ["Not written yet."]}
    failure = failures.get(result.exercise)
    if failure and result.misconceptions == ["not_written"]:
        said = f"The cell of your answer stopped with an error, so nothing is defined: {failure}"
        return {"misconceptions": ["cell_failed"], "messages": [said[:500]]}
    return {"misconceptions": list(result.misconceptions), "messages": list(result.messages)}


def attached(notebook: Mapping[str, Any]) -> dict[str, Any]:
    """What `attach` wrote: `{"results": [...], "problems": [...]}`; empty lists when nothing."""
    ours = notebook.get("metadata", {}).get("mjcourse", {})
    graded = ours.get("graded", {}) if isinstance(ours, Mapping) else {}
    return {"results": graded.get("results", []), "problems": graded.get("problems", [])}
