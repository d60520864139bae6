# %% [markdown]
# ## The question
#
# MuJoCo keeps the positions of all joints in one list, `qpos` (`nq` numbers), and their velocities in another, `qvel`
# (`nv` numbers). A hinge adds one number to each. A floating box adds seven to `qpos` and six to `qvel`. Nothing
# is missing and nothing is spare: why do the two counts differ?
#
# Below is one body for each joint type that MuJoCo has. The clock runs; press the buttons and
# watch the read-outs. Two things are worth finding before you read on:
#
# - the hinge simply counts up and the slide runs to and fro, but the four numbers that hold the box's orientation
#   (`qw`, `qx`, `qy`, `qz` in the chart) go round and round and never leave the band between -1 and 1;
# - with all that motion, one figure stays at 1 to twelve digits.

# %%
# Folded: the code of the lab, for those who want to see how it is made.
def spin_the_box(model, data):
    data.joint("free").qvel[3:6] = 0.5, 1.0, 2.0  # rad/s, about the box's own axes


def swing_the_ball(model, data):
    data.joint("ball").qvel[:2] = 1.5, 0.5


def push_the_slide(model, data):
    data.joint("slide").qvel[0] = 0.2  # m/s


def turn_the_hinge(model, data):
    data.joint("hinge").qvel[0] = 2.0


lab_zoo = Lab(
    "joint_zoo",
    title="One joint of each type",
    note="From left to right: free, ball, slide, hinge. No gravity, no damping; the slide's stops are elastic.",
    camera={"azimuth": -90, "elevation": 12, "distance": 1.6, "lookat": (0, 0, 0.45)},
    controls=[
        Button("Spin the box", spin_the_box),
        Button("Swing the ball", swing_the_ball),
        Button("Push the slide", push_the_slide),
        Button("Turn the hinge", turn_the_hinge),
    ],
    readouts=[
        Readout("nq", lambda model, data: model.nq),
        Readout("nv", lambda model, data: model.nv),
        Readout("free qw", lambda model, data: data.qpos[3], digits=4),
        Readout(
            "|q| of the free body", lambda model, data: np.linalg.norm(data.qpos[3:7]), digits=12
        ),
        Readout("ball qw", lambda model, data: data.qpos[7], digits=4),
        Readout("slide", lambda model, data: data.joint("slide").qpos[0], unit="m"),
        Readout("hinge", lambda model, data: data.joint("hinge").qpos[0], unit="rad"),
    ],
    charts=[
        StripChart(
            "orientation of the free body",
            {
                "qw": lambda model, data: data.qpos[3],
                "qx": lambda model, data: data.qpos[4],
                "qy": lambda model, data: data.qpos[5],
                "qz": lambda model, data: data.qpos[6],
            },
            window=6.0,
            limits=(-1.05, 1.05),
        )
    ],
    overlays=("frames", "joints"),
    playing=True,
)
lab_zoo

# %% [markdown]
# **Predict first.** Not graded; answer before you read the explanations.

# %%
ask(
    "How many numbers does `qpos` hold for a floating box, and how many does `qvel`?",
    {
        "6 and 6": "It has six degrees of freedom, so `qvel` is right. But `qpos` stores the orientation as a unit quaternion: four numbers, not three.",
        "7 and 6": "Three numbers of position and four of a quaternion; three of linear and three of angular velocity.",
        "7 and 7": "A quaternion does have four rates of change, but they are tied together: three numbers say all of it.",
        "12 and 6": "A rotation matrix would need nine numbers. MuJoCo keeps one too (`xmat`), but it is derived from the quaternion in `qpos`.",
    },
    right="7 and 6",
)

# %%
ask(
    "The box spins at 2 rad/s about one axis. You subtract two of its quaternions and divide by the time between them. Is one of the four numbers equal to 2?",
    {
        "Yes, the one of the axis": "It looks like an angular velocity, and that is the trap: a quaternion holds *half* the angle, and it mixes the axes as soon as the box is turned.",
        "No": "From the identity the axis reads about 1, half the speed; from another orientation the numbers are mixed. Nothing warns you.",
        "Yes, after normalising": "Normalising a difference throws away how fast it is and keeps only its direction on the sphere of quaternions.",
    },
    right="No",
)


# %% [markdown]
# ## In plain words
#
# Where a thing *is* and how it *moves* are different kinds of thing.
#
# Think of standing on the Earth. Where you are is a point on a curved surface. How you walk is an
# arrow that lies flat on the ground at your feet: so far east, so far north. You may name your
# place with three numbers (a point in space, one unit from the centre of a globe), but your walk
# never needs more than two, because you cannot walk into the ground. And you cannot add the arrow
# to the place as if the Earth were flat: after a day's walk you would be hovering above it.
#
# Orientations are the same, one dimension up. An orientation is a point on a curved surface: the
# unit quaternions, four numbers whose squares add up to one. How it turns is an arrow that lies
# flat: three numbers, the angular velocity. So an orientation costs four numbers in `qpos` and
# three in `qvel`, and moving along it means walking *on* the surface instead of adding.
#
# Why four numbers, when three would do for counting? Because any three (roll, pitch and yaw, say)
# have poses where they break down: there, a small turn makes the numbers jump. Four numbers with
# one condition have no such pose. The price is the condition, and the care of this lesson.
#
# A hinge or a slide has no such trouble. Its place is a point on a line, its motion an arrow along
# the line, and adding works.

