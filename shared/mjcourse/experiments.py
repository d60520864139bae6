"""`@experiment`: a cell that measures, tabulates or plots, at once, and not under grading."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mjcourse.explain import one_line
from mjcourse.grading_mode import strict, under_grading


def experiment(run: Callable[[], Any]) -> Any:
    """Decorator: run the function now and put what it returns in the place of its name.

        @experiment
        def drift():
            ...
            return worst          # the name `drift` is now this number

    Under grading nothing runs and the name is None. When it stops because a function is not
    written yet, or with any other error, one line says so and the notebook goes on.
    """
    if under_grading():
        return None
    try:
        return run()
    except Exception as error:
        if strict():
            raise
        title = run.__name__.replace("_", " ")
        print(f"{title}: {one_line(error, run.__globals__, run.__code__)}")
        return None
