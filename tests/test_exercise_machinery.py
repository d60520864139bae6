"""Exercises as data: the door, cases, comparison, diagnosis, typed answers, follow-through."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from course.exercises import (
    Exercise,
    answer,
    call,
    choice,
    close,
    each,
    identical,
    quaternion,
    same,
    satisfies,
    script,
)
from course.exercises.implementation import setup_namespace
from course.grading.door import AnswerFailed, LocalDoor
from course.grading.observe import After, Handle, Unsupported
from course.grading.score import prepare, score, score_with_follow_through


def cell(text: str) -> dict:
    """The names that a student's cell defines."""
    names = setup_namespace()
    exec(text, names)
    return names


def graded(exercise: Exercise, text: str):
    return score(prepare(exercise), LocalDoor(cell(text), record=True))


def halving() -> Exercise:
    """Halve every entry of an array; inputs are left alone."""
    exercise = Exercise("halve", points=2, provides=("halve",))

    @exercise.reference
    def reference():
        return {"halve": lambda x: np.asarray(x, float) / 2}

    @exercise.part("ordinary", points=1)
    def ordinary():
        rng = np.random.default_rng(0)
        return [call("halve", rng.normal(size=3), unchanged=True) for _ in range(4)]

    @exercise.part("edge cases", points=1)
    def edges():
        return [
            call("halve", np.array([1.0, 3.0]), unchanged=True),
            call("halve", np.zeros(2), label="zeros", unchanged=True),
            call("halve", np.array([1e6]), label="large", unchanged=True),
        ]

    @exercise.misconception("You double; halving divides by two.")
    def doubles():
        def halve(x):
            return 2 * x

    @exercise.misconception("You halve the input itself; work on a copy.")
    def in_place():
        def halve(x):
            x /= 2
            return x

    @exercise.misconception("Zeros raise an error in your code.")
    def fears_zero():
        def halve(x):
            if not x.any():
                raise ValueError("zero")
            return x / 2

    return exercise


# The door ---------------------------------------------------------------------------------


def test_an_answer_cannot_spoil_what_the_grader_holds():
    door = LocalDoor(cell("def spoil(x):\n    x[:] = 9\n    return x.sum()"))
    given = np.ones(3)
    outcome = door.call("spoil", given)
    assert (given == 1).all()
    assert outcome.value == 27
    assert (outcome.args_after[0] == 9).all()


def test_an_exception_becomes_an_outcome_with_its_base_classes():
    door = LocalDoor(cell("class Odd(KeyError): pass\ndef f(x):\n    raise Odd('lost')"))
    outcome = door.call("f", 1)
    assert outcome.error.is_a("KeyError")
    assert outcome.error.is_a("LookupError")
    assert not outcome.error.is_a("ValueError")
    with pytest.raises(AnswerFailed, match="lost"):
        outcome.result()


def test_a_missing_function_is_an_outcome_too():
    assert LocalDoor({}).call("absent", 1).error.is_a("NameError")


def test_changes_of_data_come_back_as_an_overlay_and_the_original_stays():
    model = mujoco.MjModel.from_xml_string(
        "<mujoco><worldbody><body><joint name='j'/><geom size='1'/></body></worldbody></mujoco>"
    )
    data = mujoco.MjData(model)
    door = LocalDoor(cell("def push(model, data):\n    data.qvel[0] = 3\n    data.time = 1.5"))
    after = door.call("push", model, data).args_after[1]
    assert isinstance(after, After)
    assert after.qvel[0] == 3
    assert after.time == 1.5
    assert after.changed == {"qvel", "time"}
    assert data.qvel[0] == 0


def test_a_changed_model_is_reported_and_put_right():
    model = mujoco.MjModel.from_xml_string("<mujoco/>")
    door = LocalDoor(cell("def change(model):\n    model.opt.timestep = 0.5"))
    after = door.call("change", model).args_after[0]
    assert after.opt.timestep == 0.5
    assert model.opt.timestep == 0.002


def test_a_view_of_an_argument_is_noticed():
    door = LocalDoor(cell("def view(x):\n    return x[1:]\ndef copy(x):\n    return x[1:].copy()"))
    assert door.call("view", np.arange(3.0)).aliases == {0}
    assert door.call("copy", np.arange(3.0)).aliases == frozenset()


def test_instances_stay_behind_the_door():
    text = """
class Counter:
    def __init__(self, start):
        self.count = start
    def up(self, by):
        self.count += by
        return self.count
"""
    door = LocalDoor(cell(text))
    counter = door.call("Counter", 3).value
    assert isinstance(counter, Handle)
    assert door.method(counter, "up", 4).value == 7
    assert door.attribute(counter, "count").value == 7
    assert door.attribute(counter, "nothing").error.is_a("AttributeError")


