"""One fork server for all tests of a folder, as in a worker."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from course.grading import executor, score
from course.grading.apart import ForkServer, Limits
from tests.grading import yard

QUICK = Limits(cell_s=2.0, call_s=1.5, total_s=60.0, cpu_s=20)


@pytest.fixture(scope="session")
def server() -> Iterator[ForkServer]:
    server = ForkServer()
    yield server
    server.close()


@pytest.fixture(scope="package")
def grade(server: ForkServer) -> Iterator[Callable[..., Any]]:
    """Grade a submission of the yard; its exercises are prepared once."""
    ready = {e.id: score.prepare(e) for e in yard.lesson().exercises}

    def run(notebook: dict[str, Any], **options: Any) -> Any:
        given = {"server": server, "limits": QUICK, "tests": {}, **options}
        return executor.grade_notebook(notebook, yard.lesson(), **given)

    with pytest.MonkeyPatch.context() as patch:
        known = lambda exercise: ready.get(exercise.id) or score.prepare(exercise)  # noqa: E731
        patch.setattr(executor, "prepare", known)
        yield run
