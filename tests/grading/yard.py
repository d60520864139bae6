"""A small lesson for tests of the grader: an exercise for each thing that crosses the door."""

from __future__ import annotations

import functools
from typing import Any

import mujoco
import numpy as np

from course.exercises import Exercise, Lesson, answer, call, close, script

LESSON = "yard"

CART = """
<mujoco>
  <option gravity="0 0 -9.81" timestep="0.002"/>
  <worldbody>
    <geom name="floor" type="plane" size="3 3 .1"/>
    <body name="cart" pos="0 0 0.1">
      <joint name="rail" type="slide" axis="1 0 0"/>
      <geom type="box" size=".1 .1 .05" mass="2"/>
      <site name="tip" pos="0.1 0 0"/>
    </body>
    <body name="ball" pos="0 1 0.05"><freejoint/><geom size=".06" mass=".5"/></body>
  </worldbody>
  <actuator><motor name="pull" joint="rail"/></actuator>
</mujoco>
"""


def cart(x: float = 0.3, v: float = -0.2) -> tuple[Any, Any]:
    """The cart's model, and data with contacts, up to date."""
    model = mujoco.MjModel.from_xml_string(CART)
    data = mujoco.MjData(model)
    data.qpos[0], data.qvel[0] = x, v
    mujoco.mj_forward(model, data)
    return model, data


def _quat_mul() -> Exercise:
    exercise = Exercise("quat_mul", points=3, provides=("quat_mul",), by_hand=True)

    def quat_mul(a, b):
        out = np.empty(4)
        mujoco.mju_mulQuat(out, np.asarray(a, float), np.asarray(b, float))
        return out

    @exercise.reference
    def reference():
        return {"quat_mul": quat_mul}

    def draws(seed, n):
        return np.random.default_rng(seed).normal(size=(n, 2, 4))

    @exercise.part("products", points=2)
    def products():
        return [call("quat_mul", a, b) for a, b in draws(1, 20)]

    @exercise.part("inputs left alone", points=1)
    def contract():
        return [call("quat_mul", a, b, unchanged=True, fresh=True) for a, b in draws(2, 5)]

    @exercise.misconception("You multiplied in the other order.")
    def swapped():
        def quat_mul(a, b):
            w, x, y, z = b
            p, q, r, s = a
            return np.array(
                [
                    w * p - x * q - y * r - z * s,
                    w * q + x * p + y * s - z * r,
                    w * r - x * s + y * p + z * q,
                    w * s + x * r - y * q + z * p,
                ]
            )

    return exercise


def _square() -> Exercise:
    exercise = Exercise("square", points=2, provides=("square",), uses=("quat_mul",))

    @exercise.reference
    def reference():
        quat_mul = _quat_mul().reference_names()["quat_mul"]
        return {"square": lambda q: quat_mul(q, q)}

    @exercise.part("squares", points=2)
    def squares():
        draws = np.random.default_rng(3).normal(size=(8, 4))
        return [call("square", q) for q in draws]

    return exercise


def _kinetic() -> Exercise:
    exercise = Exercise("kinetic", points=2, provides=("kinetic",))

    @exercise.reference
    def reference():
        return {"kinetic": lambda model, data: float(data.qvel[0] ** 2)}

    @exercise.part("energies", points=1)
    def energies():
        return [call("kinetic", *cart(0.1 * k, 0.2 * k + 0.1)) for k in range(4)]

    @exercise.part("data left alone", points=1)
    def contract():
        return [call("kinetic", *cart(0.5, 1.0), unchanged=True)]

    return exercise


def _advance() -> Exercise:
    exercise = Exercise("advance", points=2, provides=("advance",))

    @exercise.reference
    def reference():
        def advance(model, data, controller):
            data.ctrl[:] = controller(model, data)
            mujoco.mj_step(model, data)

        return {"advance": advance}

    @exercise.part("steps", points=2)
    def steps():
        def controller(model, data):
            return np.array([-4.0 * data.qpos[0] - data.time])

        def after(outcome):
            left = outcome.args_after[1]
            return np.concatenate([left.qpos, left.qvel, left.ctrl, [left.time]])

        return [call("advance", *cart(0.1 * k), controller, observe=after) for k in range(3)]

    return exercise


