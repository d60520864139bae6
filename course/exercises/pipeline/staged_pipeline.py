"""`staged_pipeline`: a small pipeline of five stages that runs no stage twice without need.

The right ways to write it, of which the mistakes are edits, are in `staged_cells`.
"""

import numpy as np

from course.exercises.compare import close, each, same
from course.exercises.exercise import Exercise, script
from course.exercises.implementation import Implementation
from course.exercises.pipeline.scenes import refuse, variants
from course.exercises.pipeline.staged_cells import BY_STAGES, BY_TABLES, WRITTEN_OUT
from course.grading.observe import Handle

exercise = Exercise(
    "staged_pipeline",
    points=6,
    provides=("StagedPipeline",),
    uses=("transmission", "equality_row"),
)

STAGES = ("position", "velocity", "actuation", "acceleration", "constraint")
KEYS = ("xpos", "actuator_velocity", "qfrc_actuator", "qacc_smooth", "efc_force", "qacc")


@exercise.reference
def reference():
    namespace = Implementation("reference", "", BY_STAGES).namespace()
    return {"StagedPipeline": namespace["StagedPipeline"]}


class _Talk:
    """A conversation with one instance of the answer's class."""

    def __init__(self, door, *args):
        self.door = door
        self.handle = door.call("StagedPipeline", *args).result()
        if not isinstance(self.handle, Handle):
            raise refuse("StagedPipeline must be a class")

    def forward(self, *args):
        """The results of `forward`, those that are asked for."""
        outcome = self.door.method(self.handle, "forward", *args)
        result = outcome.result()
        if not isinstance(result, dict):
            raise refuse("forward must return a dict")
        missing = [key for key in KEYS if key not in result]
        if missing:
            raise refuse(f"forward's dict lacks {', '.join(missing)}")
        given = zip(args, outcome.args_after, strict=True)
        return {
            **{key: result[key] for key in KEYS},
            "arguments as they were": all(np.array_equal(a, b) for a, b in given),
            "xpos is a copy": 0 not in outcome.aliases,
        }

    def step(self, dt):
        value = self.door.method(self.handle, "step", dt).result()
        if not isinstance(value, (tuple, list)) or len(value) != 2:
            raise refuse("step must return (q, v)")
        return {"q": value[0], "v": value[1]}

    def count(self):
        """How often each stage ran, in the order of `STAGES`."""
        counts = self.door.attribute(self.handle, "evaluations").result()
        if not isinstance(counts, dict):
            raise refuse("evaluations must be a dict")
        return [counts.get(stage, 0) for stage in STAGES]


def _array(*values):
    return np.array(values, dtype=float)


M, P, BIAS, J = _array([2, 0], [0, 1]), _array([1, 0], [0.5, 1]), _array(2, 3), _array(-1, 1)
REST = (_array(0, 0), _array(0, 0), _array(4, -2), _array(1, 0), _array(0, 3))
MOVING = (_array(0.2, -0.1), _array(1, -0.5), _array(4, -2), _array(1, 0), _array(0, 3))


def _mechanism(seed, *, row=True):
    """A mechanism at random with a full mass matrix; more or fewer actuators than dofs."""
    rng = np.random.default_rng(seed)
    n, nu = int(rng.integers(2, 6)), int(rng.integers(1, 7))
    A = rng.normal(size=(n, n))
    built = [A @ A.T + 0.5 * np.eye(n), rng.normal(size=(nu, n)), rng.normal(size=n)]
    if row:
        built.append(rng.normal(size=n))
    state = (*rng.normal(size=(2, n)), rng.normal(size=nu), *rng.normal(size=(2, n)))
    return built, state


_ENTRIES = each(
    {
        **dict.fromkeys(KEYS, close(1e-9, 1e-9)),
        "arguments as they were": same(),
        "xpos is a copy": same(),
    }
)


def _results(label, built, *states):
    def run(door):
        talk = _Talk(door, *built)
        return [talk.forward(*state) for state in states]

    return script(label, run, compare=each(_ENTRIES))