# %% [markdown]
# ## Mathematics
#
# **Symbols.** $q$ is the configuration (`qpos`), a list of `nq` numbers; $v$ the velocity (`qvel`),
# `nv` numbers; $h$ a time in seconds. For one body, $\mathbf q = (w, x, y, z)$ is the unit quaternion that
# turns body axes into world axes, $R$ its matrix (columns: the body's axes in the world),
# $\boldsymbol\omega$ the angular velocity in rad/s *in the body's own axes*, $\mathbf q^{-1} = (w, -x, -y, -z)$.
# $(0, \mathbf a)$ is the quaternion whose scalar part is 0 and whose vector part is $\mathbf a$.
#
# **Quaternions in short.** *Established* (Solà, 2017; the next lesson builds them up). A turn by the angle $\theta$ about the unit axis
# $\mathbf u$ is $(\cos\frac\theta2,\ \sin\frac\theta2\,\mathbf u)$: a quaternion holds *half* of the angle. The product of $(w, \mathbf v)$ and $(W, \mathbf V)$ is
#
# $$(w, \mathbf v)\,(W, \mathbf V) = \big(wW - \mathbf v\cdot\mathbf V,\ \ w\mathbf V + W\mathbf v + \mathbf v\times\mathbf V\big).$$
#
# Lengths multiply, and the order matters: $\mathbf q\,\mathbf r$ is the orientation $\mathbf q$ turned by $\mathbf r$ about its *own* axes, $\mathbf r\,\mathbf q$ the same
# turned about the *world's*. A vector turns by $(0, R\mathbf a) = \mathbf q\,(0, \mathbf a)\,\mathbf q^{-1}$.
#
# **1. Positions live on a curved space, velocities on a flat one.** *Established* (MuJoCo manual,
# Overview, "Floating objects"; Computation, "General framework").
#
# | joint | degrees of freedom | in `qpos` | in `qvel` | `qpos` contents | `qvel` contents |
# |---|---|---|---|---|---|
# | free | 6 | 7 | 6 | position (world), quaternion (world) | linear velocity (world), angular velocity (**body** frame) |
# | ball | 3 | 4 | 3 | quaternion relative to the parent | angular velocity relative to the parent (local frame: the body's own) |
# | slide | 1 | 1 | 1 | displacement along the axis, m | m/s |
# | hinge | 1 | 1 | 1 | angle about the axis, rad | rad/s |
#
# So $n_q - n_v$ is the number of free and ball joints. Mind the free joint's two halves: the linear
# one is in world axes, the angular one in the body's.
#
# **2. How a quaternion moves.** *Derivation.* In a short time $\mathrm dt$ the body turns by the small angle $|\boldsymbol\omega|\,\mathrm dt$ about
# $\boldsymbol\omega/|\boldsymbol\omega|$, one of its own axes. To first order that turn is the quaternion $(1, \frac12\boldsymbol\omega\,\mathrm dt)$, so
# $\mathbf q(t+\mathrm dt) = \mathbf q(t)\,(1, \frac12\boldsymbol\omega\,\mathrm dt)$, and therefore
#
# $$\dot{\mathbf q} = \tfrac12\, \mathbf q\,(0, \boldsymbol\omega).$$
#
# The factor stands on the *right* because $\boldsymbol\omega$ is measured in the body's axes; with the
# world-frame rate $R\boldsymbol\omega$ it would stand on the left (so it does in MuJoCo's `mju_derivQuat`, which wants the
# world-frame rate: *our measurement*). The half is there because a quaternion holds half
# of the angle. If $\boldsymbol\omega$ is constant for a time $h$, this linear equation is solved by the exponential:
#
# $$\mathbf q(t+h) = \mathbf q(t)\,\exp\!\big(\tfrac h2 (0, \boldsymbol\omega)\big), \qquad
# \exp\!\big(\tfrac12(0, \boldsymbol\phi)\big) = \Big(\cos\tfrac{|\boldsymbol\phi|}2,\ \sin\tfrac{|\boldsymbol\phi|}2\,\frac{\boldsymbol\phi}{|\boldsymbol\phi|}\Big).$$
#
# (The square of $(0, \mathbf u)$ with a unit $\mathbf u$ is $-1$, so the power series is that of $e^{i\alpha}$ with
# $(0,\mathbf u)$ for $i$ and $\alpha=|\boldsymbol\phi|/2$.) Both factors are of unit length, so the product is: the step stays on the sphere.
# At $\boldsymbol\phi = 0$ the axis is undefined and the result is $(1, 0, 0, 0)$: code has to say so.
#
# **3. The way back.** *Derivation.* Read the exponential backwards: with the relative quaternion
# $\mathbf r = \mathbf q_1^{-1}\mathbf q_2 = (w, \mathbf v)$,
#
# $$\boldsymbol\omega = \frac1h \log(\mathbf q_1^{-1}\mathbf q_2) = \frac{1}{h}\; 2\,\mathrm{atan2}(|\mathbf v|, w)\,\frac{\mathbf v}{|\mathbf v|}.$$
#
# $\mathbf q_2$ and $-\mathbf q_2$ are the same orientation (*the double cover*), but the formula gives the short way round for
# one of them and the long way for the other: when $w < 0$, take $-\mathbf r$. Half a turn apart both ways are
# equally short and either sign of the axis is right. With no turn at all $\mathbf v = 0$, there is no axis and $\boldsymbol\omega = 0$: again code
# has to say so. (Why not $2\arccos w$? It loses half of the digits near $w = 1$, where small turns are.)
#
# **4. What goes wrong by adding.** *Derivation.* $\dot{\mathbf q}$ is perpendicular to $\mathbf q$ and has length
# $|\boldsymbol\omega|/2$, so one step of plain addition gives
#
# $$|\mathbf q + h\dot{\mathbf q}|^2 = 1 + \tfrac{h^2|\boldsymbol\omega|^2}{4} > 1:$$
#
# the length grows at each step and never comes back. Normalising repairs the length, not the
# angle: the step has turned by $2\arctan(h|\boldsymbol\omega|/2)$ instead of $h|\boldsymbol\omega|$. And the plain difference
# $(\mathbf q_2 - \mathbf q_1)/h$ approximates $\dot{\mathbf q} = \frac12\mathbf q\,(0, \boldsymbol\omega)$, four numbers of which none is a rate of rotation.
#
# **5. A whole configuration.** Joint by joint, "add a velocity for a time $h$" means: add for slides, hinges and the
# three coordinates of a free joint; multiply by the exponential for its quaternion and for ball joints. Write
# $q \oplus h v$ for it and $q_2 \ominus q_1$ for its inverse. MuJoCo's integrators use $\oplus$, and by default
# with the *new* velocity, $q_{t+h} = q_t \oplus h\, v_{t+h}$. *Established* (Computation, "Numerical integration"). Keep this for the experiment.
#
# **6. How far apart are two orientations?** *Derivation.* The angle of the shortest turn between them,
#
# $$\theta = 2\arccos|\mathbf q_1\cdot\mathbf q_2|,$$
#
# the *geodesic angle*. The norm $|\mathbf q_1 - \mathbf q_2|$ is another thing: it is $2\sin(\theta/4)$ when the signs happen to match
# and close to 2 when they do not, although the orientations are nearly equal. A loss built on it punishes a
# network for a sign that means nothing.
#
# **7. What a representation costs a learner.** Three numbers (Euler angles, a rotation vector) jump or lose a direction
# somewhere. Four (quaternions) have two names for each orientation, and a function that always returns one of them must jump somewhere.
# *Established*: no representation of rotations by four or fewer real numbers is continuous (Zhou and others, 2019).
# Six are: the first two columns of $R$, orthonormalised by Gram and Schmidt, with the third as their cross product. *Advice*: feed a
# policy or a world model matrix columns, let it predict angular velocities (three numbers, no condition), integrate
# them with $\oplus$, and train on $\theta$.

# %% [markdown]
# ## In MuJoCo
#
# | you want | call or field | mind |
# |---|---|---|
# | sizes | `model.nq`, `model.nv`, `model.nu` | actions have `nu` numbers, velocity targets `nv`; never `nq` |
# | where a joint's numbers start | `model.jnt_qposadr[j]`, `model.jnt_dofadr[j]` | two different addresses |
# | the type of a joint | `model.jnt_type[j] == mujoco.mjtJoint.mjJNT_FREE` | the number on the left: with the enum on the left, or with `in`, a NumPy integer compares as different |
# | a joint's numbers by name | `data.joint("free").qpos`, `.qvel` | views: assigning to them changes `data`; an unknown name raises `KeyError` |
# | the joint of a body | `model.body("free").jntadr[0]`, `model.body_jntadr[b]` | the first of them; -1 where the body has none |
# | $q \oplus hv$ | `mj_integratePos(model, qpos, qvel, h)` | writes into `qpos` |
# | $(q_2 \ominus q_1)/h$ | `mj_differentiatePos(model, qvel, h, qpos1, qpos2)` | writes into `qvel`; the earlier configuration first |
# | one quaternion forward | `mju_quatIntegrate(quat, omega, h)` | writes into `quat` |
# | difference of two | `mju_subQuat(res, qb, qa)` | the *later* one first: `res` carries `qa` to `qb` |
#
# Sources: *API reference*, "Components", "Quaternions"; *Simulation*, "Coordinate frames and transformations".
#
# The layout of `joint_zoo`, as its model says:

# %%
@experiment
def layout_table():
    model = load("joint_zoo")
    print(f"joint_zoo: nq = {model.nq}, nv = {model.nv}\n")
    print("joint   qpos            qvel")
    rows = []
    for j in range(model.njnt):
        name = model.joint(j).name
        q, v = int(model.jnt_qposadr[j]), int(model.jnt_dofadr[j])
        q_end = int(model.jnt_qposadr[j + 1]) if j + 1 < model.njnt else model.nq
        v_end = int(model.jnt_dofadr[j + 1]) if j + 1 < model.njnt else model.nv
        in_qpos = f"[{q}:{q_end}]" if q_end - q > 1 else f"[{q}]"
        in_qvel = f"[{v}:{v_end}]" if v_end - v > 1 else f"[{v}]"
        rows.append((name, in_qpos, in_qvel))
        print(f"{name:<7} qpos{in_qpos:<10}  qvel{in_qvel}")
    return rows


# %% [markdown]
# Now the trap, in numbers. The free joint moves at 0.1 m/s along x and spins at 2 rad/s about z for
# 0.05 s. We ask for the velocity between the two configurations twice, the right way and the naive way.

# %%
@experiment
def two_ways():
    model = load("joint_zoo")
    data = mujoco.MjData(model)
    spin = np.array([0.1, 0, 0, 0, 0, 2.0])
    data.qvel[:6] = spin
    before = data.qpos.copy()
    after = before.copy()
    mujoco.mj_integratePos(model, after, data.qvel, 0.05)

    velocity = np.zeros(model.nv)
    mujoco.mj_differentiatePos(model, velocity, 0.05, before, after)
    naive = ((after - before) / 0.05)[:7]

    def row(name, numbers):
        print(f"{name:<20}", *(f"{x + 0.0:8.4g}" for x in np.round(numbers, 4)))

    print(" " * 20, *(f"{name:>8}" for name in ("x", "y", "z", "wx", "wy", "wz")))
    row("set (m/s, rad/s)", spin)
    row("mj_differentiatePos", velocity[:6])
    print("\n" + " " * 20, *(f"{name:>8}" for name in ("x", "y", "z", "qw", "qx", "qy", "qz")))
    row("naive (q2 - q1)/dt", naive)
    return velocity[:6], naive