def test_what_cannot_cross_is_described_in_words():
    value = LocalDoor(cell("def f():\n    return np.random.default_rng(0)")).call("f").value
    assert isinstance(value, Unsupported)
    assert value.kind == "Generator"


def test_routines_are_recorded_however_they_are_reached():
    text = "trick = getattr(mujoco, 'mju_' + 'negQuat')\ndef f(q):\n    out = np.zeros(4)\n    "
    text += "trick(out, q)\n    return out"
    outcome = LocalDoor(cell(text), record=True).call("f", np.array([1.0, 0, 0, 0]))
    assert "mju_negQuat" in outcome.routines_called


# Comparison -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "got", [[0.5, 1.0], (0.5, 1.0), np.array([0.5, 1.0 + 1e-12]), [np.float64(0.5), 1]]
)
def test_lists_tuples_and_arrays_are_equal_within_the_tolerance(got):
    assert close()(got, np.array([0.5, 1.0])) is None


@pytest.mark.parametrize(
    "got", [None, "0.5", [0.5], [[0.5, 1.0]], [0.5, np.nan], [0.5, 1.1], {0.5: 1.0}, [0.5, 1j]]
)
def test_what_is_no_such_array_is_a_mismatch(got):
    assert close()(got, np.array([0.5, 1.0])) is not None


def test_a_number_may_be_a_zero_dimensional_array_but_not_a_vector_of_one():
    assert close()(np.array(2.0), 2.0) is None
    assert close()([2.0], 2.0) is not None


def test_a_quaternion_may_have_either_sign_but_not_one_for_each_entry():
    quat = np.array([0.5, 0.5, -0.5, 0.5])
    assert quaternion()(-quat, quat) is None
    assert quaternion()(quat * [1, 1, 1, -1], quat) is not None


def test_numpy_scalars_and_slices_are_as_good_as_pythons():
    want = ("box", slice(0, 7), True, 3)
    assert same()(["box", slice(np.int32(0), np.int64(7), 1), np.True_, 3.0], want) is None
    assert same()(["box", slice(0, 6), True, 3], want) is not None


@pytest.mark.parametrize("typed", ["b", "B", " (b) ", "b.", "b)"])
def test_an_option_may_be_typed_in_any_way(typed):
    assert choice()(typed, "b") is None


@pytest.mark.parametrize("typed", ["c", "", None, 2, "ab"])
def test_another_option_is_wrong(typed):
    assert choice()(typed, "b") is not None


def test_entries_are_compared_one_by_one_and_named():
    compare = each({"pos": close(), "name": same()})
    assert compare({"name": "a", "pos": [1, 2]}, {"pos": [1, 2], "name": "a"}) is None
    assert "'pos'" in compare({"pos": [1, 3], "name": "a"}, {"pos": [1, 2], "name": "a"}).text
    assert compare({"pos": [1, 2]}, {"pos": [1, 2], "name": "a"}) is not None
    assert each()([1.0], [1.0, 2.0]) is not None


def test_identical_means_to_the_last_bit():
    third = np.array([1 / 3])
    assert identical()(third.copy(), third) is None
    assert identical()(np.nextafter(third, 1), third) is not None


def test_several_right_answers_are_accepted_by_a_predicate():
    compare = satisfies(lambda got, want: None if abs(got) == want else "neither root")
    assert compare(-2, 2) is None
    assert compare(3, 2).text == "neither root"


# Scoring ----------------------------------------------------------------------------------


def test_a_right_answer_gets_all_points_and_no_words():
    result = graded(halving(), "def halve(x):\n    return [0.5 * v for v in x]")
    assert result.full
    assert result.messages == []
    assert result.misconceptions == []


def test_a_part_pays_all_or_nothing():
    result = graded(halving(), "def halve(x):\n    return x / 2 if x.max() < 1e5 else x / 2 + 1")
    assert [part.points for part in result.parts] == [1, 0]


def test_an_untouched_stub_is_told_to_be_unwritten():
    result = graded(halving(), "def halve(x):\n    raise NotImplementedError")
    assert result.points == 0
    assert result.misconceptions == ["not_written"]


def test_a_mistake_is_named_by_what_it_computes_not_by_how_it_is_written():
    result = graded(halving(), "def halve(x):\n    return np.add(x, x).tolist()")
    assert result.misconceptions[0] == "doubles"
    assert result.messages[0].startswith("You double")


def test_a_mistake_at_an_edge_is_named_and_costs_that_edge_only():
    text = "def halve(x):\n    if x.sum() == 0:\n        raise ValueError('no')\n    return x / 2"
    result = graded(halving(), text)
    assert result.points == 1
    assert result.misconceptions == ["fears_zero"]


