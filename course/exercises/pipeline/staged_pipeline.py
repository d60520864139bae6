"""`staged_pipeline`: a small pipeline of five stages that runs no stage twice without need."""

import numpy as np

from course.exercises.compare import close, each, same
from course.exercises.exercise import Exercise, script
from course.exercises.implementation import Implementation
from course.exercises.pipeline.scenes import refuse, variants
from course.grading.observe import Handle

exercise = Exercise(
    "staged_pipeline",
    points=6,
    provides=("StagedPipeline",),
    uses=("transmission", "equality_row"),
)

STAGES = ("position", "velocity", "actuation", "acceleration", "constraint")
KEYS = ("xpos", "actuator_velocity", "qfrc_actuator", "qacc_smooth", "efc_force", "qacc")

GOOD = """\
class StagedPipeline:
    def __init__(self, M, P, bias, J=None):
        self.M, self.P = np.array(M, dtype=float), np.array(P, dtype=float)
        self.bias = np.array(bias, dtype=float)
        self.J = None if J is None else np.array(J, dtype=float)
        self.evaluations = dict.fromkeys(
            ("position", "velocity", "actuation", "acceleration", "constraint"), 0
        )
        self.inputs = {}
        self.cache = {}

    def stage(self, name, inputs, run):
        inputs = [np.array(x, dtype=float) for x in inputs]
        before = self.inputs.get(name)
        if before is None or not all(map(np.array_equal, before, inputs)):
            self.inputs[name] = inputs
            self.cache.update(run(*inputs))
            self.evaluations[name] += 1

    def forward(self, q, v, f, passive, applied):
        self.stage("position", [q], lambda q: {"xpos": q.copy()})
        self.stage("velocity", [v], lambda v: {"v": v, "actuator_velocity": self.P @ v})
        self.stage("actuation", [f], lambda f: {"qfrc_actuator": self.P.T @ f})
        self.stage(
            "acceleration", [self.cache["qfrc_actuator"], passive, applied], self.acceleration
        )
        self.stage("constraint", [self.cache["qacc_smooth"]], self.constraint)
        return {key: np.copy(value) for key, value in self.cache.items()}

    def acceleration(self, actuator, passive, applied):
        tau = passive - self.bias + applied + actuator
        return {"qacc_smooth": np.linalg.solve(self.M, tau)}

    def constraint(self, a):
        if self.J is None:
            return {"efc_force": np.zeros(0), "qacc": a.copy()}
        y = np.linalg.solve(self.M, self.J)
        force = -(self.J @ a) / (self.J @ y)
        return {"efc_force": np.array([force]), "qacc": a + y * force}

    def step(self, dt):
        v = self.cache["v"] + dt * self.cache["qacc"]
        return self.cache["xpos"] + dt * v, v
"""

WRITTEN_OUT = """\
class StagedPipeline:
    def __init__(self, M, P, bias, J=None):
        self.M, self.P, self.bias, self.J = M, P, bias, J
        self.evaluations = {}
        for stage in ["position", "velocity", "actuation", "acceleration", "constraint"]:
            self.evaluations[stage] = 0
        self.q = self.v = self.f = self.loads = self.a = None
        self.d = {}

    def forward(self, q, v, f, passive, applied):
        q, v, f = list(q), list(v), list(f)
        d = self.d
        if q != self.q:
            self.q = q
            d["xpos"] = np.array(q)
            self.evaluations["position"] += 1
        if v != self.v:
            self.v = v
            d["actuator_velocity"] = np.dot(self.P, v)
            self.evaluations["velocity"] += 1
        if f != self.f:
            self.f = f
            d["qfrc_actuator"] = np.array(f) @ self.P
            self.evaluations["actuation"] += 1
        loads = list(d["qfrc_actuator"]) + list(passive) + list(applied)
        if loads != self.loads:
            self.loads = loads
            d["qacc_smooth"] = np.linalg.inv(self.M) @ (
                d["qfrc_actuator"] + passive + applied - self.bias)
            self.evaluations["acceleration"] += 1
        a = list(d["qacc_smooth"])
        if a != self.a:
            self.a = a
            self.evaluations["constraint"] += 1
            if self.J is None:
                d["efc_force"], d["qacc"] = np.array([]), np.array(a)
            else:
                J = np.reshape(self.J, (1, -1))
                Y = np.linalg.solve(self.M, J.T)
                d["efc_force"] = np.linalg.solve(J @ Y, -J @ a)
                d["qacc"] = a + Y @ d["efc_force"]
        return {**d, "evaluations": dict(self.evaluations)}

    def step(self, dt):
        v = np.array(self.v) + dt * self.d["qacc"]
        return [np.array(self.q) + dt * v, v]
"""