# %% [markdown]
# The naive answer is one number too long. Its linear part is right. Its last number is the rate of the
# quaternion's z, half of the 2 rad/s, with nothing to show that it is wrong: in a loss or a controller
# that goes unnoticed.
#
# And one step on the sphere, from the identity, with the body rate (1, 2, 3) rad/s for half a second:

# %%
@experiment
def one_step():
    quat = np.array([1.0, 0, 0, 0])
    mujoco.mju_quatIntegrate(quat, np.array([1.0, 2.0, 3.0]), 0.5)
    with np.printoptions(precision=4, suppress=True):
        print("quaternion", quat, f"  norm {np.linalg.norm(quat):.15f}")
    return quat


# %% [markdown]
# **The same rate in world axes, four ways.** Rotate the body-frame rate by the quaternion; ask
# `mj_objectVelocity` (it returns the *angular* three first, and reads what the last `mj_forward` computed);
# read a `frameangvel` sensor; read `cvel`. Right after `mj_forward` they agree:

# %%
@experiment
def four_ways():
    model = load("joint_zoo")
    data = mujoco.MjData(model)
    data.joint("free").qpos[3:7] = np.array([0.6, 0.0, 0.8, 0.0])
    spin_the_box(model, data)
    mujoco.mj_forward(model, data)

    rotated = np.zeros(3)
    mujoco.mju_rotVecQuat(rotated, data.joint("free").qvel[3:6], data.joint("free").qpos[3:7])
    both = np.zeros(6)
    body = model.body("free").id
    mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_BODY, body, both, 0)
    ways = {
        "qvel, body frame": data.joint("free").qvel[3:6],
        "rotated by qpos": rotated,
        "mj_objectVelocity": both[:3],
        "frameangvel sensor": data.sensor("free_angvel_world").data,
        "cvel": data.cvel[body][:3],
    }
    print("angular velocity (rad/s)       x        y        z")
    for name, rate in ways.items():
        print(f"{name:<22}", *(f"{x:8.4f}" for x in rate))
    return {name: rate.copy() for name, rate in ways.items()}


# %% [markdown]
# ## Build it
#
# Each exercise says what to write. Run the check under it: it compares with MuJoCo and, where you are off, says
# what the difference looks like. "By hand" means without the rotation and integration routines of MuJoCo
# (`mju_...Quat...`, `mj_integratePos`, `mj_differentiatePos`, ...) or SciPy: NumPy is enough. Wherever an array is
# returned a list or tuple will do. Inputs must be left as they were.

# %%
# Folded: how a check names a mistake that is known.
def compare(check, label, got, expected, *mistakes, **how):
    """`check.close`, and the sentence of the one of `mistakes`, (value, sentence), that `got` is."""
    if not check.close(label, got, expected, **how):
        for wrong, sentence in mistakes:
            check.unlike(label, got, wrong, otherwise=sentence)


def in_world(quat, vector):
    """`vector` (3,), given in body axes, in world axes."""
    out = np.zeros(3)
    mujoco.mju_rotVecQuat(out, np.array(vector, float), np.array(quat, float))
    return out


def in_body(quat, vector):
    """`vector` (3,), given in world axes, in body axes."""
    return in_world(np.array(quat) * [1, -1, -1, -1], vector)


# %% [markdown]
# ### `joint_layout`: where every joint lives
#
# Write `joint_layout(model)`: a list with one entry for each joint, in joint order, each a tuple
#
# `(name, type, slice in qpos, slice in qvel)`
#
# with the type as one of the words `"free"`, `"ball"`, `"slide"`, `"hinge"`. A joint without a name has the name `""`.
# It must work for any model, so read the addresses from it. The last joint is where most first attempts break.

# %% solution="joint_layout"
def joint_layout(model):
    """[(name, type, slice in qpos, slice in qvel), ...] in joint order."""
    ### BEGIN SOLUTION
    widths = {0: ("free", 7, 6), 1: ("ball", 4, 3), 2: ("slide", 1, 1), 3: ("hinge", 1, 1)}
    layout = []
    for j in range(model.njnt):
        kind, in_qpos, in_qvel = widths[int(model.jnt_type[j])]
        q, v = int(model.jnt_qposadr[j]), int(model.jnt_dofadr[j])
        layout.append((model.joint(j).name, kind, slice(q, q + in_qpos), slice(v, v + in_qvel)))
    return layout
    ### END SOLUTION


# %% check="joint_layout"
@visible_check("joint_layout")
def check_joint_layout(check):
    for scene in ("joint_zoo", "pick_place"):
        model = load(scene)
        layout = joint_layout(model)
        check.equal(f"joints of {scene}", len(layout), model.njnt)
        fours = all(isinstance(row, (list, tuple)) and len(row) == 4 for row in layout)
        if not check.true("rows of four", fours, "give (name, type, slice, slice) for each joint"):
            return
        names = [row[0] for row in layout]
        check.equal("names in joint order", names, [model.joint(j).name for j in range(model.njnt)])
        types = [row[1] for row in layout]
        counts = {word: types.count(word) for word in ("free", "ball", "slide", "hinge")}
        expected = dict(
            zip(counts, np.bincount(model.jnt_type, minlength=4).tolist(), strict=True)
        )
        check.equal(f"types in {scene}", counts, expected)
        for label, column, size in (
            ("slices of qpos", 2, model.nq),
            ("slices of qvel", 3, model.nv),
        ):
            kind = all(isinstance(row[column], slice) for row in layout)
            if check.true(label, kind, "give slice objects: slice(start, stop)"):
                covered = [i for row in layout for i in range(size)[row[column]]]
                check.equal(f"{label} cover {scene}, each entry once", covered, list(range(size)))


# %% test="joint_layout"
# Looks at models that you have not seen: other orders, one joint, several on a body, no names.

# %% [markdown]
# ### `second_box`: what an inserted object does to everybody else
#
# Someone adds a second box to `joint_zoo`, with a free joint called `free2`, right after the first one: the order of
# the joints is then `free`, `free2`, `ball`, `slide`, `hinge`. Without running anything: how large are `nq` and `nv`,
# and where in `qpos` does each of the five joints start?

# %% solution="second_box"
predicted_nq = None  # an int
predicted_nv = None  # an int
# a dict, {"free": an int, "free2": an int, "ball": ..., "slide": ..., "hinge": ...}
predicted_qposadr = None
### BEGIN SOLUTION
predicted_nq = 13 + 7
predicted_nv = 11 + 6
predicted_qposadr = {"free": 0, "free2": 7, "ball": 14, "slide": 18, "hinge": 19}
### END SOLUTION

# %% check="second_box"
@visible_check("second_box")
def check_second_box(check):
    numbers = all(isinstance(n, (int, float, np.number)) for n in (predicted_nq, predicted_nv))
    check.true("two sizes", numbers, "type an int for predicted_nq and one for predicted_nv")
    names = {"free", "free2", "ball", "slide", "hinge"}
    complete = isinstance(predicted_qposadr, dict) and set(predicted_qposadr) == names
    check.true(
        "an address for each of the five joints",
        complete,
        f"type a dict with the keys {sorted(names)}",
    )
    if complete:
        different = len(set(predicted_qposadr.values())) == 5
        check.true(
            "no two joints start at one place", different, "two of your addresses are the same"
        )


# %% test="second_box"
# Compares with the model that has the second box. (The check above only looks at the form.)

# %% [markdown]
# ### `integrate_quat`: one step on the sphere
#
# Write `integrate_quat(quat, omega, dt)`, by hand: the orientation `quat` (4,), scalar first, carried for `dt` seconds along
# the angular velocity `omega` (3,) in rad/s, which is given **in the body's frame** and constant. Return a quaternion (4,)
# of unit length, also when `quat` is a little off unit (or far off). Nothing special must happen at rest (`omega = 0`), nor for a
# rate of 1e-12 rad/s, nor for more than a full turn.

# %% solution="integrate_quat"
def integrate_quat(quat, omega, dt):
    """Unit quaternion (4,), scalar first: `quat` turned by the body-frame rate `omega` (rad/s) for `dt` (s)."""
    ### BEGIN SOLUTION
    w, x, y, z = np.asarray(quat, float) / np.linalg.norm(quat)
    half = 0.5 * dt * np.asarray(omega, float)  # half the rotation vector
    angle = np.linalg.norm(half)
    # np.sinc(a / pi) is sin(a)/a and equals 1 at a = 0: no division at rest.
    W, (X, Y, Z) = np.cos(angle), np.sinc(angle / np.pi) * half
    return np.array(
        [
            w * W - x * X - y * Y - z * Z,
            w * X + x * W + y * Z - z * Y,
            w * Y - x * Z + y * W + z * X,
            w * Z + x * Y - y * X + z * W,
        ]
    )
    ### END SOLUTION


