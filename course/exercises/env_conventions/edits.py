"""Misconceptions as edits: a right cell with one step changed."""

from __future__ import annotations

from course.exercises import Exercise, Implementation


def edited(exercise: Exercise, id: str, text: str, *edits: tuple[str, str], of: int = 0) -> None:
    """Register the exercise's variant number `of`, with `edits` made, as a misconception.

    Args:
      id, text: as for `Exercise.misconception`.
      edits: `(old, new)` pieces of the cell; every occurrence of `old` is replaced.

    Raises:
      ValueError: a piece does not occur, so the edit would change nothing.
    """
    cell = exercise.variants[of].cell
    for old, new in edits:
        if old not in cell:
            raise ValueError(f"{exercise.id}, {id}: {old!r} does not occur in the cell")
        cell = cell.replace(old, new)
    exercise.misconceptions.append(Implementation(id, text, cell))