def _counter() -> Exercise:
    exercise = Exercise("counter", points=2, provides=("Counter",))

    @exercise.reference
    def reference():
        class Counter:
            def __init__(self, start):
                self.count = start

            def add(self, n):
                self.count += n
                return self.count

        return {"Counter": Counter}

    def conversation(start):
        def run(door):
            made = door.call("Counter", start).result()
            first = door.method(made, "add", 2).result()
            second = door.method(made, "add", 3).result()
            return [first, second, door.attribute(made, "count").result()]

        return run

    @exercise.part("counting", points=2)
    def counting():
        return [script(f"from {n}", conversation(n), compare=close()) for n in (0, 5)]

    return exercise


def _sizes() -> Exercise:
    exercise = Exercise("sizes", points=1, provides=("nq", "names"))

    @exercise.reference
    def reference():
        return {"nq": 8, "names": {"rail": 0}}

    @exercise.part("the sizes", points=1)
    def sizes():
        return [answer("nq"), answer("names")]

    return exercise


@functools.cache
def lesson() -> Lesson:
    exercises = (_quat_mul(), _square(), _kinetic(), _advance(), _counter(), _sizes())
    return Lesson(LESSON, "A yard", 5, "nothing", ("to grade",), exercises)


SOLUTIONS = {
    "quat_mul": """\
def quat_mul(a, b):
    w, x, y, z = a
    p, q, r, s = b
    return np.array([
        w * p - x * q - y * r - z * s,
        w * q + x * p + y * s - z * r,
        w * r - x * s + y * p + z * q,
        w * s + x * r - y * q + z * p,
    ])
""",
    "square": "def square(q):\n    return quat_mul(q, q)\n",
    "kinetic": "def kinetic(model, data):\n    return data.qvel[0] ** 2\n",
    "advance": """\
def advance(model, data, controller):
    data.ctrl[:] = controller(model, data)
    mujoco.mj_step(model, data)
""",
    "counter": """\
class Counter:
    def __init__(self, start):
        self.count = start

    def add(self, n):
        self.count += n
        return self.count
""",
    "sizes": 'nq = 8\nnames = {"rail": 0}\n',
}
FULL = 12.0
WRONG = {
    "quat_mul": "def quat_mul(a, b):\n    return np.zeros(4)\n",
    "square": "def square(q):\n    return np.zeros(4)\n",
    "kinetic": "def kinetic(model, data):\n    return -1.0\n",
    "advance": "def advance(model, data, controller):\n    pass\n",
    "counter": "class Counter:\n    pass\n",
    "sizes": "nq = 7\nnames = {}\n",
}


def cell(source: str, **about: Any) -> dict[str, Any]:
    return {
        "cell_type": "code",
        "source": source,
        "metadata": {"nbgrader": about} if about else {},
        "outputs": [],
        "execution_count": None,
    }


def notebook(
    answers: dict[str, str] | None = None, first: str = "", last: str = ""
) -> dict[str, Any]:
    """A submission: right answers but for `answers`, a cell before them and one before the tests.

    The graded cells stand after all answers, so that `last` can still spoil any of them.
    """
    texts = {**SOLUTIONS, **(answers or {})}
    cells = [cell("import mujoco\nimport numpy as np", grade_id="header_setup", locked=True)]
    if first:
        cells.append(cell(first))
    ids = [e.id for e in lesson().exercises]
    cells += [cell(texts[i], grade_id=i, solution=True, locked=False) for i in ids]
    if last:
        cells.append(cell(last))
    cells += [
        cell("print('not run')", grade_id=f"test_{i}", grade=True, locked=True, solution=False)
        for i in ids
    ]
    return {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


def grade_id(cell: dict[str, Any]) -> str:
    return str(cell["metadata"].get("nbgrader", {}).get("grade_id", ""))


def points(graded: Any) -> dict[str, float]:
    return {result.exercise: result.points for result in graded.results}


def messages(graded: Any, exercise: str) -> str:
    return "\n".join(next(r for r in graded.results if r.exercise == exercise).messages)


def shown(graded: Any) -> str:
    """All output text of a graded notebook."""
    return repr([c["outputs"] for c in graded.notebook["cells"]])