# %% check="integrate_quat"
@visible_check("integrate_quat")
def check_integrate_quat(check):
    def expected(quat, omega, dt):
        out = quat / np.linalg.norm(quat)
        mujoco.mju_quatIntegrate(out, omega, dt)
        return out

    rng = np.random.default_rng(1)
    for _ in range(50):
        quat, omega, dt = rng.normal(size=4), rng.normal(size=3) * 2, rng.uniform(0.05, 0.7)
        quat /= np.linalg.norm(quat)
        given = quat.copy()
        got = integrate_quat(quat, omega, dt)
        left = expected(quat, in_body(quat, omega), dt)
        compare(
            check,
            "integrate_quat vs mju_quatIntegrate",
            got,
            expected(quat, omega, dt),
            (left, "it turns about world axes: the increment belongs on the right"),
            (expected(quat, 2 * omega, dt), "it turns twice as far: take half the angle"),
            (expected(quat, -omega, dt), "it turns backward"),
            atol=1e-12,
            up_to_sign=True,
        )
        check.unchanged("input left as it was", given, quat)
    still = np.array([0.6, 0, 0.8, 0])
    check.close(
        "at rest", integrate_quat(still, np.zeros(3), 0.1), still, atol=1e-12, up_to_sign=True
    )
    long = np.array([0.0, 9.0, 0.0])
    check.close(
        "more than a turn",
        integrate_quat(still, long, 1.0),
        expected(still, long, 1.0),
        atol=1e-12,
        up_to_sign=True,
    )
    norm = np.linalg.norm(integrate_quat(still * 1.02, np.array([1.0, 2.0, 3.0]), 0.5))
    check.close("length of the result, input 2 % too long", norm, 1.0, atol=1e-12)


# %% test="integrate_quat"
# Many random turns, rest, 1e-12 rad/s, more than a turn, inputs off unit, inputs left alone.

# %% [markdown]
# ### `quat_velocity`: the way back
#
# Write `quat_velocity(quat1, quat2, dt)`, by hand: the constant body-frame angular velocity (3,) in rad/s that carries the unit
# quaternion `quat1` to `quat2` in `dt` seconds, the short way round. `quat2` may come with either sign; the two may be
# equal, or half a turn apart (then either sign of the result is right).

# %% solution="quat_velocity"
def quat_velocity(quat1, quat2, dt):
    """(3,) rad/s, body frame: carries `quat1` to `quat2` (unit, scalar first) in `dt` seconds."""
    ### BEGIN SOLUTION
    a, b = np.asarray(quat1, float), np.asarray(quat2, float)
    # The relative quaternion q1^-1 q2: scalar part and vector part.
    w = a @ b
    v = a[0] * b[1:] - b[0] * a[1:] - np.cross(a[1:], b[1:])
    if w < 0:  # the same orientation, the short way round
        w, v = -w, -v
    sine = np.linalg.norm(v)
    if sine < 1e-15:
        return np.zeros(3)
    return 2 * np.arctan2(sine, w) / sine * v / dt
    ### END SOLUTION


# %% check="quat_velocity"
@visible_check("quat_velocity")
def check_quat_velocity(check):
    rng = np.random.default_rng(2)
    for _ in range(50):
        quat1 = rng.normal(size=4)
        quat1 /= np.linalg.norm(quat1)
        quat2, dt = quat1.copy(), rng.uniform(0.05, 0.7)
        mujoco.mju_quatIntegrate(quat2, rng.normal(size=3), 1.0)
        expected = np.zeros(3)
        mujoco.mju_subQuat(expected, quat2, quat1)
        rate, turn = expected / dt, np.linalg.norm(expected)
        world = in_world(quat1, rate), "these are world axes: take log(q1^-1 q2), not log(q2 q1^-1)"
        long = (1 - 2 * np.pi / turn) * rate, "it goes the long way round: when w < 0, take -r"
        for label, other in (
            ("quat_velocity vs mju_subQuat / dt", quat2),
            ("the other sign of quat2", -quat2),
        ):
            got = quat_velocity(quat1, other, dt)
            compare(check, label, got, rate, world, long, atol=1e-12)
        check.close("no turn", quat_velocity(quat1, quat1, dt), np.zeros(3), atol=1e-12)
        check.close("quat2 = -quat1", quat_velocity(quat1, -quat1, dt), np.zeros(3), atol=1e-12)


# %% test="quat_velocity"
# Many random turns, the other sign, no turn, half a turn (either sign).

# %% [markdown]
# ### `integrate_positions`: a whole configuration
#
# Write `integrate_positions(model, qpos, qvel, dt)`, by hand: the configuration (`nq`,) reached from `qpos` (`nq`,) with the constant
# velocity `qvel` (`nv`,) after `dt` seconds, for every joint type, in any order, in any number. You may use what you wrote above.

# %% solution="integrate_positions"
def integrate_positions(model, qpos, qvel, dt):
    """(nq,): `qpos` moved along `qvel` (nv,) for `dt` seconds; the input is left as it was."""
    ### BEGIN SOLUTION

    def turned(quat, omega):
        w, x, y, z = quat
        half = 0.5 * dt * omega
        angle = np.linalg.norm(half)
        left = np.array([[w, -x, -y, -z], [x, w, -z, y], [y, z, w, -x], [z, -y, x, w]])
        return left @ np.r_[np.cos(angle), np.sinc(angle / np.pi) * half]

    new, qvel = np.array(qpos, float), np.asarray(qvel, float)
    for kind, q, v in zip(model.jnt_type, model.jnt_qposadr, model.jnt_dofadr, strict=True):
        if kind == mujoco.mjtJoint.mjJNT_FREE:
            new[q : q + 3] += dt * qvel[v : v + 3]  # world axes: added as it is
            q, v = q + 3, v + 3
        if kind == mujoco.mjtJoint.mjJNT_FREE or kind == mujoco.mjtJoint.mjJNT_BALL:
            new[q : q + 4] = turned(new[q : q + 4], qvel[v : v + 3])
        else:
            new[q] += dt * qvel[v]
    return new
    ### END SOLUTION


# %% check="integrate_positions"
@visible_check("integrate_positions")
def check_integrate_positions(check):
    rng = np.random.default_rng(3)
    for scene in ("joint_zoo", "pick_place"):
        model = load(scene)
        for _ in range(10):
            qpos = rng.uniform(-1, 1, model.nq)
            mujoco.mj_normalizeQuat(model, qpos)
            qvel, dt = rng.uniform(-2, 2, model.nv), rng.uniform(0.05, 0.4)
            given, expected = qpos.copy(), qpos.copy()
            mujoco.mj_integratePos(model, expected, qvel, dt)
            got = np.array(integrate_positions(model, qpos, qvel, dt), float)
            check.equal("shape", got.shape, (model.nq,))
            for j in range(model.njnt):
                start, kind = model.jnt_qposadr[j], model.jnt_type[j]
                if kind == mujoco.mjtJoint.mjJNT_FREE:
                    velocity = qvel[model.jnt_dofadr[j] :][:3]
                    into_body = in_world(qpos[start + 3 : start + 7], velocity)
                    compare(
                        check,
                        "position of a free joint",
                        got[start : start + 3],
                        expected[start : start + 3],
                        (
                            qpos[start : start + 3] + dt * into_body,
                            "the linear velocity is in world axes already: add it as it is",
                        ),
                    )
                    start += 3
                if kind < 2:
                    label = (
                        "quaternion of a free joint" if kind == 0 else "quaternion of a ball joint"
                    )
                    quat = got[start : start + 4]
                    on_sphere = abs(np.linalg.norm(quat) - 1) < 1e-6
                    check.true(label, on_sphere, "its length is not 1: multiply, do not add")
                    check.close(label, quat, expected[start : start + 4], up_to_sign=True)
                else:
                    check.close("slides and hinges", got[start], expected[start])
            check.unchanged("input left as it was", given, qpos)


# %% test="integrate_positions"
# Models that you have not seen: no quaternions, several free joints, a ball joint below a hinge, joints at rest.

# %% [markdown]
# ### `finite_difference_velocity`: velocities from a recording
#
# Motion capture and demonstrations give configurations, not velocities. Write
# `finite_difference_velocity(model, qpos_traj, dt)` for a recording `qpos_traj`, an array (`T`, `nq`) with `dt` seconds between rows:
# an array (`T - 1`, `nv`) whose row `t` is the velocity from row `t` to row `t + 1`. You may call `mj_differentiatePos`.
# A recording of one row has no gap: return the shape (0, `nv`).

