"""What a student finds where a solution stood."""

from __future__ import annotations

import re
from typing import Any

from nbgrader.preprocessors import ClearSolutions

BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"
IN_FUNCTION = "raise NotImplementedError"
AT_TOP = "# YOUR ANSWER HERE"
IN_TEXT = "YOUR ANSWER HERE"


class StubbedSolutions(ClearSolutions):
    """nbgrader's `ClearSolutions` with a stub that fits its place.

    Inside a function the stub raises `NotImplementedError`; in a cell of typed answers, and where
    helper methods of a class stood, it is a comment: an untouched notebook runs to its end.
    """

    def _replace_solution_region(self, cell: Any, language: str) -> bool:
        lines, kept = cell.source.split("\n"), []
        inside = replaced = False
        for number, line in enumerate(lines):
            mark = line.strip()
            if mark == BEGIN:
                if inside:
                    raise RuntimeError("a solution region begins inside another")
                inside = replaced = True
                indent = re.match(r"\s*", line).group(0)  # type: ignore[union-attr]
                # Helper methods of ours stand in a class body, where nothing may be raised.
                helpers = "".join(lines[number + 1 : number + 2]).lstrip().startswith(("def ", "@"))
                code_stub = IN_FUNCTION if indent and not helpers else AT_TOP
                stub = IN_TEXT if cell.cell_type == "markdown" else code_stub
                kept.append(indent + stub)
            elif mark == END:
                if not inside:
                    raise RuntimeError("a solution region ends that did not begin")
                inside = False
            elif not inside:
                kept.append(line)
        if inside:
            raise RuntimeError("a solution region does not end")
        cell.source = "\n".join(kept)
        return replaced