@exercise.reference
def reference():
    namespace = Implementation("reference", "", GOOD).namespace()
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

    number = close(1e-9, 1e-9)
    pair = each({"q": number, "v": number})
    return script(
        label,
        run,
        compare=each(
            {
                "step": pair,
                "runs after the step": same(),
                "the same step again": pair,
                "xpos at the old state": number,
                "runs at the old state": same(),
                "at the new state": each({"xpos": number, "actuator_velocity": number}),
                "the next step": pair,
                "runs at the new state": same(),
            }
        ),
    )


def _only_step(label, built, state, dt):
    def run(door):
        talk = _Talk(door, *built)
        talk.forward(*state)
        return talk.step(dt)

    return script(label, run, compare=each({"q": close(1e-9, 1e-9), "v": close(1e-9, 1e-9)}))


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


_wrong = exercise.slips(GOOD)
_CHANGED = "if before is None or not all(map(np.array_equal, before, inputs)):"
_SOLVE_TAU = "np.linalg.solve(self.M, tau)"
_wrong(
    "never_invalidated",
    "Your caches are never invalidated: once a stage has run, it keeps its first result whatever "
    "the inputs become. Compare the inputs with those of the last run.",
    (_CHANGED, "if before is None:"),
)
_wrong(
    "recomputes_all",
    "Every stage runs at every call. Keep copies of a stage's inputs and compare them by value "
    "(np.array_equal) before you run it.",
    (_CHANGED, "if True:"),
)
_wrong(
    "recomputes_all",
    "Every stage runs at every call. Compare inputs by value (np.array_equal), not by identity.",
    (
        "not all(map(np.array_equal, before, inputs))",
        "not all(a is b for a, b in zip(before, inputs))",
    ),
)
_wrong(
    "all_or_nothing",
    "Any change makes you run all five stages; each stage has inputs of its own.",
    (
        '        self.stage("position"',
        "        inputs = [np.array(x, dtype=float) for x in (q, v, f, passive, applied)]\n"
        '        before = self.inputs.get("all")\n'
        "        if before is None or not all(map(np.array_equal, before, inputs)):\n"
        "            self.inputs = {}\n"
        '        self.inputs["all"] = inputs\n'
        '        self.stage("position"',
    ),
)
_wrong(
    "later_stages_always_run",
    "A change makes you run every later stage as well, as in mj_forwardSkip. Here position, "
    "velocity and actuation depend on q, v and f alone.",
    (
        '        self.stage("position"',
        '        inputs = {"position": q, "velocity": v, "actuation": f}\n'
        "        stale = False\n"
        "        for name in self.evaluations:\n"
        "            if name in inputs and name in self.inputs:\n"
        "                stale = stale or not np.array_equal(self.inputs[name][0], inputs[name])\n"
        "            if stale:\n"
        "                self.inputs.pop(name, None)\n"
        '        self.stage("position"',
    ),
)
_wrong(
    "refreshes_on_step",
    "Your step evaluates at the new state: the cached results must stay those of the old instant "
    "until `forward` is called.",
    (
        '        return self.cache["xpos"] + dt * v, v\n',
        '        q = self.cache["xpos"] + dt * v\n'
        '        self.stage("position", [q], lambda q: {"xpos": q.copy()})\n'
        '        self.stage("velocity", [v], lambda v: {"v": v, "actuator_velocity": self.P @ v})\n'
        "        return q, v\n",
    ),
)
_wrong(
    "step_moves_the_cache",
    "Your step writes the new state into the cached arrays: the results of the old instant are "
    "lost, and a second step goes further. Return new arrays.",
    (
        '        return self.cache["xpos"] + dt * v, v\n',
        '        self.cache["v"] = v\n'
        '        self.cache["xpos"] = self.cache["xpos"] + dt * v\n'
        '        return self.cache["xpos"], v\n',
    ),
)
_wrong(
    "explicit_step",
    "Your step moves the position with the old velocity. Semi-implicit: velocity first, then the "
    "position with the new one.",
    (
        'return self.cache["xpos"] + dt * v, v',
        'return self.cache["xpos"] + dt * self.cache["v"], v',
    ),
)
_wrong(
    "steps_smoothly",
    "Your step uses `qacc_smooth`: the constraint is not felt. Use `qacc`.",
    ('dt * self.cache["qacc"]', 'dt * self.cache["qacc_smooth"]'),
)
_wrong(
    "p_times_f",
    "The generalized force of the actuators is P^T f.",
    ("self.P.T @ f", "self.P @ f"),
)
_wrong("transposed_velocity", "The transmission velocity is P v.", ("self.P @ v", "self.P.T @ v"))
_wrong(
    "bias_sign",
    "The bias stands on the other side: subtract it.",
    ("passive - self.bias", "passive + self.bias"),
)
_wrong("no_bias", "The bias is missing: subtract it.", ("passive - self.bias +", "passive +"))
_wrong(
    "applied_forgotten",
    "`passive` and `applied` are forces too: add both.",
    (" + applied + actuator", " + actuator"),
)
_wrong(
    "applied_forgotten",
    "`passive` and `applied` are forces too: add both.",
    ("tau = passive - self.bias", "tau = -self.bias"),
)
_wrong("no_inertia", "Solve with M: the acceleration is not the force.", (_SOLVE_TAU, "tau"))
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
    "force_without_shape",
    "`efc_force` has one entry for each row: shape (1,) with the row, (0,) without.",
    ("np.array([force])", "force"),
)
_wrong(
    "zero_force_without_row",
    "Without a row there is no force at all: `efc_force` has shape (0,), not a zero.",
    ("np.zeros(0)", "np.zeros(1)"),
)
_wrong(
    "does_not_count",
    "`evaluations` stays at zero: count each run of a stage.",
    ("self.evaluations[name] += 1", "pass"),
)
_wrong(
    "counts_calls",
    "`evaluations` counts the calls of `forward`; it must count how often a stage really ran.",
    (
        "            self.evaluations[name] += 1\n",
        "        self.evaluations[name] += 1\n",
    ),
)
_wrong(
    "velocity_in_acceleration",
    "You run the acceleration (and the constraint) again when only `v` changed; `bias` is a "
    "constant here.",
    (
        '[self.cache["qfrc_actuator"], passive, applied], self.acceleration',
        '[self.cache["qfrc_actuator"], passive, applied, v],\n'
        "            lambda a, p, t, v: self.acceleration(a, p, t)",
    ),
)
_wrong(
    "force_change_missed",
    "You do not run the acceleration again when only `f` changed: it depends on `qfrc_actuator`.",
    (
        '[self.cache["qfrc_actuator"], passive, applied], self.acceleration',
        "[passive, applied],\n"
        '            lambda p, t: self.acceleration(self.cache["qfrc_actuator"], p, t)',
    ),
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
        '[self.cache["qfrc_actuator"], passive, applied], self.acceleration',
        '[self.cache["qfrc_actuator"], passive, applied, q],\n'
        "            lambda a, p, t, q: self.acceleration(a, p, t)",
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
    (
        "not all(map(np.array_equal, before, inputs))",
        "not all(a[:1] == b[:1] for a, b in zip(before, inputs))",
    ),
)