def test_writing_into_the_input_is_named_though_the_value_is_right():
    result = graded(halving(), "def halve(x):\n    x *= 0.5\n    return x")
    assert result.points == 0
    assert result.misconceptions[0] == "in_place"


@pytest.mark.parametrize(
    "body", ["return None", "return x.tolist", "return 'half'", "return {1: x}", "return [x, [x]]"]
)
def test_a_value_of_another_kind_costs_the_points_and_never_stops_the_grader(body):
    result = graded(halving(), f"def halve(x):\n    {body}")
    assert result.points == 0
    assert result.misconceptions


def test_an_answer_that_no_rule_explains_still_gets_a_sentence():
    result = graded(halving(), "def halve(x):\n    return x / 2 + np.sin(x) ** 2 + 0.1")
    assert result.points == 0
    assert result.misconceptions
    assert any("cases wrong" in message for message in result.messages)


def test_a_bad_value_must_raise_the_class_or_one_below_it_and_change_nothing():
    exercise = Exercise("root", points=1, provides=("root",))

    @exercise.reference
    def reference():
        return {"root": lambda x: np.sqrt(x)}

    @exercise.part("all", points=1)
    def all_cases():
        bad = np.array([-1.0])
        return [
            call("root", np.array([4.0])),
            call("root", bad, raises="ValueError", unchanged=True),
        ]

    good = "def root(x):\n    if (x < 0).any():\n        raise {}\n    return np.sqrt(x)"
    own = "class Mine(ValueError): pass\n"
    assert graded(exercise, good.format("ValueError('negative')")).full
    assert graded(exercise, own + good.format("Mine()")).full
    assert not graded(exercise, good.format("TypeError('negative')")).full
    assert not graded(exercise, "def root(x):\n    return np.sqrt(np.abs(x))").full
    spoils = "def root(x):\n    if (x < 0).any():\n        x[:] = 0\n        raise ValueError\n    "
    assert not graded(exercise, spoils + "return np.sqrt(x)").full


def test_by_hand_means_that_no_rotation_routine_runs():
    exercise = Exercise("conj", points=1, provides=("conj",), by_hand=True)

    @exercise.reference
    def reference():
        return {"conj": lambda q: q * [1, -1, -1, -1]}

    @exercise.part("all", points=1)
    def all_cases():
        return [call("conj", np.array([0.5, 0.5, 0.5, 0.5]))]

    library = "def conj(q):\n    out = np.zeros(4)\n    mujoco.mju_negQuat(out, q)\n    return out"
    result = graded(exercise, library)
    assert result.points == 0
    assert result.misconceptions == ["forbidden_routine"]
    assert "mju_negQuat" in result.messages[0]
    allowed = "def conj(q):\n    n = mujoco.mju_norm(q)\n    return q * [1, -1, -1, -1] / n"
    assert graded(exercise, allowed).full


def test_a_conversation_is_one_case():
    exercise = Exercise("counter", points=1, provides=("Counter",))

    @exercise.reference
    def reference():
        class Counter:
            count = 0

            def up(self):
                self.count += 1
                return self.count

        return {"Counter": Counter}

    @exercise.part("all", points=1)
    def all_cases():
        def talk(door):
            counter = door.call("Counter").result()
            return [door.method(counter, "up").result() for _ in range(3)]

        return [script("three times", talk, compare=same())]

    good = (
        "class Counter:\n    n = 0\n    def up(self):\n        self.n += 1\n        return self.n"
    )
    assert graded(exercise, good).full
    forgets = "class Counter:\n    def up(self):\n        return 1"
    assert not graded(exercise, forgets).full
    assert not graded(exercise, "class Counter:\n    pass").full


def typed() -> Exercise:
    exercise = Exercise("quiz", points=3, provides=("size", "frame", "name"))

    @exercise.reference
    def reference():
        return {"size": 30, "frame": "b", "name": "nq"}

    for name in exercise.provides:
        compare = choice() if name == "frame" else same()

        @exercise.part(name, points=1)
        def part(name=name, compare=compare):
            return [answer(name, compare=compare)]

    exercise.wrong_answer("You counted velocities.", id="counts_velocities", size=27)
    exercise.wrong_answer("That is the linear half's frame.", id="world", frame="a")
    exercise.wrong_answer("That is the other size.", id="other_size", name="nv")
    return exercise


def test_each_wrong_typed_answer_gets_its_own_sentence():
    result = graded(typed(), "size, frame, name = 27, 'A', 'nv'")
    assert result.points == 0
    assert len(result.misconceptions) == 2  # the two that a record holds
    sentences = " ".join(result.messages)
    for sentence in ("You counted velocities", "linear half", "the other size"):
        assert sentence in sentences