@exercise.part("the results of forward", points=2)
def results():
    cases = [
        _results("the worked example", (M, P, BIAS, J), REST),
        _results("the worked example in motion", (M, P, BIAS, J), MOVING),
        _results("no row", (M, P, BIAS), REST),
        _results("no row, said aloud", (M, P, BIAS, None), MOVING),
    ]
    for seed in range(1, 6):
        built, state = _mechanism(seed)
        cases.append(_results("a mechanism at random", built, state))
    for seed in range(9, 11):
        built, state = _mechanism(seed, row=False)
        cases.append(_results("a mechanism at random, no row", built, state))
    return cases


def _changed(state, **new):
    names = ("q", "v", "f", "passive", "applied")
    return tuple(new.get(name, value) for name, value in zip(names, state, strict=True))


def _after_change(label, built, first, *then):
    """Several evaluations of one instance; the last results and how often each stage ran."""

    def run(door):
        talk = _Talk(door, *built)
        talk.forward(*first)
        seen = []
        for state in then:
            seen.append((talk.forward(*state), talk.count()))
        return seen

    return script(label, run, compare=each(each((_ENTRIES, same()))))


@exercise.part("a stage whose inputs did not change is not run again", points=2)
def caching():
    worked = (M, P, BIAS, J)
    f, v, q = _array(2, 2), _array(0.3, 0.7), _array(0.5, 0.25)
    cases = [
        _after_change("nothing changed", worked, REST, REST),
        _after_change("the same values in new arrays", worked, MOVING, tuple(map(np.copy, MOVING))),
        _after_change("only f changed", worked, REST, _changed(REST, f=f)),
        _after_change("only v changed", worked, REST, _changed(REST, v=v)),
        _after_change("only q changed", worked, REST, _changed(REST, q=q)),
        _after_change("only passive changed", worked, REST, _changed(REST, passive=v)),
        _after_change("only applied changed", worked, REST, _changed(REST, applied=v)),
        _after_change("q and v changed", worked, REST, _changed(REST, q=q, v=v)),
        _after_change("v and f changed", worked, REST, _changed(REST, v=v, f=f)),
        _after_change("everything changed", worked, REST, (q, v, f, v, q)),
        _after_change("f changed a little", worked, MOVING, _changed(MOVING, f=MOVING[2] + 1e-6)),
        _after_change(
            "f changed, its generalized force not",
            (M, _array([1, 0], [0, 1], [1, 1]), BIAS, J),
            _changed(REST, f=_array(1, 2, 3)),
            _changed(REST, f=_array(2, 3, 2)),
        ),
    ]
    for seed in range(20, 22):
        built, state = _mechanism(seed)
        other = _mechanism(seed)[1]
        new_f = _changed(state, f=other[2] + 1)
        new_v = _changed(new_f, v=other[1] - 0.5)
        cases.append(_after_change("f, then v changed", built, state, new_f, new_v, new_v))
    return cases


def _stepping(label, built, state, dt):
    """Evaluate, step, step again, evaluate at the old state, then at the new one."""

    def run(door):
        talk = _Talk(door, *built)
        talk.forward(*state)
        first = talk.step(dt)
        counted = talk.count()
        again = talk.step(dt)
        old = talk.forward(*state)
        counted_old = talk.count()
        new = _changed(state, q=np.asarray(first["q"], float), v=np.asarray(first["v"], float))
        fresh = talk.forward(*new)
        after = {"xpos": fresh["xpos"], "actuator_velocity": fresh["actuator_velocity"]}
        row = len(built) > 3
        return {
            "step": first,
            "runs after the step": counted[: 4 + row],
            "the same step again": again,
            "xpos at the old state": old["xpos"],
            "runs at the old state": counted_old[: 4 + row],
            "at the new state": after,
            "the next step": talk.step(dt),
            "runs at the new state": talk.count()[: 4 + row],
        }

    return script(label, run, compare=each(each(close(1e-9, 1e-9))))


def _only_step(label, built, state, dt):
    def run(door):
        talk = _Talk(door, *built)
        talk.forward(*state)
        return talk.step(dt)

    return script(label, run, compare=each(close(1e-9, 1e-9)))


