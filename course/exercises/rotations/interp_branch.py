"""`interp_branch`: blending Euler angles with the nearer of the two branches."""

import numpy as np

from course.exercises.exercise import Exercise, call

exercise = Exercise("interp_branch", points=3, provides=("naive_euler_path",), by_hand=True)


def _wrap(angles):
    """Into (-pi, pi]."""
    return np.pi - (np.pi - angles) % (2 * np.pi)


def _choices(e0, e1):
    """The wrapped differences to both branches of `e1`, each (3,)."""
    other = np.array([e1[0] + np.pi, np.pi - e1[1], e1[2] + np.pi])
    return _wrap(e1 - e0), _wrap(other - e0)


@exercise.reference
def reference():
    def naive_euler_path(e0, e1, t):
        direct, flipped = _choices(np.asarray(e0, float), np.asarray(e1, float))
        d = flipped if np.linalg.norm(flipped) < np.linalg.norm(direct) else direct
        return np.asarray(e0, float) + np.multiply.outer(np.asarray(t, float), d)

    return {"naive_euler_path": naive_euler_path}


def _drawn(seed, keep, count):
    """Pairs (e0, e1) for which `keep(e0, e1)`; no ties, no difference close to +-pi."""
    rng = np.random.default_rng(seed)
    pairs = []
    while len(pairs) < count:
        e0, e1 = (rng.uniform([-np.pi, -1.55, -np.pi], [np.pi, 1.55, np.pi]) for _ in range(2))
        direct, flipped = _choices(e0, e1)
        tie = abs(np.linalg.norm(direct) - np.linalg.norm(flipped)) < 1e-3
        edge = max(np.abs(direct).max(), np.abs(flipped).max()) > np.pi - 1e-3
        if not tie and not edge and keep(e0, e1):
            pairs.append((e0, e1))
    return pairs


def _flips(e0, e1):
    direct, flipped = _choices(e0, e1)
    return bool(np.linalg.norm(flipped) < np.linalg.norm(direct))


def _wraps(e0, e1):
    return bool(np.abs(e1 - e0).max() > np.pi)


def _cases(pairs, seed, label="", unchanged=False):
    rng = np.random.default_rng(seed)
    cases = []
    for e0, e1 in pairs:
        t = np.concatenate([[0.0], np.sort(rng.uniform(0, 1, 3)), [1.0]])
        cases.append(call("naive_euler_path", e0, e1, t, label=label, unchanged=unchanged))
    return cases


@exercise.part("neither wrap nor flip, and wraps", points=1)
def wraps():
    plain = _drawn(10, lambda a, b: not _flips(a, b) and not _wraps(a, b), 8)
    wrapped = _drawn(11, lambda a, b: not _flips(a, b) and _wraps(a, b), 8)
    return _cases(plain, 12) + _cases(wrapped, 13, "yaw or roll wraps")


@exercise.part("the other branch is nearer, pitch of both signs", points=1.5)
def flips():
    plain = _drawn(20, lambda a, b: not _flips(a, b), 4)
    up = _drawn(21, lambda a, b: _flips(a, b) and a[1] > 0 and b[1] > 0, 6)
    down = _drawn(22, lambda a, b: _flips(a, b) and a[1] < 0 and b[1] < 0, 6)
    mixed = _drawn(23, lambda a, b: _flips(a, b) and a[1] * b[1] < 0, 6)
    steep = _drawn(24, lambda a, b: _flips(a, b) and abs(a[1]) > 1.4 and abs(b[1]) > 1.3, 6)
    return (
        _cases(plain, 25)
        + _cases(up, 26, "flip, pitch positive")
        + _cases(down, 27, "flip, pitch negative")
        + _cases(mixed, 28, "flip, pitch of both signs")
        + _cases(steep, 29, "flip near the lock")
    )


@exercise.part("contract: shape (len(t), 3), inputs left as they were", points=0.5)
def contract():
    pairs = _drawn(30, lambda a, b: not _flips(a, b), 3) + _drawn(31, _flips, 3)
    cases = _cases(pairs, 32, unchanged=True)
    e0, e1 = pairs[0]
    cases.append(call("naive_euler_path", e0, e1, np.array([0.25]), label="one time"))
    cases.append(call("naive_euler_path", e0, e1, np.linspace(0, 1, 101), label="101 times"))
    return cases


