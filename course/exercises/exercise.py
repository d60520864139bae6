"""An exercise as data: everything that a grader knows of it, in one small room.

    exercise = Exercise("integrate_quat", points=3, provides=("integrate_quat",), by_hand=True)

    @exercise.reference
    def reference():
        def integrate_quat(quat, omega, dt): ...      # MuJoCo or SciPy
        return {"integrate_quat": integrate_quat}

    @exercise.part("ordinary turns", points=2)
    def ordinary():
        rng = np.random.default_rng(1)
        return [call("integrate_quat", q, w, h, compare=quaternion(1e-10)) for q, w, h in ...]

    @exercise.misconception("Your increment multiplies from the left: that turns about world axes.")
    def left_product():
        def integrate_quat(quat, omega, dt): ...      # a whole solution cell, wrong in one way

    @exercise.variant("with the 4 x 4 matrix of the product")
    def by_matrix():
        def integrate_quat(quat, omega, dt): ...      # a whole solution cell, right in another way

The bodies of misconceptions and variants are *cells*: they see what the set-up cell gives and
nothing of this module. Each case is run through a `Door` against the answer, the reference and
every misconception; so a mistake is recognised by what it computes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from course.exercises.compare import Comparator, close, same
from course.exercises.implementation import Implementation, cell_text
from course.grading.door import Door, Outcome

FROM_REFERENCE: Any = object()


def returned(outcome: Outcome) -> Any:
    """What most cases look at: the value that the function returned."""
    return outcome.value


@dataclass(frozen=True)
class Case:
    """One thing that is asked of an answer, and how what comes back is compared.

    Either a call (`function`, `args`) whose outcome is reduced by `observe`, or a `script` that
    talks to the door itself and returns an observation. `expected` is taken from the reference
    unless given. A `typed` answer is diagnosed by itself: one wrong answer says nothing about
    another.
    """

    label: str = ""
    function: str = ""
    args: tuple[Any, ...] = ()
    observe: Callable[[Outcome], Any] = returned
    script: Callable[[Door], Any] | None = None
    compare: Comparator = field(default_factory=close)
    expected: Any = FROM_REFERENCE
    raises: str = ""
    unchanged: bool = False
    fresh: bool = False
    typed: bool = False


def call(
    function: str,
    *args: Any,
    label: str = "",
    compare: Comparator | None = None,
    expected: Any = FROM_REFERENCE,
    observe: Callable[[Outcome], Any] = returned,
    raises: str = "",
    unchanged: bool = False,
    fresh: bool = False,
) -> Case:
    """Ask for `function(*args)`.

    Args:
      label: what is special about it, in words ("half a turn about x").
      compare: how `observe(outcome)` is compared; `close()` (1e-9) unless given.
      expected: the right observation; what the reference does unless given.
      observe: what is looked at, e.g. `lambda o: o.args_after[1].qpos`; the value unless given.
      raises: name of the exception class that must come instead of a value.
      unchanged: the arguments must be left as they were.
      fresh: the value must not share memory with an argument.
    """
    return Case(
        label=label,
        function=function,
        args=args,
        observe=observe,
        compare=compare or close(),
        expected=expected,
        raises=raises,
        unchanged=unchanged,
        fresh=fresh,
    )


def script(
    label: str,
    run: Callable[[Door], Any],
    compare: Comparator | None = None,
    expected: Any = FROM_REFERENCE,
) -> Case:
    """Ask for a conversation: `run(door)` calls the answer as often as it likes.

    It returns an observation (numbers, arrays, tuples, dicts) that is compared with what the same
    conversation gives for the reference. `outcome.result()` inside turns an error of the answer
    into the case's failure.
    """
    return Case(label=label, script=run, compare=compare or close(), expected=expected)


def answer(name: str, expected: Any = FROM_REFERENCE, compare: Comparator | None = None) -> Case:
    """Ask for a typed answer: the variable `name`."""
    return Case(
        label=name,
        script=lambda door: door.value(name).result(),
        compare=compare or same(),
        expected=expected,
        typed=True,
    )


@dataclass(frozen=True)
class Part:
    """Some points, all given when every case of the part is right.

    `build` makes the cases; it is called once in a grader. Put an ordinary case into every part,
    so that no constant earns it.
    """

    name: str
    points: float
    build: Callable[[], Sequence[Case]]


@dataclass
class Exercise:
    """What a grader knows of one exercise. See the head of this module for how to write one.

    Attributes:
      id: the grade id of the solution cell; `test_<id>` is the graded cell.
      points: of the graded cell: the sum of the parts.
      provides: the functions, classes or variables that the solution cell defines.
      core: belongs to the half of the lesson that every student should do.
      by_hand: rotation and integration routines of MuJoCo and SciPy must not be called.
      forbids: further routines that must not be called, by name.
      manual_points: of `<id>_explain`, a text answer graded by a person; 0 when there is none.
      helpers: functions that several misconceptions or variants need (a quaternion product); the
        source of those that a cell uses is put before it.
      uses: exercises of the same lesson whose functions an answer may build on (follow-through).
    """

    id: str
    points: float
    provides: tuple[str, ...]
    core: bool = False
    by_hand: bool = False
    forbids: tuple[str, ...] = ()
    manual_points: float = 0.0
    uses: tuple[str, ...] = ()
    helpers: tuple[Callable[..., Any], ...] = ()
    parts: list[Part] = field(default_factory=list)
    misconceptions: list[Implementation] = field(default_factory=list)
    variants: list[Implementation] = field(default_factory=list)
    _reference: Callable[[], Mapping[str, Any]] | None = None

    def reference(self, build: Callable[[], Mapping[str, Any]]) -> Callable[[], Mapping[str, Any]]:
        """Decorator: the function that returns `{name: right answer}`."""
        self._reference = build
        return build

    def reference_names(self) -> dict[str, Any]:
        """The right answers by name: what `provides` promises."""
        if self._reference is None:
            raise ValueError(f"exercise {self.id!r} has no reference")
        return dict(self._reference())

    def part(self, name: str, points: float) -> Callable[[Any], Any]:
        """Decorator: a function that returns the cases of this part."""

        def register(build: Callable[[], Sequence[Case]]) -> Callable[[], Sequence[Case]]:
            self.parts.append(Part(name, points, build))
            return build

        return register

    def misconception(self, text: str, *, id: str = "") -> Callable[[Any], Any]:
        """Decorator: a wrong implementation and the sentence by which the student learns it.

        Several implementations of one mistake share an `id` (the function's name unless given).
        """

        def register(body: Callable[[], Any]) -> Callable[[], Any]:
            self.misconceptions.append(
                Implementation(id or body.__name__, text, partial(cell_text, body, self.helpers))
            )
            return body

        return register

    def slips(self, cell: str) -> Callable[..., None]:
        """`slip(id, text, (old, new), ...)`: a misconception as edits of `cell`.

            slip = exercise.slips(exercise.variants[0].cell)
            slip("transpose", "This is the transpose.", ("return R", "return R.T"))

        Every occurrence of `old` is replaced, one edit after the other. An edit that finds nothing
        to replace raises `ValueError`: the mistake would be none.
        """

        def slip(id: str, text: str, *edits: tuple[str, str]) -> None:
            edited = cell
            for old, new in edits:
                if old not in edited:
                    raise ValueError(f"{self.id}, {id}: {old!r} does not occur in the cell")
                edited = edited.replace(old, new)
            self.misconceptions.append(Implementation(id, text, edited))

        return slip

    def wrong_answer(self, text: str, *, id: str, **answers: Any) -> None:
        """A misconception of typed answers: the reference's, but for `answers`.

            exercise.wrong_answer("That is nv: ...", id="counts_velocities", scene_nq=27)

        Call it after the reference is given.
        """
        names = self.reference_names()
        unknown = set(answers) - set(names)
        if unknown:
            raise KeyError(f"{self.id}: {sorted(unknown)} is no answer of the reference")
        cell = "".join(f"{name} = {value!r}\n" for name, value in (names | answers).items())
        self.misconceptions.append(Implementation(id, text, cell))

    def variant(self, text: str = "") -> Callable[[Any], Any]:
        """Decorator: a right implementation that must get full points."""

        def register(body: Callable[[], Any]) -> Callable[[], Any]:
            cell = partial(cell_text, body, self.helpers)
            self.variants.append(Implementation(body.__name__, text, cell))
            return body

        return register


@dataclass(frozen=True)
class Lesson:
    """A lesson: what its header says, and its exercises in the order of the notebook.

    Attributes:
      id: nbgrader's assignment id and notebook id.
      minutes: for reading, labs and the core exercises.
      needs: prerequisites in words.
      learn: what the student can do afterwards, one line each.
    """

    id: str
    title: str
    minutes: int
    needs: str
    learn: tuple[str, ...]
    exercises: tuple[Exercise, ...]

    def exercise(self, id: str) -> Exercise:
        """The exercise of that id; raises `KeyError` with those that exist."""
        for exercise in self.exercises:
            if exercise.id == id:
                return exercise
        known = ", ".join(e.id for e in self.exercises)
        raise KeyError(f"lesson {self.id!r} has no exercise {id!r}; it has: {known}")