@exercise.part("step: semi-implicit, and the cache stays at the old instant", points=2)
def stepping():
    cases = [
        _only_step("the worked example without its row, h = 0.1", (M, P, BIAS), REST, 0.1),
        _only_step("the worked example in motion", (M, P, BIAS, J), MOVING, 0.1),
        _stepping("the worked example without its row", (M, P, BIAS), REST, 0.1),
        _stepping("the worked example in motion", (M, P, BIAS, J), MOVING, 0.1),
    ]
    for seed in range(30, 33):
        cases.append(_stepping("a mechanism at random", *_mechanism(seed), 0.05))
    return cases


_wrong = exercise.slips(BY_STAGES)


def _first(code: str) -> tuple[str, str]:
    """The edit that lets `forward` run this code first."""
    return '        self.stage("position"', code + '        self.stage("position"'


# Caching: too little of it, too much, by the wrong inputs.

_UNCHANGED = "not all(map(np.array_equal, before, inputs))"
_ACCELERATION = '[self.cache["qfrc_actuator"], passive, applied], self.acceleration'
_FROM_CACHE = 'self.acceleration(self.cache["qfrc_actuator"], p, t)'
_wrong(
    "never_invalidated",
    "Your caches are never invalidated: once a stage has run, it keeps its first result whatever "
    "the inputs become. Compare the inputs with those of the last run.",
    (f"before is None or {_UNCHANGED}", "before is None"),
)
_wrong(
    "recomputes_all",
    "Every stage runs at every call. Keep copies of a stage's inputs and compare them by value "
    "(np.array_equal) before you run it.",
    (f"before is None or {_UNCHANGED}", "True"),
)
_wrong(
    "recomputes_all",
    "Every stage runs at every call. Compare inputs by value (np.array_equal), not by identity.",
    (_UNCHANGED, "not all(a is b for a, b in zip(before, inputs))"),
)
_wrong(
    "all_or_nothing",
    "Any change makes you run all five stages; each stage has inputs of its own.",
    _first("""\
        inputs = [np.array(x, dtype=float) for x in (q, v, f, passive, applied)]
        before = self.inputs.get("all")
        if before is None or not all(map(np.array_equal, before, inputs)):
            self.inputs = {}
        self.inputs["all"] = inputs
"""),
)
_wrong(
    "later_stages_always_run",
    "A change makes you run every later stage as well, as in mj_forwardSkip. Here position, "
    "velocity and actuation depend on q, v and f alone.",
    _first("""\
        inputs = {"position": q, "velocity": v, "actuation": f}
        stale = False
        for name in self.evaluations:
            if name in inputs and name in self.inputs:
                stale = stale or not np.array_equal(self.inputs[name][0], inputs[name])
            if stale:
                self.inputs.pop(name, None)
"""),
)
_wrong(
    "velocity_in_acceleration",
    "You run the acceleration (and the constraint) again when only `v` changed; `bias` is a "
    "constant here.",
    (
        _ACCELERATION,
        _ACCELERATION.replace("], self.", ", v], lambda a, p, t, v: self.") + "(a, p, t)",
    ),
)
_wrong(
    "force_change_missed",
    "You do not run the acceleration again when only `f` changed: it depends on `qfrc_actuator`.",
    (_ACCELERATION, f"[passive, applied], lambda p, t: {_FROM_CACHE}"),
)
_wrong(
    "position_in_velocity",
    "You run the velocity stage again when only `q` changed; here it depends on `v` alone.",
    ('"velocity", [v], lambda v:', '"velocity", [v, q], lambda v, q:'),
)
_wrong(
    "velocity_in_actuation",
    "You run the actuation again when only `v` changed; here it depends on `f` alone.",
    ('"actuation", [f], lambda f:', '"actuation", [f, v], lambda f, v:'),
)
_wrong(
    "position_in_acceleration",
    "You run the acceleration again when only `q` changed; M and bias are constants here.",
    (
        _ACCELERATION,
        _ACCELERATION.replace("], self.", ", q], lambda a, p, t, q: self.") + "(a, p, t)",
    ),
)
_wrong(
    "constraint_always_runs",
    "You run the constraint stage at every call; it depends on `qacc_smooth` alone.",
    (
        '        self.stage("constraint"',
        '        self.inputs.pop("constraint", None)\n        self.stage("constraint"',
    ),
)
_wrong(
    "first_entry_compared",
    "You compare the first entries of the inputs only; np.array_equal compares all.",
    (_UNCHANGED, "not all(a[:1] == b[:1] for a, b in zip(before, inputs))"),
)
_wrong(
    "compares_loosely",
    "You take inputs that differ a little (np.allclose) for the same: the results are then those "
    "of other inputs. Compare with np.array_equal.",
    ("not all(map(np.array_equal,", "not all(map(np.allclose,"),
)
_wrong(
    "force_compared",
    "You run the acceleration again when `f` changed although `qfrc_actuator` did not: with more "
    "actuators than dofs several `f` give one generalized force, and that is what it depends on.",
    (_ACCELERATION, f"[f, passive, applied], lambda f, p, t: {_FROM_CACHE}"),
)
_wrong(
    "shared_by_all",
    "Your caches belong to the class: every instance of it reads the results of another. Make "
    "them in `__init__`.",
    ("class StagedPipeline:\n", "class StagedPipeline:\n    inputs, cache = {}, {}\n\n"),
    ("        self.inputs = {}\n        self.cache = {}\n", ""),
)
_wrong(
    "does_not_count",
    "`evaluations` stays at zero: count each run of a stage.",
    ("self.evaluations[name] += 1", "pass"),
)
_COUNTS_CALLS = (
    "counts_calls",
    "`evaluations` counts the calls of `forward`; it must count how often a stage really ran.",
)
_wrong(*_COUNTS_CALLS, ("    self.evaluations[name] += 1\n", "self.evaluations[name] += 1\n"))