# %% solution="finite_difference_velocity"
def finite_difference_velocity(model, qpos_traj, dt):
    """(T - 1, nv): row t is the velocity that carries row t of `qpos_traj` (T, nq) to row t + 1."""
    ### BEGIN SOLUTION
    velocities = np.zeros((len(qpos_traj) - 1, model.nv))
    for t in range(len(velocities)):
        mujoco.mj_differentiatePos(model, velocities[t], dt, qpos_traj[t], qpos_traj[t + 1])
    return velocities
    ### END SOLUTION


# %% check="finite_difference_velocity"
@visible_check("finite_difference_velocity")
def check_finite_difference_velocity(check):
    model, rng, dt = load("joint_zoo"), np.random.default_rng(4), 0.05
    velocities = rng.uniform(-2, 2, (8, model.nv))
    qpos = np.array(model.qpos0)
    trajectory = [qpos.copy()]
    for qvel in velocities:
        mujoco.mj_integratePos(model, qpos, qvel, dt)
        trajectory.append(qpos.copy())
    trajectory = np.array(trajectory)
    got = finite_difference_velocity(model, trajectory, dt)
    check.equal("shape for 9 rows", np.shape(got), (8, model.nv))
    check.close("recovers the velocities that made it", got, velocities)
    two = finite_difference_velocity(model, trajectory[:2], dt)
    check.close("two rows", two, velocities[:1])
    one = finite_difference_velocity(model, trajectory[:1], dt)
    check.equal("shape for one row", np.shape(one), (0, model.nv))


# %% test="finite_difference_velocity"
# Random walks of several models, two rows, one row.

# %% [markdown]
# ### `free_joint_velocity`: the six numbers of a floating body
#
# Write `free_joint_velocity(qpos1, qpos2, dt)`, by hand: from the seven numbers (7,) of one free joint at two times, `dt` seconds apart, the six
# numbers (6,) of its velocity, as `qvel` holds them. Mind which half is in which frame. The quaternion may change its sign in between; there may be no turn, no
# motion at all, or half a turn.

# %% solution="free_joint_velocity"
def free_joint_velocity(qpos1, qpos2, dt):
    """(6,): linear velocity (m/s, world axes), angular velocity (rad/s, body axes) between two poses (7,)."""
    ### BEGIN SOLUTION
    pose1, pose2 = np.asarray(qpos1, float), np.asarray(qpos2, float)
    a, b = pose1[3:], pose2[3:]
    w = a @ b
    v = a[0] * b[1:] - b[0] * a[1:] - np.cross(a[1:], b[1:])
    if w < 0:
        w, v = -w, -v
    sine = np.linalg.norm(v)
    turn = np.zeros(3) if sine < 1e-15 else 2 * np.arctan2(sine, w) / sine * v
    return np.r_[pose2[:3] - pose1[:3], turn] / dt
    ### END SOLUTION


# %% check="free_joint_velocity"
@visible_check("free_joint_velocity")
def check_free_joint_velocity(check):
    model, rng = load("joint_zoo"), np.random.default_rng(5)
    for _ in range(50):
        qpos1, expected, dt = np.array(model.qpos0), np.zeros(model.nv), rng.uniform(0.1, 0.5)
        mujoco.mj_integratePos(model, qpos1, rng.uniform(-1, 1, model.nv), 1.0)
        qpos2 = qpos1.copy()
        mujoco.mj_integratePos(model, qpos2, rng.uniform(-1, 1, model.nv), 1.0)
        mujoco.mj_differentiatePos(model, expected, dt, qpos1, qpos2)
        got = free_joint_velocity(qpos1[:7], qpos2[:7], dt)
        check.equal("shape", np.shape(got), (6,))
        quat, linear, angular = qpos1[3:7], expected[:3], expected[3:6]
        in_body_axes = (
            in_body(quat, linear),
            "these are body axes; the linear half is in world axes",
        )
        in_world_axes = (
            in_world(quat, angular),
            "these are world axes; the angular half is in body axes",
        )
        compare(check, "linear part", got[:3], linear, in_body_axes, atol=1e-12)
        compare(check, "angular part", got[3:], angular, in_world_axes, atol=1e-12)
        flipped = qpos2[:7] * [1, 1, 1, -1, -1, -1, -1]
        other = free_joint_velocity(qpos1[:7], flipped, dt)
        turn = np.linalg.norm(angular) * dt
        long = (1 - 2 * np.pi / turn) * angular, "it goes the long way round: when w < 0, take -r"
        label, mistakes = "angular part, the other sign", (long, in_world_axes)
        compare(check, label, other[3:], angular, *mistakes, atol=1e-12)
        check.close(
            "no motion", free_joint_velocity(qpos1[:7], qpos1[:7], dt), np.zeros(6), atol=1e-12
        )


# %% test="free_joint_velocity"
# Random motions, the other sign, moved but not turned, no motion, half a turn (either sign).

# %% [markdown]
# ### `world_angular_velocity`: the rate that an observer sees
#
# Write `world_angular_velocity(model, data, body)`: the angular velocity (3,) in rad/s, **in world axes**, of the body of that name, which
# has a free joint. Use `qpos` and `qvel` only: the function is called right after `qpos` was set, before `mj_forward`, when everything else in
# `data` (`xmat`, `cvel`, sensors) still belongs to the past. `data` must be left as it was, so do not call `mj_forward` on it.
# MuJoCo's and SciPy's rotation routines are allowed.

# %% solution="world_angular_velocity"
def world_angular_velocity(model, data, body):
    """(3,) rad/s in world axes, from `qpos` and `qvel` alone; `data` is left as it was."""
    ### BEGIN SOLUTION
    joint = model.body(body).jntadr[0]
    q, v = model.jnt_qposadr[joint], model.jnt_dofadr[joint]
    omega_world = np.zeros(3)
    mujoco.mju_rotVecQuat(omega_world, data.qvel[v + 3 : v + 6], data.qpos[q + 3 : q + 7])
    return omega_world
    ### END SOLUTION


# %% check="world_angular_velocity"
@visible_check("world_angular_velocity")
def check_world_angular_velocity(check):
    rng = np.random.default_rng(6)
    for scene, body in (("joint_zoo", "free"), ("pick_place", "green_brick")):
        model = load(scene)
        data, later = mujoco.MjData(model), mujoco.MjData(model)
        for _ in range(2):  # the second configuration is not followed by mj_forward
            mujoco.mj_forward(model, data)
            data.qpos[:] = rng.uniform(-1, 1, model.nq)
            mujoco.mj_normalizeQuat(model, data.qpos)
        data.qvel[:] = rng.uniform(-2, 2, model.nv)
        later.qpos[:], later.qvel[:] = data.qpos, data.qvel
        mujoco.mj_forward(model, later)
        both, number = np.zeros(6), model.body(body).id
        mujoco.mj_objectVelocity(model, later, mujoco.mjtObj.mjOBJ_BODY, number, both, 0)
        old, joint = data.xmat.copy(), model.joint(body)
        got = world_angular_velocity(model, data, body)
        quat, rate = later.body(body).xquat, data.qvel[joint.dofadr[0] + 3 :][:3]
        stale = old[number].reshape(3, 3) @ rate
        compare(
            check,
            f"{body} vs mj_objectVelocity",
            got,
            both[:3],
            (rate, "these are body axes, as qvel holds them: turn them into world axes"),
            (stale, "that is the orientation before qpos was set: take it from qpos"),
            (in_body(quat, rate), "it is turned the wrong way: q carries body axes to world axes"),
        )
        same = np.array_equal(old, data.xmat)
        check.true("data left as it was", same, "data has changed: mj_forward must not run on it")


# %% test="world_angular_velocity"
# Several free bodies, in several scenes, with data up to date and with stale data.

# %% [markdown]
# ### `set_free_pose`: put a body somewhere
#
# Write `set_free_pose(model, data, joint, pos, quat)`: it sets the pose of the free joint of that name in `data.qpos` to the world
# position `pos` (3,) and the orientation `quat` (4,), which it normalises, whatever else is in the scene. It returns nothing.
#
# What cannot be done must be refused, and then nothing may have changed: a `quat` of norm zero and a joint that is not free
# raise `ValueError`, an unknown joint raises `KeyError`.