def test_one_wrong_typed_answer_says_nothing_about_another():
    result = graded(typed(), "size, frame, name = 30, 'a', 'nq'")
    assert result.points == 2
    assert result.misconceptions == ["world"]


@pytest.mark.parametrize(
    ("text", "id"),
    [
        ("30, 'body', 'nq'", "no_option"),
        ("30, 2, 'nq'", "no_option"),
        ("-30, 'b', 'nq'", "sign"),
        ("30000, 'b', 'nq'", "thousand"),
        ("15, 'b', 'nq'", "half"),
        ("None, None, None", "not_written"),
    ],
)
def test_what_a_typed_answer_is_instead_is_said(text, id):
    assert graded(typed(), f"size, frame, name = {text}").misconceptions == [id]


def test_a_wrong_answer_must_be_one_of_the_references_names():
    with pytest.raises(KeyError, match="weight"):
        typed().wrong_answer("", id="x", weight=3)


def test_parts_must_add_up_to_the_points():
    exercise = halving()
    exercise.points = 5
    with pytest.raises(ValueError, match="parts give 2"):
        prepare(exercise)


def test_a_reference_that_fails_its_own_case_is_refused():
    exercise = Exercise("f", points=1, provides=("f",))

    @exercise.reference
    def reference():
        def f(x):
            raise RuntimeError("broken")

        return {"f": f}

    @exercise.part("all", points=1)
    def all_cases():
        return [call("f", 1.0)]

    with pytest.raises(ValueError, match="the reference fails"):
        prepare(exercise)


def quartering(halve: Exercise) -> Exercise:
    exercise = Exercise("quarter", points=1, provides=("quarter",), uses=("halve",))

    @exercise.reference
    def reference():
        return {"quarter": lambda x: x / 4}

    @exercise.part("all", points=1)
    def all_cases():
        return [call("quarter", np.array([x])) for x in (1.0, 2.0, 5.0)]

    return exercise


def test_an_earlier_mistake_costs_its_own_points_only():
    halve = halving()
    names = cell("def halve(x):\n    return 2 * x\ndef quarter(x):\n    return halve(halve(x))")
    ready = prepare(quartering(halve))
    assert not score(ready, LocalDoor(names)).full
    result = score_with_follow_through(ready, LocalDoor(names), [halve])
    assert result.full
    assert result.messages[0].startswith("Follow-through")
    assert names["halve"](1.0) == 2.0  # the student's own function is back


def test_a_forbidden_routine_in_an_earlier_answer_costs_its_own_points_only():
    conj = Exercise("conj", points=1, provides=("conj",), by_hand=True)
    turn = Exercise("turn", points=1, provides=("turn",), by_hand=True, uses=("conj",))

    def by_mujoco(q):
        out = np.zeros(4)
        mujoco.mju_negQuat(out, np.array(q))
        return out

    for exercise, name in ((conj, "conj"), (turn, "turn")):
        exercise.reference(lambda name=name: {name: by_mujoco})
        case = call(name, np.array([0.5, 0.5, 0.5, 0.5]))
        exercise.part("all", points=1)(lambda case=case: [case])
    library = (
        "def conj(q):\n    out = np.zeros(4)\n    mujoco.mju_negQuat(out, q)\n    return out\n"
    )
    builds_on_it = LocalDoor(cell(library + "def turn(q):\n    return conj(q)"), record=True)
    result = score_with_follow_through(prepare(turn), builds_on_it, [conj, halving()])
    assert result.full
    assert "earlier `conj`, so" in result.messages[0]  # and not the one that it does not call
    calls_it = library + "def turn(q):\n    mujoco.mju_negQuat(q, q)\n    return q"
    door = LocalDoor(cell(calls_it), record=True)
    assert score_with_follow_through(prepare(turn), door, [conj]).points == 0


def test_follow_through_does_not_pay_for_a_mistake_of_ones_own():
    halve = halving()
    names = cell("def halve(x):\n    return 2 * x\ndef quarter(x):\n    return halve(x)")
    result = score_with_follow_through(prepare(quartering(halve)), LocalDoor(names), [halve])
    assert result.points == 0


@pytest.mark.parametrize("value", [[1, (2, 3)], [0, [1], []], (), [], [None], np.array([]), [1j]])
def test_a_ragged_or_empty_value_can_be_shown_and_compared(value):
    for compare in (close(), same(), identical(), each()):
        mismatch = compare(value, np.array([1.0, 2.0]))
        assert mismatch is not None
        assert mismatch.text