# The step, and what it leaves alone.

_STEP = """\
        v = self.cache["v"] + dt * self.cache["qacc"]
        return self.cache["xpos"] + dt * v, v
"""
_NEW = _STEP.splitlines(keepends=True)[1]
_REFRESHED = (
    "refreshes_on_step",
    "Your step evaluates at the new state: the cached results must stay those of the old instant "
    "until `forward` is called.",
)
_wrong(
    *_REFRESHED,
    (
        _NEW,
        """\
        q = self.cache["xpos"] + dt * v
        self.stage("position", [q], lambda q: {"xpos": q.copy()})
        self.stage("velocity", [v], lambda v: {"v": v, "actuator_velocity": self.P @ v})
        return q, v
""",
    ),
)
_wrong(
    "step_moves_the_cache",
    "Your step writes the new state into the cached arrays: the results of the old instant are "
    "lost, and a second step goes further. Return new arrays.",
    (
        _NEW,
        """\
        self.cache["v"] = v
        self.cache["xpos"] = self.cache["xpos"] + dt * v
        return self.cache["xpos"], v
""",
    ),
)
_wrong(
    "step_goes_further",
    "Your step keeps the new state and starts from it the next time: it must start from the last "
    "`forward`, however often it is called.",
    _first("        self.q, self.v = np.array(q, dtype=float), np.array(v, dtype=float)\n"),
    (
        _STEP,
        """\
        self.v = self.v + dt * self.cache["qacc"]
        self.q = self.q + dt * self.v
        return self.q, self.v
""",
    ),
)
_wrong(
    "explicit_step",
    "Your step moves the position with the old velocity. Semi-implicit: velocity first, then the "
    "position with the new one.",
    ("+ dt * v, v", '+ dt * self.cache["v"], v'),
)
_wrong(
    "steps_smoothly",
    "Your step uses `qacc_smooth`: the constraint is not felt. Use `qacc`.",
    ('dt * self.cache["qacc"]', 'dt * self.cache["qacc_smooth"]'),
)
_wrong(
    "step_exchanged",
    "Your step returns (v, q); (q, v) is asked for.",
    ('self.cache["xpos"] + dt * v, v\n', 'v, self.cache["xpos"] + dt * v\n'),
)

# The forces and the row.

_wrong("p_times_f", "The generalized force of the actuators is P^T f.", (".P.T @ f", ".P @ f"))
_wrong("transposed_velocity", "The transmission velocity is P v.", ("self.P @ v", "self.P.T @ v"))
_wrong(
    "bias_sign",
    "The bias stands on the other side: subtract it.",
    ("passive - self.bias", "passive + self.bias"),
)
_wrong("no_bias", "The bias is missing: subtract it.", ("passive - self.bias +", "passive +"))
for _edit in ((" + applied + actuator", " + actuator"), ("passive - self.bias", "-self.bias")):
    _wrong("applied_forgotten", "`passive` and `applied` are forces too: add both.", _edit)
