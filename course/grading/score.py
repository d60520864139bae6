"""Score one exercise through a door: points by part, the misconception it shows, and words.

A part gives all of its points when every one of its cases is right, and none otherwise. Every
case is also run, once, against the exercise's misconceptions; a wrong answer that computes what
a misconception computes is named after it.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import mujoco
import numpy as np

from course.exercises.compare import Mismatch, show
from course.exercises.exercise import FROM_REFERENCE, Case, Exercise, Part
from course.grading import by_hand, known
from course.grading.door import AnswerFailed, Door, Listening, LocalDoor, Outcome
from course.grading.observe import After, Error
from course.grading.symptoms import symptom


@dataclass(frozen=True)
class Observation:
    """What one case showed of an answer: a value, or the error that came instead."""

    value: Any = None
    error: Error | None = None
    spoiled: tuple[int, ...] = ()
    shares: frozenset[int] = frozenset()
    routines: tuple[str, ...] = ()


@dataclass(frozen=True)
class Failed:
    """A case that went wrong, and the sentence that says how."""

    case: Case
    observation: Observation
    text: str


@dataclass
class PartResult:
    """Points of one part, and its cases that failed."""

    name: str
    points: float
    max_points: float
    cases: int
    failed: list[Failed] = field(default_factory=list)


@dataclass
class Result:
    """The score of one exercise, with what the student reads.

    Attributes:
      misconceptions: ids, most likely first, two at most.
      messages: sentences for the student.
    """

    exercise: str
    points: float
    max_points: float
    parts: list[PartResult]
    misconceptions: list[str] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)

    @property
    def full(self) -> bool:
        return self.points >= self.max_points

    def text(self) -> str:
        """What the graded cell prints."""
        lines = [f"{self.exercise}: {self.points:g} of {self.max_points:g} points"]
        lines += [f"  {part.name}: {part.points:g} of {part.max_points:g}" for part in self.parts]
        return "\n".join([*lines, *(f"- {m}" for m in self.messages)])


# What a case's own code raises when it meets a value of another kind than it expects.
_UNREADABLE = (ValueError, TypeError, IndexError, KeyError, AttributeError)


def _unreadable(trouble: Exception) -> Error:
    """A value that cannot be looked at is the answer's failure, never the grader's."""
    return Error(("Unreadable",), f"what came back is not what is asked for ({trouble})")


def observe(case: Case, door: Door) -> Observation:
    """Run one case against the answer behind `door`."""
    if case.script is not None:
        listening = Listening(door)
        try:
            value, error = case.script(listening), None
        except AnswerFailed as failed:
            value, error = None, failed.error
        except _UNREADABLE as trouble:
            value, error = None, _unreadable(trouble)
        return Observation(value=value, error=error, routines=tuple(listening.routines))
    return _observation(case, door.call(case.function, *case.args))


def observe_all(cases: Sequence[Case], door: Door) -> list[Observation]:
    """Run cases in order; neighbouring calls of one function cross the door together."""
    seen: list[Observation] = []
    start = 0
    while start < len(cases):
        first = cases[start]
        end = start + 1
        if first.script is not None:
            seen.append(observe(first, door))
        else:
            while end < len(cases) and cases[end].function == first.function:
                end += 1
            run = cases[start:end]
            outcomes = door.call_many(first.function, [c.args for c in run])
            seen += [_observation(c, o) for c, o in zip(run, outcomes, strict=True)]
        start = end
    return seen


def _observation(case: Case, outcome: Outcome) -> Observation:
    routines = outcome.routines_called
    if outcome.error is not None:
        return Observation(error=outcome.error, spoiled=_spoiled(case, outcome), routines=routines)
    try:
        value = case.observe(outcome)
    except AnswerFailed as failed:
        return Observation(error=failed.error, routines=routines)
    except _UNREADABLE as trouble:
        return Observation(value=outcome.value, error=_unreadable(trouble), routines=routines)
    return Observation(
        value=value,
        spoiled=_spoiled(case, outcome),
        shares=outcome.aliases if case.fresh else frozenset(),
        routines=routines,
    )


def _spoiled(case: Case, outcome: Outcome) -> tuple[int, ...]:
    """Positions of the arguments that the call changed, where it must not."""
    if not case.unchanged:
        return ()
    pairs = enumerate(zip(case.args, outcome.args_after, strict=False))
    return tuple(i for i, (before, after) in pairs if not _untouched(before, after))


def _untouched(before: Any, after: Any) -> bool:
    if isinstance(after, After):
        return not after.changed
    if isinstance(before, (mujoco.MjModel, mujoco.MjData)) or callable(before):
        return True
    if isinstance(before, np.ndarray):
        return (
            isinstance(after, np.ndarray)
            and before.shape == after.shape
            and before.dtype == after.dtype
            and before.tobytes() == after.tobytes()
        )
    if isinstance(before, (list, tuple)):
        same_kind = isinstance(after, (list, tuple)) and len(before) == len(after)
        return same_kind and all(map(_untouched, before, after))
    if isinstance(before, Mapping):
        same_kind = isinstance(after, Mapping) and list(before) == list(after)
        return same_kind and all(_untouched(before[key], after[key]) for key in before)
    if isinstance(after, np.ndarray):
        return False
    return bool(before == after)


@dataclass(frozen=True)
class Wrong:
    """A misconception run over all cases: what it shows at each, and the cases that it fails."""

    id: str
    text: str
    seen: dict[int, Observation]
    fails: frozenset[int]


@dataclass(frozen=True)
class Prepared:
    """An exercise with its cases built and run against the reference."""

    exercise: Exercise
    parts: tuple[tuple[Part, tuple[Case, ...]], ...]
    expected: dict[int, Observation]
    lesson: str = ""  # of the course's own lessons, whose misconceptions' outcomes are kept

    @functools.cached_property
    def cases(self) -> dict[int, Case]:
        """All cases by key, in order."""
        return {_key(case): case for _, built in self.parts for case in built}

    @functools.cached_property
    def wrong(self) -> tuple[Wrong, ...]:
        """What every misconception shows at every case; worked out at the first wrong answer."""
        keys = list(self.cases)
        if self.lesson:
            shown = known.recalled(self.lesson, self.exercise.id, self._shown)
        else:
            shown = self._shown()
        return tuple(
            Wrong(
                misconception.id,
                misconception.text,
                dict(zip(keys, seen, strict=True)),
                frozenset(keys[place] for place in failing),
            )
            for misconception, (seen, failing) in zip(
                self.exercise.misconceptions, shown, strict=True
            )
        )

    def _shown(self) -> list[tuple[list[Observation], list[int]]]:
        """For every misconception: what it shows at each case, and which of these are wrong."""
        cases = list(self.cases.values())
        shown = []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a misconception may well divide by zero
            for misconception in self.exercise.misconceptions:
                seen = observe_all(cases, LocalDoor(misconception.namespace()))
                verdicts = enumerate(zip(cases, seen, strict=True))
                failing = [
                    place
                    for place, (case, got) in verdicts
                    if judge(case, got, self.expected[_key(case)])
                ]
                shown.append((seen, failing))
        return shown


def _key(case: Case) -> int:
    return id(case)


@functools.cache
def _prepared(lesson: str, exercise_id: str) -> Prepared:
    from course.exercises import lesson as find_lesson

    return replace(prepare(find_lesson(lesson).exercise(exercise_id)), lesson=lesson)


def prepared(lesson: str, exercise_id: str) -> Prepared:
    """The exercise of that id, ready for grading; worked out once in a process."""
    return _prepared(lesson, exercise_id)


def prepare(exercise: Exercise) -> Prepared:
    """Build the cases and run the reference over them.

    Raises:
      ValueError: the parts do not add up to the points, or the reference fails a case of its own.
    """
    total = sum(part.points for part in exercise.parts)
    if abs(total - exercise.points) > 1e-9:
        raise ValueError(f"{exercise.id}: parts give {total:g} points, not {exercise.points:g}")
    parts = tuple((part, tuple(part.build())) for part in exercise.parts)
    cases = [case for _, built in parts for case in built]
    reference = LocalDoor(exercise.reference_names())
    expected: dict[int, Observation] = {}
    for case in cases:
        if case.raises:
            expected[_key(case)] = Observation(error=Error((case.raises, "Exception")))
        elif case.expected is not FROM_REFERENCE:
            expected[_key(case)] = Observation(value=case.expected)
        else:
            expected[_key(case)] = right = observe(case, reference)
            if right.error is not None:
                raise ValueError(
                    f"{exercise.id}: the reference fails {case.label!r}: {right.error}"
                )
    return Prepared(exercise, parts, expected)


def judge(case: Case, got: Observation, expected: Observation) -> str | None:
    """Why the observation is wrong, in words; `None` when it is right."""
    if case.raises:
        if got.error is None:
            return f"returned {show(got.value)}; it must raise {case.raises}"
        if not got.error.is_a(case.raises):
            return f"raised {got.error}; it must raise {case.raises}"
    else:
        if got.error is not None:
            return f"raised {got.error}"
        mismatch = _compared(case.compare, got.value, expected.value)
        if mismatch is not None:
            return mismatch.text
    if got.spoiled:
        which = " and ".join(f"number {i + 1}" for i in got.spoiled)
        return f"changed its argument {which}; an input must be left as it was"
    if got.shares:
        return "returned a view of an argument's memory; a copy is asked for"
    return None


def _compared(compare: Any, got: Any, expected: Any) -> Mismatch | None:
    """Compare; what cannot even be compared is a mismatch, never an error of the grader."""
    try:
        return compare(got, expected)
    except _UNREADABLE as trouble:
        return Mismatch(f"returned {show(got)}, which cannot be compared ({trouble})")


def score(ready: Prepared, door: Door) -> Result:
    """Score the answer behind `door`."""
    exercise = ready.exercise
    if all(_absent(door.value(name)) for name in exercise.provides):
        return _not_written(ready)
    parts: list[PartResult] = []
    failed: list[Failed] = []
    seen: dict[int, Observation] = {}
    for part, cases in ready.parts:
        scored = PartResult(part.name, part.points, part.points, len(cases))
        for case, got in zip(cases, observe_all(cases, door), strict=True):
            seen[_key(case)] = got
            text = judge(case, got, ready.expected[_key(case)])
            if text is not None:
                scored.failed.append(Failed(case, got, text))
        if scored.failed:
            scored.points = 0.0
        failed += scored.failed
        parts.append(scored)
    routines = sorted({r for got in seen.values() for r in got.routines})
    forbidden = by_hand.forbidden_among(routines, exercise)
    if forbidden:
        for scored in parts:
            scored.points = 0.0
    points = float(sum(scored.points for scored in parts))
    result = Result(exercise.id, points, exercise.points, parts)
    if forbidden:
        result.misconceptions.append("forbidden_routine")
        result.messages.append(by_hand.sentence(exercise, forbidden))
    if failed:
        _explain(result, ready, failed, seen)
    return result


def _absent(outcome: Outcome) -> bool:
    """Whether a name is not defined, or still the None of its stub."""
    return outcome.error is not None or outcome.value is None


def _not_written(ready: Prepared) -> Result:
    """No points, and no case asked, where nothing that the exercise asks for is defined."""
    parts = [PartResult(part.name, 0.0, part.points, len(cases)) for part, cases in ready.parts]
    result = Result(ready.exercise.id, 0.0, ready.exercise.points, parts)
    _say_unwritten(result, ready.exercise)
    return result


def _say_unwritten(result: Result, exercise: Exercise) -> None:
    result.misconceptions.append("not_written")
    result.messages.append(f"{' and '.join(exercise.provides)}: not written yet.")


def _explain(
    result: Result, ready: Prepared, failed: list[Failed], seen: dict[int, Observation]
) -> None:
    """Name the misconceptions, then say where it went wrong."""
    if all(map(_blank, failed)):
        _say_unwritten(result, ready.exercise)
        return
    named = diagnose(ready, failed, seen)
    for id, text in named:
        result.misconceptions.append(id)
        result.messages.append(text)
    if not named:
        found = _symptom(failed, ready)
        result.misconceptions.append(found[0])
        result.messages.append(found[1])
    del result.misconceptions[2:]
    for part in result.parts:
        if part.failed:
            first = part.failed[0]
            what = f" ({first.case.label})" if first.case.label else ""
            count = f"{len(part.failed)} of {part.cases} cases wrong"
            result.messages.append(f"{part.name}: {count}. First{what}: {first.text}.")


def _blank(failed: Failed) -> bool:
    """Whether nothing was written: the stub, no definition, or a typed answer left at `None`."""
    error = failed.observation.error
    if error is None:
        return failed.case.typed and failed.observation.value is None
    return _unwritten(error)


def _unwritten(error: Error) -> bool:
    return error.is_a("NotImplementedError") or (
        error.kinds[0] == "NameError"
        and error.message.endswith("is not defined")
        and not error.where
    )


def diagnose(
    ready: Prepared, failed: Sequence[Failed], seen: dict[int, Observation]
) -> list[tuple[str, str]]:
    """The misconceptions that compute what the answer computes, most likely first, two at most.

    A misconception is a candidate when it explains at least half of the failed cases, or when
    nearly all that it gets wrong went wrong in its way (two mistakes in one answer). Among
    candidates the one that also agrees where the answer is right comes first.
    """
    cases = ready.cases
    if all(case.typed for case in cases.values()):
        return _diagnose_typed(ready, failed)
    wrong_keys = {_key(f.case) for f in failed}
    candidates: dict[str, tuple[float, str]] = {}
    for wrong in ready.wrong:
        shared = wrong_keys & wrong.fails
        explained = {k for k in shared if _alike(cases[k], seen[k], wrong.seen[k])}
        most_of_answer = 2 * len(explained) >= len(wrong_keys)
        most_of_mistake = len(explained) >= 0.8 * len(wrong.fails)
        if not explained or not (most_of_answer or most_of_mistake):
            continue
        agreement = len(explained) / len(wrong_keys | wrong.fails)
        if wrong.id not in candidates or agreement > candidates[wrong.id][0]:
            candidates[wrong.id] = (agreement, wrong.text)
    ranked = sorted(candidates.items(), key=lambda item: -item[1][0])
    if not ranked:
        return []
    best = ranked[0][1][0]
    return [(id, text) for id, (agreement, text) in ranked[:2] if agreement >= 0.6 * best]


def _diagnose_typed(ready: Prepared, failed: Sequence[Failed]) -> list[tuple[str, str]]:
    """For each wrong typed answer what explains it: the fewest misconceptions that cover all.

    Among equals the one that is right where the answer is right comes first.
    """
    left = {_key(f.case): f for f in failed}
    found: list[tuple[str, str, set[int], int]] = []
    for wrong in ready.wrong:
        explained = {
            k
            for k in wrong.fails & left.keys()
            if _alike(left[k].case, left[k].observation, wrong.seen[k])
        }
        found.append((wrong.id, wrong.text, explained, -len(wrong.fails - explained)))
    named: dict[str, str] = {}
    while left:
        id, text, explained, _ = max(
            found, key=lambda f: (len(f[2] & left.keys()), f[3]), default=("", "", set(), 0)
        )
        covered = explained & left.keys()
        if not covered:
            break
        named.setdefault(id, text)
        for key in covered:
            del left[key]
    return list(named.items())


def _alike(case: Case, got: Observation, wrong: Observation) -> bool:
    """Whether the answer went wrong in the way that the misconception does."""
    if (got.error is None) != (wrong.error is None):
        return False
    if got.error is not None and wrong.error is not None:
        return got.error.kinds[0] == wrong.error.kinds[0]
    if bool(got.spoiled) != bool(wrong.spoiled) or bool(got.shares) != bool(wrong.shares):
        return False
    if wrong.value is None or got.value is None:
        return wrong.value is got.value
    try:
        return case.compare.loosened()(got.value, wrong.value) is None
    except _UNREADABLE:
        return show(got.value) == show(wrong.value)


UNRECOGNISED = (
    "unrecognised",
    "The values differ from the right ones in a way that no mistake we know of explains.",
)


def _symptom(failed: Sequence[Failed], ready: Prepared) -> tuple[str, str]:
    """What the wrong results look like from the results alone; the commonest look wins."""
    found: dict[tuple[str, str], int] = {}
    for item in failed:
        look = symptom(item.case, item.observation, ready.expected[_key(item.case)])
        if look is not None:
            found[look] = found.get(look, 0) + 1
    return max(found, key=lambda look: found[look]) if found else UNRECOGNISED


def score_with_follow_through(
    ready: Prepared, door: Door, lost_before: Iterable[Exercise]
) -> Result:
    """Score; when it fails and earlier answers failed too, try with those answered by us.

    The earlier mistake (a forbidden routine is one) then costs its own points only, and the
    student is told.
    """
    result = score(ready, door)
    earlier = [e for e in lost_before if e.id != ready.exercise.id]
    if result.full or not earlier:
        return result
    called: set[str] = set()
    ours = {
        name: _noting(name, value, called)
        for e in earlier
        for name, value in e.reference_names().items()
        if callable(value) and name not in ready.exercise.provides
    }
    if not ours:
        return result
    with door.bound(ours):
        again = score(ready, door)
    if again.points <= result.points or not called:
        return result
    names = ", ".join(f"`{e.id}`" for e in earlier if called & set(e.provides))
    again.messages.insert(
        0,
        f"Follow-through: graded with right answers in place of your earlier {names}, "
        "so that a mistake there costs its own points only.",
    )
    return again


def _noting(name: str, value: Any, called: set[str]) -> Any:
    """A function of ours that notes its name when it is called; a class as it is."""
    if isinstance(value, type):
        called.add(name)
        return value

    @functools.wraps(value)
    def given(*args: Any, **kwargs: Any) -> Any:
        called.add(name)
        return value(*args, **kwargs)

    return given