_GOOD = """\
def naive_euler_path(e0, e1, t):
    e0, e1, t = np.array(e0, float), np.array(e1, float), np.array(t, float)
    wrap = lambda a: np.arctan2(np.sin(a), np.cos(a))
    other = np.array([e1[0] + np.pi, np.pi - e1[1], e1[2] + np.pi])
    d, flipped = wrap(e1 - e0), wrap(other - e0)
    if np.linalg.norm(flipped) < np.linalg.norm(d):
        d = flipped
    path = e0 + t[:, None] * d
    return path
"""


_wrong = exercise.slips(_GOOD)


_FLIP = "    if np.linalg.norm(flipped) < np.linalg.norm(d):\n        d = flipped\n"
_NO_WRAP = (
    "The differences are not wrapped into (-pi, pi]: from 179 deg to -179 deg is 2 deg, not 358."
)
_wrong("no_wrap", _NO_WRAP, ("wrap(e1 - e0), wrap(other - e0)", "e1 - e0, other - e0"))
_wrong(
    "no_wrap",
    "Neither wrap nor second branch: this is the plain difference of the angles. Wrap all three "
    "differences into (-pi, pi] and compare both branches.",
    ("wrap(e1 - e0), wrap(other - e0)", "e1 - e0, other - e0"),
    (_FLIP, ""),
)
_wrong(
    "no_wrap",
    "You wrap the angles of the branch, not their difference from `e0`: wrap after subtracting.",
    ("wrap(e1 - e0), wrap(other - e0)", "wrap(e1) - e0, wrap(other) - e0"),
)
_wrong(
    "flipped_not_wrapped",
    "The difference to the second branch is not wrapped: wrap all three entries of both "
    "differences.",
    ("wrap(other - e0)", "other - e0"),
)
_wrong(
    "pitch_not_wrapped",
    "You wrap yaw and roll only; for the second branch the difference of the pitch, "
    "`pi - pitch - pitch0`, needs it too.",
    ("    if np.linalg", "    flipped[1] = other[1] - e0[1]\n    if np.linalg"),
)
_wrong(
    "yaw_only_wrapped",
    "You wrap the yaw only; the difference of the roll jumps in the same way.",
    (
        "    if np.linalg",
        "    d[2], flipped[2] = e1[2] - e0[2], other[2] - e0[2]\n    if np.linalg",
    ),
)
_wrong(
    "yaw_only_wrapped",
    "You wrap the roll only; the difference of the yaw jumps in the same way.",
    (
        "    if np.linalg",
        "    d[0], flipped[0] = e1[0] - e0[0], other[0] - e0[0]\n    if np.linalg",
    ),
)
_wrong(
    "never_flips",
    "You never take the second branch `(yaw +- pi, pi - pitch, roll +- pi)`: it is the same "
    "rotation, and often nearer.",
    (_FLIP, ""),
)
_wrong(
    "always_flips",
    "You always take the second branch; take it only where its difference has the smaller norm.",
    (_FLIP, "    d = flipped\n"),
)
_wrong(
    "farther_branch",
    "You take the branch that is farther away: the smaller norm is asked for.",
    ("(flipped) <", "(flipped) >"),
)
_wrong(
    "folds_pitch",
    "You fold the pitch back into +-90 deg: the path is a straight line and may leave that range; "
    "leave it so.",
    ("    return path", "    path[:, 1] = np.arcsin(np.sin(path[:, 1]))\n    return path"),
)
_wrong(
    "folds_pitch",
    "You fold or clip the pitch into +-90 deg: the path is a straight line and may leave that "
    "range; leave it so.",
    (
        "    return path",
        "    path[:, 1] = np.clip(path[:, 1], -np.pi / 2, np.pi / 2)\n    return path",
    ),
)
_wrong(
    "folds_pitch",
    "You fold the pitch of the second branch back into +-90 deg: then it is another rotation.",
    ("    d, flipped", "    other[1] = np.arcsin(np.sin(other[1]))\n    d, flipped"),
)
_wrong(
    "folds_whole_pose",
    "You fold poses whose pitch leaves +-90 deg into the usual ranges: the path is a straight "
    "line; leave it so.",
    (
        "    return path",
        "    over = np.abs(path[:, 1]) > np.pi / 2\n"
        "    path[over] = wrap(path[over] * [1, -1, 1] + np.pi)\n    return path",
    ),
)
_wrong(
    "path_wrapped",
    "You wrap the path once more: it must run straight on, also beyond +-pi.",
    ("return path", "return wrap(path)"),
)
for _branch in (
    "[e1[0] + np.pi, -e1[1], e1[2] + np.pi]",
    "[e1[0] + np.pi, np.pi + e1[1], e1[2] + np.pi]",
    "[e1[0] + np.pi, e1[1] - np.pi, e1[2] + np.pi]",
    "[e1[0] + np.pi, np.pi - e1[1], e1[2]]",
    "[e1[0], np.pi - e1[1], e1[2] + np.pi]",
    "[e1[0] + np.pi / 2, np.pi / 2 - e1[1], e1[2] + np.pi / 2]",
    "[-e1[0], np.pi - e1[1], -e1[2]]",
    "[np.pi - e1[0], np.pi - e1[1], np.pi - e1[2]]",
):
    _wrong(
        "wrong_branch",
        "Your second branch is another rotation; the same one is "
        "`(yaw +- pi, pi - pitch, roll +- pi)`, all three together.",
        ("[e1[0] + np.pi, np.pi - e1[1], e1[2] + np.pi]", _branch),
    )
