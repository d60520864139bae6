"""Second evidence for "by hand": what the source says, where the watch was tampered with.

A forbidden name in a comment, a docstring or code that cannot run is no evidence; nor is a name in
live code as long as the watch over the running code is whole.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from course.exercises.exercise import Exercise
from course.grading import by_hand
from course.grading.score import Result

# Ways to reach around a watch that runs in the same interpreter.
_PROFILING = ("setprofile", "settrace", "getprofile", "_getframe")
_INSIDES = ("__closure__", "cell_contents", "get_referents", "get_referrers", "get_objects")
_FOREIGN = ("ctypes", "_ctypes", "ctypeslib", "CDLL", "PyDLL", "pythonapi", "cffi", "memmove")
_TOOLS = frozenset((*_PROFILING, *_INSIDES, *_FOREIGN, "_rotation_cy", "_rotation_xp"))
# Ways to name something without its name in the source.
_BUILDERS = frozenset(("getattr", "exec", "eval", "compile", "__import__", "vars", "__dict__"))


def apply(
    result: Result, exercise: Exercise, cells: Sequence[tuple[str, str]], blinded: bool
) -> None:
    """Take the points of an answer that tampered with the watch; says so in the messages.

    What counts is a cell that uses such a tool and names a forbidden routine, or hides what it
    names; and the exercise's own cell where another one holds the tool.

    Args:
      cells: `(grade id, source)` of all of the student's cells so far, in order.
      blinded: the watch's hook was gone after a call.
    """
    if not blinded and not any(tool in source for tool in _TOOLS for _, source in cells):
        return
    names = [(id, set(names_in(source))) for id, source in cells]
    tools = sorted(set().union(*(found for _, found in names)) & _TOOLS)
    if not tools and not blinded:
        return
    suspicious = [found for id, found in names if found & _TOOLS or id == exercise.id]
    forbidden = by_hand.forbidden_among(sorted(set().union(*suspicious)), exercise)
    hidden = any(found & _TOOLS and found & _BUILDERS for _, found in names)
    if not blinded and not forbidden and not hidden:
        return
    result.points = 0.0
    for part in result.parts:
        part.points = 0.0
    result.misconceptions.insert(0, "forbidden_routine")
    del result.misconceptions[2:]
    how = ", ".join(f"`{name}`" for name in tools) or "the profiling hook"
    what = f" and names {', '.join(f'`{n}`' for n in forbidden)}" if forbidden else ""
    result.messages.insert(
        0,
        f"Your code reaches around the check that `{exercise.id}` is written by hand "
        f"(with {how}){what}, so no points here.",
    )


def names_in(source: str) -> list[str]:
    """Names, attributes, imports and whole-word strings of the live code of a cell."""
    try:
        tree = ast.parse(_without_magics(source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    try:
        return list(_names(tree.body))
    except RecursionError:
        return []


def _without_magics(source: str) -> str:
    lines = source.splitlines()
    return "\n".join("pass" if li[:1] in ("%", "!", "?") else li for li in lines)


def _names(body: Sequence[ast.stmt]) -> Iterator[str]:
    for statement in body:
        yield from _names_of(statement)
        if isinstance(statement, (ast.Return, ast.Raise, ast.Continue, ast.Break)):
            return  # nothing after it runs


def _names_of(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return  # a docstring, or a string that stands for a comment
    if isinstance(node, (ast.If, ast.While)) and isinstance(node.test, ast.Constant):
        chosen = node.body if node.test.value else node.orelse
        yield from _names(chosen)
        return
    if isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.Attribute):
        yield node.attr
    elif isinstance(node, ast.alias):
        yield from node.name.split(".")
    elif isinstance(node, ast.ImportFrom):
        yield from (node.module or "").split(".")
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        if node.value.isidentifier():
            yield node.value
        return
    for name, value in ast.iter_fields(node):
        if name in ("body", "orelse", "finalbody") and isinstance(value, list):
            yield from _names(value)
        elif isinstance(value, ast.AST):
            yield from _names_of(value)
        elif isinstance(value, list):
            for item in value:
                if isinstance(item, ast.AST):
                    yield from _names_of(item)