# %% solution="set_free_pose"
def set_free_pose(model, data, joint, pos, quat):
    """Set the pose of a free joint by name; `quat` (scalar first) is normalised.

    Raises:
      KeyError: there is no such joint.
      ValueError: it is not a free joint, or `quat` has norm zero.
    """
    ### BEGIN SOLUTION
    found = model.joint(joint)  # KeyError where there is none
    if found.type[0] != mujoco.mjtJoint.mjJNT_FREE:
        raise ValueError(f"joint {joint!r} is not a free joint")
    norm = np.linalg.norm(quat)
    if norm == 0:
        raise ValueError(f"quat {quat} has norm zero and is no orientation")
    start = found.qposadr[0]
    data.qpos[start : start + 3] = pos
    data.qpos[start + 3 : start + 7] = np.asarray(quat) / norm
    ### END SOLUTION


# %% check="set_free_pose"
@visible_check("set_free_pose")
def check_set_free_pose(check):
    model = load("pick_place")
    data = mujoco.MjData(model)
    pos, quat = np.array([0.3, -0.2, 0.4]), np.array([0.0, 3.0, 4.0, 0.0])
    for name in ("red_cube", "green_brick", "yellow_can"):
        expected = data.qpos.copy()
        start = model.joint(name).qposadr[0]
        expected[start : start + 7] = np.r_[pos, quat / 5]
        as_given = expected.copy()
        as_given[start + 3 : start + 7] = quat
        set_free_pose(model, data, name, pos, quat)
        mistake = as_given, "the quaternion is written as it came: normalise it"
        compare(check, "qpos after the call, all of it", data.qpos, expected, mistake)
        data.qpos[:] = expected
    before = data.qpos.copy()
    check.raises(
        "a quaternion of norm zero",
        ValueError,
        set_free_pose,
        model,
        data,
        "red_cube",
        pos,
        np.zeros(4),
    )
    check.raises("a hinge", ValueError, set_free_pose, model, data, "joint1", pos, quat)
    check.raises("an unknown joint", KeyError, set_free_pose, model, data, "blue_cube", pos, quat)
    same = np.array_equal(before, data.qpos)
    check.true("nothing changes when it refuses", same, "qpos has changed: look before you write")


# %% test="set_free_pose"
# Objects inserted before the joint, several free joints, and everything that must be refused.

# %% [markdown]
# Your function moves the cube below, when you have written it. Lift the cube, press Play, and it falls.

# %%
# Folded: the code of the lab, for those who want to see how it is made.
from mjcourse.lab import student


def by_name(model, data, joint, pos, quat):
    data.joint(joint).qpos[:] = [*pos, *(quat / np.linalg.norm(quat))]


place = student("set_free_pose", by_name, using="named access")


def move_cube(number):
    """What a slider does that moves the cube along one axis of the world."""

    def move(model, data, value):
        pose = data.joint("red_cube").qpos.copy()
        pose[number] = value
        place(model, data, "red_cube", pose[:3], pose[3:])

    return move


def turn_cube(model, data, degrees):
    half = np.radians(degrees) / 2
    pos = data.joint("red_cube").qpos[:3].copy()
    place(model, data, "red_cube", pos, np.array([np.cos(half), 0, 0, np.sin(half)]))


lab_place = Lab(
    "pick_place",
    title="Put the cube somewhere",
    note="Seven hinges, two slides, three free objects; each slider calls set_free_pose.",
    camera={"azimuth": 140, "elevation": -22, "distance": 1.7, "lookat": (0.4, 0, 0.2)},
    controls=[
        Slider("x", low=0.2, high=0.8, value=0.5, unit="m", on_change=move_cube(0)),
        Slider("y", low=-0.4, high=0.4, value=-0.12, unit="m", on_change=move_cube(1)),
        Slider(
            "height", low=0.025, high=0.5, value=0.025, step=0.005, unit="m", on_change=move_cube(2)
        ),
        Slider("turn", low=-180, high=180, value=30, step=5, unit="deg", on_change=turn_cube),
    ],
    readouts=[
        Readout("position", lambda model, data: data.joint("red_cube").qpos[:3], unit="m"),
        Readout("quaternion", lambda model, data: data.joint("red_cube").qpos[3:], digits=4),
    ],
    student=("set_free_pose",),
)
lab_place


# %% [markdown]
# ## Experiment
#
# The box of `joint_zoo` has half-sizes 0.05, 0.1 and 0.15 m, so three different moments of inertia. Spun about no axis in
# particular it tumbles: no torque acts on it, its angular momentum stays, and yet its angular velocity wanders. We
# record one second at the model's time step of 2 ms, starting at the body rate (0.5, 1, 2) rad/s. There is no chance in it: no seed.

# %%
def record_tumble():
    """(model, qpos (501, nq), qvel (501, nv)): the tumbling box over 1 s, one row each 2 ms."""
    model = load("joint_zoo")
    data = mujoco.MjData(model)
    data.joint("free").qvel[3:6] = 0.5, 1.0, 2.0
    rows = [(data.qpos.copy(), data.qvel.copy())]
    for _ in range(500):
        mujoco.mj_step(model, data)
        rows.append((data.qpos.copy(), data.qvel.copy()))
    return model, np.array([q for q, _ in rows]), np.array([v for _, v in rows])


tumble_model, tumble_qpos, tumble_qvel = record_tumble()

# %% [markdown]
# A recording by motion capture would hold the configurations alone. From them we take finite differences, and compare
# with the velocity that the simulation really had **at the start of each interval**.
#
# **Predict first.**

# %%
ask(
    "We difference every step (2 ms), then only every tenth (20 ms). What does the largest error do when the interval grows tenfold?",
    {
        "It falls": "A longer interval averages noise away, but a simulation has no noise of that size: rounding is at 1e-13 here.",
        "It stays": "It would, if the velocity were constant. A tumbling box changes its velocity all the time.",
        "It grows, but less than tenfold": "Over ten steps the difference is a mean, about the velocity in the middle. Over one step it is something else; the table below says what.",
        "It grows tenfold": "The error of a forward difference does grow in proportion to the interval, when the interval means the same thing in both. Here it does not quite: look at the single step.",
    },
    right="It grows, but less than tenfold",
)


# %%
# Folded: a plot.
@experiment
def tumble_plot():
    from mjcourse import style

    _, plot = style.axes("The tumbling box: body-frame angular velocity", "time (s)", "rad/s")
    time = 0.002 * np.arange(501)
    for k, name in enumerate("xyz"):
        plot.plot(time, tumble_qvel[:, 3 + k], label=f"simulated, {name}")
    estimate = np.zeros(tumble_model.nv)
    for t in range(0, 500, 50):
        mujoco.mj_differentiatePos(tumble_model, estimate, 0.1, tumble_qpos[t], tumble_qpos[t + 50])
        for k in range(3):
            plot.plot(
                [time[t], time[t + 50]],
                [estimate[3 + k]] * 2,
                color="black",
                linewidth=1,
                linestyle="-",
            )
    plot.plot([], [], color="black", linewidth=1, linestyle="-", label="differences over 100 ms")
    plot.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    plt.show()


# %% [markdown]
# ### `fd_error`: how large is the error?
#
# Over the recorded second, how large is the largest absolute error, in rad/s, of any of the three angular components, of finite
# differences (as `mj_differentiatePos` gives them) against the simulated `qvel` at the **start** of each interval: over one step, and over ten (rows
# 0, 10, 20, ...)? Compute it from `tumble_qpos` and `tumble_qvel`, with your `finite_difference_velocity` if you like, and
# type the two figures (within 5 %) or leave the computation in the cell.

# %% solution="fd_error"
error_2ms = None  # rad/s, over one step
error_20ms = None  # rad/s, over ten steps
### BEGIN SOLUTION


def largest_error(stride):
    model, qpos, qvel = record_tumble()
    worst, estimate = 0.0, np.zeros(model.nv)
    for t in range(0, 500, stride):
        mujoco.mj_differentiatePos(model, estimate, 0.002 * stride, qpos[t], qpos[t + stride])
        worst = max(worst, np.abs(estimate - qvel[t])[3:6].max())
    return worst


error_2ms, error_20ms = largest_error(1), largest_error(10)
### END SOLUTION

# %% check="fd_error"
@visible_check("fd_error")
def check_fd_error(check):
    for name, value in (("error_2ms", error_2ms), ("error_20ms", error_20ms)):
        number = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
        check.true(f"{name} is a number", number, "type a number, in rad/s")
        if number:
            check.true(
                f"{name} is an error",
                0 < value < 10,
                "an absolute error is positive, and smaller than the rate itself",
            )
            check.true(
                f"{name} is more than rounding",
                not 0 < value < 1e-9,
                "that is rounding: compare with the velocity at the start of each interval",
            )