_wrong(
    "other_norm",
    "You compare by the sum of the absolute differences; the Euclidean norm is asked for.",
    ("np.linalg.norm(flipped) < np.linalg.norm(d)", "np.abs(flipped).sum() < np.abs(d).sum()"),
)
_wrong(
    "other_norm",
    "You compare by the largest difference; the Euclidean norm is asked for.",
    ("np.linalg.norm(flipped) < np.linalg.norm(d)", "np.abs(flipped).max() < np.abs(d).max()"),
)
_wrong(
    "other_norm",
    "You compare by the yaw alone; the Euclidean norm of all three is asked for.",
    ("np.linalg.norm(flipped) < np.linalg.norm(d)", "abs(flipped[0]) < abs(d[0])"),
)
_wrong(
    "other_norm",
    "You flip where the yaw differs by more than 90 deg; compare the norms of both differences.",
    ("np.linalg.norm(flipped) < np.linalg.norm(d)", "abs(d[0]) > np.pi / 2"),
)
_wrong(
    "norm_before_wrap",
    "You choose the branch before wrapping; wrap both differences first, then compare.",
    (
        "np.linalg.norm(flipped) < np.linalg.norm(d)",
        "np.linalg.norm(other - e0) < np.linalg.norm(e1 - e0)",
    ),
)
_wrong(
    "each_angle_by_itself",
    "You choose the branch angle by angle; a branch is all three together, or it is another "
    "rotation.",
    (_FLIP, "    d = np.where(np.abs(flipped) < np.abs(d), flipped, d)\n"),
)
_wrong(
    "start_flipped",
    "You flip the start; the path begins at `e0` as given, and the branch is one of `e1`.",
    (
        "        d = flipped\n",
        "        e0 = np.array([e0[0] + np.pi, np.pi - e0[1], e0[2] + np.pi])\n"
        "        d = wrap(e1 - e0)\n",
    ),
)
_wrong(
    "reversed",
    "The path runs from the goal to the start: at `t = 0` it is `e0`.",
    ("path = e0 + t[:, None] * d", "path = e0 + (1 - t)[:, None] * d"),
)
_wrong(
    "sign_of_difference",
    "The path runs away from the goal: the difference is goal minus start.",
    ("e0 + t[:, None]", "e0 - t[:, None]"),
)
_wrong(
    "from_zero",
    "The start is missing: the path is `e0 + t d`.",
    ("e0 + t[:, None] * d", "t[:, None] * d"),
)
_wrong(
    "transposed",
    "The shape is `(3, len(t))`; one row for each time is asked for: `(len(t), 3)`.",
    ("return path", "return path.T"),
)
_wrong(
    "half_range",
    "You wrap into +-90 deg; the range is (-pi, pi].",
    ("np.arctan2(np.sin(a), np.cos(a))", "np.arctan(np.tan(a))"),
)
_wrong(
    "positive_range",
    "You wrap into [0, 2 pi): a difference of -1 deg becomes 359. The range is (-pi, pi].",
    ("np.arctan2(np.sin(a), np.cos(a))", "a % (2 * np.pi)"),
)