_wrong(
    "step_goes_further",
    "Your step keeps the new state and starts from it the next time: it must start from the last "
    "`forward`, however often it is called.",
    (
        '        self.stage("position"',
        "        self.q, self.v = np.array(q, dtype=float), np.array(v, dtype=float)\n"
        '        self.stage("position"',
    ),
    (
        '        v = self.cache["v"] + dt * self.cache["qacc"]\n'
        '        return self.cache["xpos"] + dt * v, v\n',
        '        self.v = self.v + dt * self.cache["qacc"]\n'
        "        self.q = self.q + dt * self.v\n"
        "        return self.q, self.v\n",
    ),
)
_wrong(
    "step_exchanged",
    "Your step returns (v, q); (q, v) is asked for.",
    ('self.cache["xpos"] + dt * v, v\n', 'v, self.cache["xpos"] + dt * v\n'),
)
_wrong(
    "row_without_inverse_mass",
    "The row's force acts through M^-1: qacc = qacc_smooth + M^-1 J^T force.",
    ("a + y * force}", "a + self.J * force}"),
)
_wrong(
    "shared_by_all",
    "Your caches belong to the class: every instance of it reads the results of another. Make "
    "them in `__init__`.",
    ("class StagedPipeline:\n", "class StagedPipeline:\n    inputs, cache = {}, {}\n\n"),
    ("        self.inputs = {}\n        self.cache = {}\n", ""),
)
_wrong(
    "force_compared",
    "You run the acceleration again when `f` changed although `qfrc_actuator` did not: with more "
    "actuators than dofs several `f` give one generalized force, and that is what it depends on.",
    (
        '[self.cache["qfrc_actuator"], passive, applied], self.acceleration',
        "[f, passive, applied],\n"
        '            lambda f, p, t: self.acceleration(self.cache["qfrc_actuator"], p, t)',
    ),
)
_wrong(
    "compares_loosely",
    "You take inputs that differ a little (np.allclose) for the same: the results are then those "
    "of other inputs. Compare with np.array_equal.",
    ("not all(map(np.array_equal,", "not all(map(np.allclose,"),
)
_wrong(
    "changes_inputs",
    "You change an array that was given to `forward`; work on copies.",
    (
        '        self.stage("position"',
        '        passive += applied\n        applied = 0 * applied\n        self.stage("position"',
    ),
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

_OTHER = exercise.slips(WRITTEN_OUT)
_OTHER_STEP = """\
        v = np.array(self.v) + dt * self.d["qacc"]
        return [np.array(self.q) + dt * v, v]
"""
_OTHER(
    "step_moves_the_cache",
    "Your step takes the new state over into what `forward` compares with: the results of the old "
    "instant then count as those of the new one. Return new arrays and leave the rest alone.",
    (
        _OTHER_STEP,
        """\
        self.v = list(np.array(self.v) + dt * self.d["qacc"])
        self.q = list(np.array(self.q) + dt * np.array(self.v))
        return np.array(self.q), np.array(self.v)
""",
    ),
)
_REFRESHED = (
    "Your step evaluates at the new state: the cached results must stay those of the old instant "
    "until `forward` is called."
)
for _loads in ("self.given[3], self.given[4]", "np.zeros(len(v)), np.zeros(len(v))"):
    _OTHER(
        "refreshes_on_step",
        _REFRESHED,
        (
            "        q, v, f = list(q)",
            "        self.given = (q, v, f, passive, applied)\n        q, v, f = list(q)",
        ),
        (
            _OTHER_STEP,
            _OTHER_STEP.replace("return [", "q = ").replace(" * v, v]", " * v")
            + f"        self.forward(q, v, self.given[2], {_loads})\n        return q, v\n",
        ),
    )
for _stages in (("position", "velocity"), ("position",), ("velocity", "actuation")):
    _OTHER(
        "counts_calls",
        "`evaluations` counts the calls of `forward`; it must count how often a stage really ran.",
        *(
            (
                f'            self.evaluations["{stage}"] += 1',
                f'        self.evaluations["{stage}"] += 1',
            )
            for stage in _stages
        ),
    )
_OTHER(
    "no_array_without_row",
    "Without a row `efc_force` is an empty array, shape (0,), not None.",
    ("np.array([]), np.array(a)", "None, np.array(a)"),
)

_right = variants(exercise)
_right("by_stages", GOOD)
_right("written_out", WRITTEN_OUT)
_right(
    "by_bytes_and_tables",
    """\
from collections import Counter

class StagedPipeline:
    GRAPH = {
        "position": (("q",), "_position"),
        "velocity": (("v",), "_velocity"),
        "actuation": (("f",), "_actuation"),
        "acceleration": (("qfrc_actuator", "passive", "applied"), "_acceleration"),
        "constraint": (("qacc_smooth",), "_constraint"),
    }

    def __init__(self, M, P, bias, J=None):
        self._M, self._P, self._bias, self._J = np.copy(M), np.copy(P), np.copy(bias), J
        self._seen, self._all, self._count = {}, {}, Counter()

    @property
    def evaluations(self):
        return {stage: self._count[stage] for stage in self.GRAPH}

    def forward(self, q, v, f, passive, applied):
        given = dict(q=q, v=v, f=f, passive=passive, applied=applied)
        self._all |= {k: np.array(x, float) for k, x in given.items()}
        for stage, (needs, method) in self.GRAPH.items():
            key = tuple((self._all[n] + 0.0).tobytes() for n in needs)
            if self._seen.get(stage) != key:
                self._seen[stage] = key
                self._count[stage] += 1
                getattr(self, method)()
        names = "xpos actuator_velocity qfrc_actuator qacc_smooth efc_force qacc".split()
        return {n: self._all[n].tolist() if n == "xpos" else self._all[n] for n in names}

    def _position(self):
        self._all["xpos"] = self._all["q"].copy()

    def _velocity(self):
        self._all["actuator_velocity"] = np.einsum("ij,j", self._P, self._all["v"])

    def _actuation(self):
        self._all["qfrc_actuator"] = np.einsum("ij,i", self._P, self._all["f"])

    def _acceleration(self):
        a = self._all
        a["qacc_smooth"] = np.linalg.solve(
            self._M, a["qfrc_actuator"] + a["passive"] + a["applied"] - self._bias)

    def _constraint(self):
        a = self._all
        n = len(self._M)
        rows = np.zeros((0, n)) if self._J is None else np.reshape(self._J, (1, n))
        k = len(rows)
        system = np.block([[self._M, -rows.T], [rows, np.zeros((k, k))]])
        x = np.linalg.solve(system, np.append(self._M @ a["qacc_smooth"], np.zeros(k)))
        a["qacc"], a["efc_force"] = x[:n], x[n:]

    def step(self, dt):
        v = self._all["v"] + dt * self._all["qacc"]
        return self._all["q"] + dt * v, v
""",
)