_wrong(
    "no_inertia",
    "Solve with M: the acceleration is not the force.",
    ("np.linalg.solve(self.M, tau)", "tau"),
)
_wrong(
    "row_ignored",
    "Your `qacc` ignores the row: it is qacc_smooth + M^-1 J^T force.",
    ("a + y * force}", "a}"),
)
_wrong(
    "row_ignored",
    "The constraint's row is ignored: `qacc` is qacc_smooth + M^-1 J^T force.",
    ("if self.J is None", "if True"),
)
_wrong(
    "row_sign",
    "The sign of the row's force is wrong: it must cancel J qacc_smooth.",
    ("force = -(self.J @ a)", "force = (self.J @ a)"),
)
_wrong(
    "row_without_inverse_mass",
    "The row's force acts through M^-1: y = M^-1 J^T.",
    ("y = np.linalg.solve(self.M, self.J)", "y = self.J"),
)
_wrong(
    "row_without_inverse_mass",
    "The row's force acts through M^-1: qacc = qacc_smooth + M^-1 J^T force.",
    ("a + y * force}", "a + self.J * force}"),
)
_wrong(
    "force_without_shape",
    "`efc_force` has one entry for each row: shape (1,) with the row, (0,) without.",
    ("np.array([force])", "force"),
)
_wrong(
    "zero_force_without_row",
    "Without a row there is no force at all: `efc_force` has shape (0,), not a zero.",
    ("np.zeros(0)", "np.zeros(1)"),
)

# What belongs to the caller.

_wrong(
    "changes_inputs",
    "You change an array that was given to `forward`; work on copies.",
    _first("        passive += applied\n        applied = 0 * applied\n"),
)
_wrong(
    "xpos_is_the_argument",
    "`xpos` is the very array `q` that was given: whoever changes the one changes the other. "
    "Return a copy.",
    (
        "return {key: np.copy(value) for key, value in self.cache.items()}",
        'return {**self.cache, "xpos": q}',
    ),
)

# The same in a pipeline that is written out stage by stage.

_written_out = exercise.slips(WRITTEN_OUT)
_STEP = """\
        v = np.array(self.v) + dt * self.d["qacc"]
        return [np.array(self.q) + dt * v, v]
"""
_written_out(
    "step_moves_the_cache",
    "Your step takes the new state over into what `forward` compares with: the results of the old "
    "instant then count as those of the new one. Return new arrays and leave the rest alone.",
    (
        _STEP,
        """\
        self.v = list(np.array(self.v) + dt * self.d["qacc"])
        self.q = list(np.array(self.q) + dt * np.array(self.v))
        return np.array(self.q), np.array(self.v)
""",
    ),
)
for _loads in ("self.given[3], self.given[4]", "np.zeros(len(v)), np.zeros(len(v))"):
    _written_out(
        *_REFRESHED,
        (
            "        q, v, f = list(q)",
            "        self.given = (q, v, f, passive, applied)\n        q, v, f = list(q)",
        ),
        (
            "        return [np.array(self.q) + dt * v, v]\n",
            "        q = np.array(self.q) + dt * v\n"
            f"        self.forward(q, v, self.given[2], {_loads})\n        return q, v\n",
        ),
    )
for _stages in (("position", "velocity"), ("position",), ("velocity", "actuation")):
    _lines = [f'self.evaluations["{stage}"] += 1' for stage in _stages]
    _written_out(*_COUNTS_CALLS, *((f"    {line}", line) for line in _lines))
_written_out(
    "no_array_without_row",
    "Without a row `efc_force` is an empty array, shape (0,), not None.",
    ("np.array([]), np.array(a)", "None, np.array(a)"),
)

_right = variants(exercise)
_right("by_stages", BY_STAGES)
_right("written_out", WRITTEN_OUT)
_right("by_bytes_and_tables", BY_TABLES)