# %% test="fd_error"
# Computes both figures again and compares within 5 %. (The check above only looks at the form.)

# %% [markdown]
# In a sentence or two: why is the error not zero, although `mj_differentiatePos` is exact and nothing is noisy? And why is the one over ten
# steps not ten times the one over a single step?

# %% [markdown] explain="fd_error"
# *Your explanation:*
#
# ### BEGIN SOLUTION
# A finite difference gives the one constant velocity that would lead from the first pose to the second. The box tumbles, so its angular velocity
# changes during the interval, and the constant one is not the velocity at the start. MuJoCo's step first computes the new velocity and then moves the positions
# with it, so over one step the difference is exactly the velocity at the *end* of the step: a whole step late. Over ten steps it is a mean of ten
# velocities, from the first step's end to the last's, on average 5.5 steps late: hence about 5.5 times the error, not ten times.
# ### END SOLUTION

# %% [markdown]
# Now the same for more intervals, against the velocity at the start and at the end of each.

# %%
@experiment
def error_table():
    import platform

    from mjcourse import style

    print(
        f"MuJoCo {mujoco.__version__}, NumPy {np.__version__}, {platform.machine()}, no random numbers\n"
    )
    print("interval   against the start   against the end   (rad/s, largest of the second)")
    rows = []
    for stride in (1, 2, 5, 10, 20, 50):
        start = end = 0.0
        estimate = np.zeros(tumble_model.nv)
        for t in range(0, 500, stride):
            a, b = tumble_qpos[t], tumble_qpos[t + stride]
            mujoco.mj_differentiatePos(tumble_model, estimate, 0.002 * stride, a, b)
            start = max(start, np.abs(estimate - tumble_qvel[t])[3:6].max())
            end = max(end, np.abs(estimate - tumble_qvel[t + stride])[3:6].max())
        rows.append((2 * stride, start, end))
        figure = f"{end:.4f}" if end > 1e-6 else f"{end:.0e}"
        print(f"{2 * stride:5d} ms   {start:17.4f}   {figure:>15}")

    _, plot = style.axes(
        "Finite differences of the tumbling box", "interval (ms)", "largest error (rad/s)"
    )
    intervals, start, end = np.array(rows).T
    plot.loglog(intervals, start, marker="o", label="against the velocity at the start")
    plot.loglog(intervals[1:], end[1:], marker="s", label="against the velocity at the end")
    plot.set_xticks(intervals, [f"{x:g}" for x in intervals], minor=False)
    errors = [0.002, 0.005, 0.01, 0.02, 0.05]
    plot.set_yticks(errors, [f"{x:g}" for x in errors], minor=False)
    plot.minorticks_off()
    plot.legend(frameon=False)
    plt.show()
    return rows


# %% [markdown]
# Against the velocity at the *end* the error over one step is nothing but rounding. That is the semi-implicit step of the Mathematics section
# at work: `mj_step` moves `qpos` with the new velocity, so the difference of two neighbouring configurations *is* the later `qvel`. Two lessons
# from it: a difference belongs to the interval, not to its start; and an estimate that agrees with one end to 1e-13 tells how
# the integrator works, not how good the estimate is.
#
# (The plot leaves that point out: it would lie ten decades below the others.)
#
# One more table, for losses: how far apart three pairs of orientations are, by three measures: the angle, the norm of the difference
# of the quaternions, and that of the matrices (the root of the sum of squares). The second pair are two names of one orientation.

# %%
@experiment
def measures():
    def matrix(quat):
        out = np.zeros(9)
        mujoco.mju_quat2Mat(out, quat)
        return out

    def turned(quat, angle):
        out = quat.copy()
        mujoco.mju_quatIntegrate(out, np.array([0.0, 0.6, 0.8]), angle)
        return out

    base = np.array([0.6, 0.0, 0.8, 0.0])
    pairs = {
        "turned by 0.2 rad": turned(base, 0.2),
        "q and -q": -base,
        "turned by 0.2 rad, other sign": -turned(base, 0.2),
    }
    print("pair                     angle (rad)    |q1 - q2|   |R1 - R2|")
    rows = {}
    for name, other in pairs.items():
        angle = 2 * np.arccos(min(1.0, abs(base @ other)))
        row = angle, np.linalg.norm(base - other), np.linalg.norm(matrix(base) - matrix(other))
        rows[name] = row
        print(f"{name:<29} {row[0]:6.3f}    {row[1]:9.3f}   {row[2]:9.3f}")
    return rows


# %% [markdown]
# ## Break it
#
# The same tumbling box twice, with the same angular velocities. On the left its orientation walks on the sphere, by your `integrate_quat` when you have written it.
# On the right the rate of the quaternion is added, $\mathbf q \leftarrow \mathbf q + h\,\dot{\mathbf q}$, as one would for a hinge, and nobody normalises.
# The right box is drawn as a program would draw it that rotates points by $\mathbf q\,(0, \mathbf r)\,\mathbf q^{-1}$ with the conjugate for the inverse: everything is
# stretched by $|\mathbf q|^2$. The arrows are the box's long axis: orange where it should point, black where it does.
#
# Let it run for ten seconds at 20 ms. Then raise the step to 100 ms and press Reset. At 200 ms the arrows part, and within seconds the right
# box outgrows the picture.

# %%
def by_mujoco(quat, omega, dt):
    out = np.array(quat)
    mujoco.mju_quatIntegrate(out, omega, dt)
    return out


on_the_sphere = student("integrate_quat", by_mujoco, using="mju_quatIntegrate")


def new_rate(model, data):
    """Advance the body-frame rate over one step, in pieces of 2 ms, and return it (rad/s)."""
    step = model.opt.timestep
    pieces = max(1, round(step / 0.002))
    for _ in range(pieces):
        mujoco.mj_forward(model, data)
        data.qvel[3:6] += step / pieces * data.qacc[3:6]
    data.time += step
    return data.qvel[3:6].copy()


def step_on_the_sphere(model, data):
    omega = new_rate(model, data)
    data.qpos[3:7] = on_the_sphere(data.qpos[3:7].copy(), omega, model.opt.timestep)


def step_by_adding(model, data):
    rate = np.zeros(4)
    mujoco.mju_mulQuat(rate, data.qpos[3:7], np.r_[0, 0.5 * new_rate(model, data)])
    data.qpos[3:7] += model.opt.timestep * rate
    stretch(model, data.qpos[3:7] @ data.qpos[3:7])


# %%
# Folded: the picture (the box alone, its size, the arrows), the slider and the read-outs of the lab.
from mjcourse.lab import arrow


def box_alone():
    """`joint_zoo` without the other bodies and their stands."""
    spec = mujoco.MjSpec.from_file(str(model_path("joint_zoo")))
    for name in ("ball", "slide", "hinge"):
        spec.delete(spec.body(name))
    for geom in list(spec.worldbody.geoms):
        if geom.name != "floor":
            spec.delete(geom)
    return spec.compile()


true_size = box_alone()


def stretch(model, factor):
    """Draw the box `factor` times as large; its mass and inertia stay."""
    of_box = model.geom_bodyid == model.body("free").id
    model.geom_size[of_box] = factor * true_size.geom_size[of_box]
    model.geom_pos[of_box] = factor * true_size.geom_pos[of_box]


def start_tumbling(model, data):
    data.qvel[3:6] = 0.5, 1.0, 2.0
    stretch(model, 1.0)


def long_axis(data):
    """The box's z axis in the world, as far as its quaternion says."""
    axis = np.zeros(3)
    quat = data.qpos[3:7] / np.linalg.norm(data.qpos[3:7])
    mujoco.mju_rotVecQuat(axis, np.array([0.0, 0, 1]), quat)
    return axis


def draw_axes(model, data, scene):
    centre, far = data.qpos[:3], 0.15 * (data.qpos[3:7] @ data.qpos[3:7]) + 0.15
    arrow(scene, centre, centre + far * long_axis(sphere.data), 0.010, (0.9, 0.6, 0.0, 1))
    arrow(scene, centre, centre + far * long_axis(data), 0.006, (0.1, 0.1, 0.1, 1))


def set_step(simulations, milliseconds):
    for simulation in simulations:
        simulation.model.opt.timestep = milliseconds / 1000


def angle_between(simulations):
    a, b = (s.data.qpos[3:7] / np.linalg.norm(s.data.qpos[3:7]) for s in simulations)
    return np.degrees(2 * np.arccos(min(1.0, abs(a @ b))))