@exercise.misconception("You write into an argument; work on copies.", id="modifies_input")
def modifies_input():
    def naive_euler_path(e0, e1, t):
        wrap = lambda a: np.arctan2(np.sin(a), np.cos(a))
        d = wrap(e1 - e0)
        e1 += np.pi
        e1[1] = 2 * np.pi - e1[1]
        flipped = wrap(e1 - e0)
        if np.linalg.norm(flipped) < np.linalg.norm(d):
            d = flipped
        return e0 + np.outer(t, d)


_wrong(
    "quarter_turns",
    "Your other branch adds pi/2 to yaw and roll; it is `(yaw +- pi, pi - pitch, roll +- pi)`.",
    (
        "[e1[0] + np.pi, np.pi - e1[1], e1[2] + np.pi]",
        "[e1[0] + np.pi / 2, np.pi - e1[1], e1[2] + np.pi / 2]",
    ),
)
_wrong(
    "starts_at_the_goal",
    "Your path starts at `e1`: it is `e0 + t d`, at `e0` for `t = 0`.",
    ("e0 + t[:, None] * d", "e1 + t[:, None] * d"),
)
_wrong(
    "wraps_by_half_turns",
    "You wrap by multiples of pi; angles repeat after 2 pi.",
    ("np.arctan2(np.sin(a), np.cos(a))", "np.pi - (np.pi - a) % np.pi"),
)
_wrong(
    "wraps_by_half_turns",
    "You wrap by multiples of pi; angles repeat after 2 pi.",
    ("np.arctan2(np.sin(a), np.cos(a))", "(a + np.pi / 2) % np.pi - np.pi / 2"),
)
_wrong(
    "own_times",
    "You take even steps of your own between 0 and 1; the fractions asked for are those in `t`.",
    ("t[:, None] * d", "np.linspace(0, 1, len(t))[:, None] * d"),
)


@exercise.variant("wrapped by the modulus, an outer product")
def modulus():
    def naive_euler_path(e0, e1, t):
        e0, e1 = np.asarray(e0), np.asarray(e1)
        wrap = lambda x: (x + np.pi) % (2 * np.pi) - np.pi
        branches = [e1, e1 * [1, -1, 1] + np.pi]
        d = min((wrap(b - e0) for b in branches), key=np.linalg.norm)
        return e0 + np.outer(t, d)


@exercise.variant("loops and lists, pi taken away instead of added")
def loops():
    from math import pi

    def naive_euler_path(e0, e1, t):
        def wrap(a):
            while a > pi:
                a -= 2 * pi
            while a <= -pi:
                a += 2 * pi
            return a

        best = None
        for goal in (list(e1), [e1[0] - pi, pi - e1[1], e1[2] - pi]):
            d = [wrap(g - s) for g, s in zip(goal, e0)]
            size = sum(c * c for c in d)
            if best is None or size < best[0]:
                best = (size, d)
        return [[s + time * c for s, c in zip(e0, best[1])] for time in t]


@exercise.variant("complex numbers")
def complex_numbers():
    def naive_euler_path(e0, e1, t):
        wrap = lambda a: np.angle(np.exp(1j * np.asarray(a)))
        d = np.array([wrap(e1 - e0), wrap([e1[0] + np.pi, np.pi - e1[1], e1[2] + np.pi] - e0)])
        d = d[np.argmin((d**2).sum(axis=1))]
        return np.array([e0 + s * d for s in t])


@exercise.variant("interpolation column by column, unwrapped")
def columns():
    def naive_euler_path(e0, e1, t):
        goals = []
        for goal in (e1, (e1[0] + np.pi, np.pi - e1[1], e1[2] + np.pi)):
            goal = np.array([np.unwrap([a, b])[1] for a, b in zip(e0, goal)])
            goals.append((np.linalg.norm(goal - e0), goal))
        goal = goals[0][1] if goals[0][0] <= goals[1][0] else goals[1][1]
        return np.column_stack([np.interp(t, [0, 1], [a, b]) for a, b in zip(e0, goal)])