def length(simulation):
    return np.linalg.norm(simulation.data.qpos[3:7])


sphere = Simulation(
    box_alone(),
    title="on the sphere",
    step=step_on_the_sphere,
    reset=start_tumbling,
    draw=draw_axes,
)
adding = Simulation(
    box_alone(), title="by adding", step=step_by_adding, reset=start_tumbling, draw=draw_axes
)
lab_adding = Lab(
    [sphere, adding],
    title="Adding a velocity to a quaternion",
    note="The same box and the same angular velocities; only the way of moving the orientation differs.",
    camera={"azimuth": -90, "elevation": -8, "distance": 1.3, "lookat": (0.58, 0, 0.45)},
    controls=[
        Slider("step", low=2, high=200, value=20, step=2, unit="ms", on_change=set_step, of="all")
    ],
    readouts=[
        Readout(
            "|q| on the sphere", lambda simulations: length(simulations[0]), digits=6, of="all"
        ),
        Readout("|q| by adding", lambda simulations: length(simulations[1]), digits=6, of="all"),
        Readout("angle between the two", angle_between, unit="deg", digits=2, of="all"),
    ],
    charts=[
        StripChart(
            "length of the quaternion",
            {
                "on the sphere": lambda simulations: length(simulations[0]),
                "by adding": lambda simulations: length(simulations[1]),
            },
            window=10.0,
            of="all",
        ),
    ],
    overlays=("frames",),
    student=("integrate_quat",),
)
lab_adding

# %% [markdown]
# Two failures, not one. The length grows, for good, and everything that is rotated with the quaternion grows with it. And the orientation lags
# behind, since each step turns by $2\arctan(h|\boldsymbol\omega|/2)$ only: normalising cures the first and leaves the second. With small steps
# both are small; that is why this bug lives long.

# %% [markdown]
# ## Common failures
#
# | symptom | cause | cure |
# |---|---|---|
# | A script that worked moves the wrong object, or a finger, after someone added an object to the scene. | Hard-coded addresses. A new free joint shifts all that follow it by 7 in `qpos` and by 6 in `qvel`. | Names: `data.joint("cup").qpos`, or `jnt_qposadr` and `jnt_dofadr` read from the model. |
# | An orientation goes wrong slowly: it lags behind, its quaternion's length drifts from 1, a camera image shears. | The quaternion was integrated by addition. | $\oplus$: `mj_integratePos`, `mju_quatIntegrate`, or the exponential. Normalising alone leaves the angle wrong. |
# | A policy has seven outputs for a base with six degrees of freedom, and each joint after the base moves by its neighbour's number. | Actions were sized by `nq`. | Velocity targets have `nv` numbers, controls `nu`. |
# | A body spins steadily about a fixed axis, and the logged angular velocity "rotates" as the body turns. | It is the body-frame rate; the body turned, not the axis. | Rotate it with the body's quaternion, or log a `frameangvel` sensor. |
# | A velocity target from a recording jumps to an enormous value for one frame. | Two neighbouring quaternions have opposite signs, and the difference took the long way round. | The short way: flip the relative quaternion when its scalar part is negative, as `mju_subQuat` does. |
# | Speeds from recorded orientations are about half of what they should be. | The plain difference of quaternions was taken for an angular velocity. | `mj_differentiatePos`. |

# %% [markdown]
# ## Knowledge check
#
# Four answers in one cell; each wrong option comes with its own explanation in the feedback.
#
# 1. A scene holds a seven-hinge arm, a gripper with two slides, and three free objects on a table. How large is `nq` (type it as `scene_nq`), and how large `nv` (`scene_nv`)?
# 2. In which frame is the angular velocity of a free joint in `qvel` (`angular_velocity_frame`)?
#    - `"a"` the world's
#    - `"b"` its own body's
#    - `"c"` its parent body's
#    - `"d"` the principal axes of its inertia
# 3. A model has a ball joint, hinges and slides. Which call turns two configurations, `dt` apart, into a velocity (`velocity_call`)?
#    - `"a"` `np.diff([qpos1, qpos2], axis=0) / dt`
#    - `"b"` `mujoco.mju_subQuat(qvel, qpos2, qpos1)`
#    - `"c"` `mujoco.mj_differentiatePos(model, qvel, dt, qpos1, qpos2)`
#    - `"d"` `mujoco.mj_integratePos(model, qpos1, qpos2, dt)`

# %% solution="knowledge_check"
scene_nq = None  # an int
scene_nv = None  # an int
angular_velocity_frame = None  # "a", "b", "c" or "d"
velocity_call = None  # "a", "b", "c" or "d"
### BEGIN SOLUTION
scene_nq = 7 + 2 + 3 * 7
scene_nv = 7 + 2 + 3 * 6
angular_velocity_frame = "b"
velocity_call = "c"
### END SOLUTION

# %% check="knowledge_check"
@visible_check("knowledge_check")
def check_knowledge_check(check):
    for name, value in (("scene_nq", scene_nq), ("scene_nv", scene_nv)):
        check.true(f"{name} is a number", isinstance(value, (int, float, np.number)), "type an int")
    for name, value in (
        ("angular_velocity_frame", angular_velocity_frame),
        ("velocity_call", velocity_call),
    ):
        letter = isinstance(value, str) and value.strip(" ().:").lower() in {"a", "b", "c", "d"}
        check.true(f"{name} is a letter", letter, 'type one of "a", "b", "c", "d"')


# %% test="knowledge_check"
# Looks at each answer by itself. (The check above only looks at the form.)

# %% [markdown]
# ## On the real robot
#
# - **State estimators** for drones and legged robots keep the attitude as a quaternion and its error as three numbers (an *error state*), for the reason of this lesson: a covariance
#   over four numbers tied by a condition is singular. The correction is applied with $\oplus$.
# - **Gyroscopes** measure the body-frame rate. So does a free joint's `qvel`, so the two compare directly; a motion-capture system that reports world-frame rates does not.
# - **Motion capture** delivers quaternions whose sign may flip from one frame to the next. Make signs consistent, or take the short way, before any difference or filter. Low-pass filtering four
#   components one by one also leaves the sphere.
# - **Imitation targets** and numerical Jacobians are differences of configurations, so they have `nv` columns. A Jacobian by finite differences perturbs with `mj_integratePos` and subtracts with `mj_differentiatePos`.
# - **Moving bases**: velocity commands to a floating base are six numbers. Ask the driver's documentation for the frame of each half; many use the body frame for both, unlike MuJoCo.

# %%
progress()

# %% [markdown]
# ## Takeaways
#
# - Positions live on a curved space, velocities on a flat one. Free and ball joints store a quaternion in `qpos` and three angular numbers in `qvel`: $n_q - n_v$ counts them.
# - `qpos` and `qvel` have their own addresses. Read them from the model, by name.
# - Move with $\oplus$ (`mj_integratePos`), subtract with $\ominus$ (`mj_differentiatePos`). Plain `+` and `-` are for slides and hinges.
# - A free joint's linear velocity is in world axes, its angular velocity in the body's.
# - $\mathbf q$ and $-\mathbf q$ are one orientation: take the short way, and measure distance by the angle.
# - A finite difference belongs to an interval. With MuJoCo's default step it is, over a single step, the velocity at the end.
#
# When the list that `progress()` prints looks right, make the file to hand in:

# %%
submit()

# %% [markdown]
# ## Sources
#
# - MuJoCo documentation: *Overview*, "Joint coordinates" and "Floating objects"; *Computation*, "General framework" and "Numerical integration"; *Simulation*, "State and control" and
#   "Coordinate frames and transformations"; *XML reference*, `body/joint` (`type`); *API reference*, "Components" (`mj_integratePos`, `mj_differentiatePos`, `mj_objectVelocity`) and "Quaternions".
# - K. M. Lynch and F. C. Park, *Modern Robotics* (Cambridge University Press, 2017), chapter 3: rigid-body motions, angular velocities, exponential coordinates.
# - R. M. Murray, Z. Li and S. S. Sastry, *A Mathematical Introduction to Robotic Manipulation* (CRC Press, 1994), chapter 2.
# - J. Solà, "Quaternion kinematics for the error-state Kalman filter" (2017), arXiv:1711.02508: exponential, logarithm, body and world rates.
# - Y. Zhou, C. Barnes, J. Lu, J. Yang and H. Li, "On the continuity of rotation representations in neural networks" (CVPR 2019): the six-dimensional representation.
