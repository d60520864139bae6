# %% [markdown]
# ## The question
#
# A tray of things, scene `clutter`. You lift the blue box by 20 cm: one line, `data.qpos[...] += 0.2`.
# Then you ask where the box is, and MuJoCo tells you where it *was*. You take a step with `mj_step`, ask
# again, and the answer is off again, now by one step.
#
# Nothing is broken. Each number in `data` is the right number of some instant. The question of this lesson:
# **which instant does each number belong to?**
#
# Predict first, then run on: the cell after the questions prints the box's height as `qpos` and as `xpos` tell it.

# %%
ask(
    "You call mj_step once. To which configuration does `xpos` belong afterwards?",
    {
        "the new qpos": "That would need a second kinematics pass after the integration; mj_step does not "
        "pay for one that the next step repeats anyway.",
        "the old qpos": "mj_step first evaluates everything at the old state, then moves `qpos` and `qvel`. The "
        "caches stay where the evaluation left them: one instant behind.",
        "half-way between": "With Euler's rule there is no half-way evaluation. Under RK4 you would be "
        "closer to the truth than you may wish: there the caches belong to an inner stage.",
    },
    right="the old qpos",
)
ask(
    "You want to resume a run exactly. Which of `qpos`, `xpos`, `qacc` must be saved?",
    {
        "qpos only": "Of these three, yes. `xpos` and `qacc` follow from the state. But `qpos` is not the "
        "whole state: velocities, activations, inputs and the solver's warm start belong to it.",
        "qpos and xpos": "`xpos` is a function of `qpos`: mj_forward gives it back to the last bit.",
        "all three": "`qacc` is a result too. The step recomputes it from the state and the inputs.",
    },
    right="qpos only",
)


# %%
@experiment
def lifted_box():
    model = load("clutter")
    data = mujoco.MjData(model)
    height = model.joint("box").qposadr[0] + 2  # the box's z within qpos
    box = model.body("box").id
    print(f"{'after':<34}{'time (s)':>9}{'z in qpos (m)':>15}{'z in xpos (m)':>15}")

    def line(what):
        print(f"{what:<34}{data.time:>9.3f}{data.qpos[height]:>15.4f}{data.xpos[box, 2]:>15.4f}")
        return data.qpos[height], data.xpos[box, 2]

    mujoco.mj_forward(model, data)
    line("mj_forward")
    data.qpos[height] += 0.2
    written = line("writing 20 cm more into qpos")
    mujoco.mj_forward(model, data)
    evaluated = line("mj_forward")
    for _ in range(25):
        mujoco.mj_step(model, data)
    stepped = line("25 times mj_step")
    mujoco.mj_forward(model, data)
    line("mj_forward")
    return {"written": written, "evaluated": evaluated, "stepped": stepped}


# %% [markdown]
# See it happen. The box has been thrown across the tray and stands still in flight. The **solid** box is
# drawn where `xpos` and `xquat` say: that is what every MuJoCo renderer draws. The **pale** box with the
# orange dot stands where `qpos` says. Press the buttons one by one and watch which of the two follows, and
# what the board of stages says (what the stages are is told below; for now, watch the colours and the words). The
# step is long on purpose (20 ms), so that one step can be seen. Then switch to RK4 and step: the two boxes
# all but coincide, and still no stage belongs to either instant.

# %%
# Folded: the code of the lab and of its status board, for those who want to see how they are made.
import io
from functools import cache
from types import SimpleNamespace

from mjcourse import style

STAGES = (
    # name, function, what it reads that is new, what it writes, what follows it
    (
        "1 position",
        "mj_fwdPosition",
        "qpos\nmocap\neq_active",
        "xpos, xquat, xipos, geom_xpos, site_xpos\nM and its factor qLD\ncontact, efc_J, efc_pos\n"
        "actuator_length, actuator_moment",
        "then mj_sensorPos; read by all later stages, by the\nrenderer, by controllers",
    ),
    (
        "2 velocity",
        "mj_fwdVelocity",
        "qvel",
        "actuator_velocity, cvel\nqfrc_passive, qfrc_bias\nefc_vel, efc_aref",
        "then mj_sensorVel, mjcb_control; read by 3 (velocities),\n4 (forces), 5 (aref), by controllers",
    ),
    (
        "3 actuation",
        "mj_fwdActuation",
        "ctrl, act",
        "actuator_force, qfrc_actuator, act_dot",
        "read by 4 (forces) and by the integration (act_dot)",
    ),
    (
        "4 acceleration",
        "mj_fwdAcceleration",
        "qfrc_applied\nxfrc_applied",
        "qfrc_smooth, qacc_smooth",
        "read by 5",
    ),
    (
        "5 constraint",
        "mj_fwdConstraint",
        "qacc_\nwarmstart",
        "efc_force, qfrc_constraint, qacc",
        "then mj_sensorAcc; read by the integration",
    ),
    (
        "integration",
        "mj_Euler, mj_RungeKutta, mj_implicit",
        "",
        "qvel, then qpos; act, time, qacc_warmstart",
        "",
    ),
)
BRACKETS = (
    # label, first and last stage, column
    ("mj_step1", 0, 1, 0),
    ("mj_step2", 2, 5, 0),
    ("mj_forward", 0, 4, 1),
    ("after skipping mjSTAGE_POS", 1, 4, 2),
    ("after skipping mjSTAGE_VEL", 2, 4, 3),
)
LOOKS = {  # instant: filling, edge, line, words
    "": ("#eef4f9", style.BLUE, "-", ""),
    "now": ("#dff3ec", "#00664b", "-", "fresh"),
    "before": ("#fdf0d5", "#9a6a00", (0, (4, 2)), "stale: one instant old"),
    "neither": ("#f9e1d6", "#a03c00", (0, (1.5, 1.5)), "stale: of no instant"),
}


def stage_box(plot, top, height, name, right, status):
    """A box of the picture from `top` down, in the look of its status."""
    fill, edge, line, _ = LOOKS[status]
    plot.add_patch(
        plt.Rectangle((2.0, top - height), 6.6, height, fc=fill, ec=edge, lw=1.6, ls=line)
    )
    plot.text(2.15, top - 0.18, name, fontsize=9.5, fontweight="bold", va="top")
    plot.text(8.45, top - 0.2, right, fontsize=7.8, va="top", ha="right", color=edge)


def pipeline_picture(figure, told=None):
    """Draw the pipeline; `told` (stage -> now, before, neither) makes a status board of it."""
    plot = figure.add_axes((0, 0, 1, 1))
    plot.set(xlim=(-0.65, 11.7), ylim=(1.15, 15.2))
    plot.axis("off")
    top, tops, bottoms = 14.6, [], []
    for name, function, reads, writes, follows in STAGES:
        height = (
            0.82 + 0.34 * (writes.count("\n") + 1) + 0.36 * (follows.count("\n") + bool(follows))
        )
        status = (told or {}).get(name.split()[-1], "")
        stage_box(plot, top, height, name, LOOKS[status][3] or function, status)
        plot.text(
            2.15, top - 0.7, writes, fontsize=7.8, va="top", family="monospace", linespacing=1.25
        )
        plot.text(2.15, top - height + 0.14, follows, fontsize=7.6, va="bottom", style="italic")
        middle = top - height / 2
        if reads:
            plot.annotate(
                "", (1.98, middle), (1.42, middle), arrowprops={"arrowstyle": "-|>", "lw": 1.2}
            )
            plot.text(
                1.36, middle, reads, fontsize=7.8, va="center", ha="right", family="monospace"
            )
            arrow = {"arrowstyle": "-|>", "lw": 1.2}
            plot.annotate("", (5.3, top - height - 0.3), (5.3, top - height), arrowprops=arrow)
        tops.append(top)
        bottoms.append(top - height)
        top -= height + 0.32
    back = (tops[-1] + bottoms[-1]) / 2
    plot.plot([2.0, -0.55, -0.55], [back, back, 14.9], color="black", lw=1.2)
    plot.annotate("", (2.6, tops[0]), (2.6, 14.92), arrowprops={"arrowstyle": "-|>", "lw": 1.2})
    plot.plot([-0.55, 2.6], [14.9, 14.9], color="black", lw=1.2)
    plot.text(-0.45, back - 0.08, "the new state", fontsize=7.6, style="italic", va="top")
    for label, first, last, column in BRACKETS:
        x, high, low = 8.95 + 0.68 * column, tops[first] - 0.05, bottoms[last] + 0.05
        plot.plot([x - 0.12, x, x, x - 0.12], [high, high, low, low], color="#555555", lw=1.1)
        plot.text(x + 0.08, (high + low) / 2, label, fontsize=7.6, rotation=90, va="center")
    plot.text(8.75, 15.0, "who runs it", fontsize=8.5, style="italic", va="top")


@cache
def status_board(statuses):
    """The five stages, top to bottom, in the looks of `statuses`, as SVG for the lab."""
    figure = plt.Figure(figsize=(3.5, 2.9))
    plot = figure.add_axes((0, 0, 1, 1))
    plot.set(xlim=(1.9, 8.7), ylim=(9.35, 14.7))
    plot.axis("off")
    top = 14.6
    for (name, *_, writes, _), status in zip(STAGES, statuses, strict=False):
        stage_box(plot, top, 0.94, name, LOOKS[status][3], status)
        shown = writes.split("\n")[0]
        plot.text(2.15, top - 0.84, shown, fontsize=6.6, va="bottom", family="monospace")
        top -= 1.04
    out = io.StringIO()
    figure.savefig(out, format="svg")
    said = ", ".join(
        f"{stage[0]} {LOOKS[s][3]}" for stage, s in zip(STAGES, statuses, strict=False)
    )
    return out.getvalue().replace("<svg ", f'<svg role="img" aria-label="{said}" ', 1)


# The arrays by which the lab tells whether a stage is up to date: what each stage writes.
FOOTPRINT = {
    "position": ("xpos", "xquat", "site_xpos"),
    "velocity": ("qfrc_bias", "cvel"),
    "actuation": ("actuator_force", "act_dot"),
    "acceleration": ("qacc_smooth",),
    "constraint": ("qacc", "qfrc_constraint"),
}
instant_state = SimpleNamespace(before=None)


def evaluated(model, data):
    """A copy of `data` with every derived array belonging to its present state."""
    fresh = mujoco.MjData(model)
    spec = mujoco.mjtState.mjSTATE_INTEGRATION
    state = np.empty(mujoco.mj_stateSize(model, spec))
    mujoco.mj_getState(model, data, state, spec)
    mujoco.mj_setState(model, fresh, state, spec)
    mujoco.mj_forward(model, fresh)
    return fresh


def same_arrays(a, b, names):
    return all(np.allclose(getattr(a, n), getattr(b, n), rtol=1e-9, atol=1e-9) for n in names)


def instants(model, data, before):
    """For each stage: do its arrays belong to `now`, to the state `before`, or to `neither`?

    Judged by their values, and by what they are built on: no stage is of now unless all earlier ones are.
    """
    now = evaluated(model, data)
    told = {}
    for stage, names in FOOTPRINT.items():
        sound = all(when == "now" for when in told.values())
        if sound and same_arrays(data, now, names):
            told[stage] = "now"
        elif before is not None and same_arrays(data, before, names):
            told[stage] = "before"
        else:
            told[stage] = "neither"
    return told


def throw_box(model, data):
    model.opt.timestep = 0.02
    start, speed = model.joint("box").qposadr[0], model.joint("box").dofadr[0]
    data.qpos[start : start + 3] = (-0.24, -0.05, 0.3)
    data.qvel[speed : speed + 6] = (1.4, 0.2, 1.2, 2.0, 4.0, 1.0)
    data.ctrl[:] = 0.5
    instant_state.before = None
    mujoco.mj_forward(model, data)


def remember(model, data):
    instant_state.before = evaluated(model, data)


def set_box(model, data):
    start = model.joint("box").qposadr[0]
    remember(model, data)
    data.qpos[start : start + 3] += (0.0, 0.12, 0.06)
    mujoco.mju_quatIntegrate(data.qpos[start + 3 : start + 7], np.array([0.0, 0.0, 1.0]), 0.6)


def step_box(model, data):
    remember(model, data)
    mujoco.mj_step(model, data)


def second_half(model, data):
    remember(model, data)
    mujoco.mj_step2(model, data)


def box_place(model, data):
    start = model.joint("box").qposadr[0]
    return data.qpos[start : start + 7]


def box_turn(model, data):
    """Angle (deg) between the cached orientation of the box and that in qpos."""
    turn = np.empty(3)
    mujoco.mju_subQuat(turn, box_place(model, data)[3:], data.xquat[model.body("box").id])
    return np.degrees(np.linalg.norm(turn))


def draw_box(model, data, scene):
    place = box_place(model, data)
    mjcourse.lab.ghost_body(scene, model, data, "box", place[:3], place[3:], (0.2, 0.5, 0.8, 0.35))
    mjcourse.lab.marker(scene, place[:3] + np.array([0, 0, 0.07]), 0.012, (0.9, 0.6, 0.0, 1.0))
    mjcourse.lab.marker(
        scene,
        data.xpos[model.body("box").id] + np.array([0, 0, 0.07]),
        0.012,
        (0.0, 0.45, 0.7, 1.0),
    )


def board(model, data):
    return status_board(tuple(instants(model, data, instant_state.before).values()))


def set_integrator(model, data, name):
    model.opt.integrator = {"Euler": mujoco.mjtIntegrator.mjINT_EULER}.get(
        name, mujoco.mjtIntegrator.mjINT_RK4
    )


lab_instant = Lab(
    Simulation("clutter", step=step_box, reset=throw_box, draw=draw_box, settle=False),
    title="Which instant?",
    note="Solid box, blue dot: the cached xpos. Pale box, orange dot: what qpos says.",
    camera={"azimuth": 118, "elevation": -22, "distance": 1.15, "lookat": (0.0, 0.0, 0.16)},
    controls=[
        Button("set qpos", set_box),
        Button("mj_step", step_box),
        Button("mj_forward", lambda model, data: mujoco.mj_forward(model, data)),
        Button("mj_step1", lambda model, data: mujoco.mj_step1(model, data)),
        Button("mj_step2", second_half),
        Select("integrator", options=["Euler", "RK4"], on_change=set_integrator),
    ],
    readouts=[
        Readout("box, qpos", lambda model, data: box_place(model, data)[:3], unit="m", digits=3),
        Readout("box, xpos", lambda model, data: data.body("box").xpos, unit="m", digits=3),
        Readout(
            "distance apart",
            lambda model, data: (
                1e3 * np.linalg.norm(box_place(model, data)[:3] - data.body("box").xpos)
            ),
            unit="mm",
            digits=2,
        ),
        Readout("angle apart", box_turn, unit="deg", digits=4),
    ],
    tables=[Table("status board: whose instant?", board)],
    speed=0.1,
)
lab_instant


# %% [markdown]
# ## In plain words
#
# Think of `mjData` as a spreadsheet whose automatic recalculation is switched off. Some cells are *input
# cells*: you, or the integrator, write into them. All others are *formula cells*: they hold whatever the last
# recalculation put there. `mj_forward` presses "recalculate". `mj_step` recalculates **and then changes the input
# cells**, so that right after it the formula cells show the sheet as it was before.
#
# Three kinds of cells, then (`history` holds the past samples of delayed actuators and sensors, the plastic state
# how far springs have yielded; the scenes of this lesson have neither):
#
# | kind | fields | who writes them |
# |---|---|---|
# | *state* (integrated in time) | `time`, `qpos`, `qvel`, `act`, `history`, plastic state, plugin state | the integrator; you, at a reset |
# | *inputs* | `ctrl`, `qfrc_applied`, `xfrc_applied`, `mocap_pos`, `mocap_quat`, `eq_active`, `userdata`, and the solver's warm start `qacc_warmstart` | you (the warm start: the last step) |
# | *derived* | everything else: `xpos`, `qfrc_bias`, `contact`, `sensordata`, `qacc`, ... | the stages of the pipeline |
#
# `mjModel` is the sheet's layout: the compiled description, fixed while you simulate. `mjData` is one filled-in
# copy. One model serves many data: a hundred rollouts need a hundred `MjData` and one `MjModel`.
#
# The recalculation runs in **five stages**, always in this order. Each stage reads what earlier stages wrote and
# something new:
#
# 1. *position*: where is everything, how heavy is it to move, what touches?
# 2. *velocity*: how fast, which forces come from being in motion, from springs and from dampers?
# 3. *actuation*: what do the motors push?
# 4. *acceleration*: how would it accelerate if there were no contacts and no constraints?
# 5. *constraint*: which forces do contacts and constraints add, and what is the acceleration then?
#
# No stage moves the time. Only the *integration* that follows in `mj_step` does. Because a stage depends on nothing
# later, a change late in the chain (a new control) leaves the early stages valid: that is where computing
# time can be saved, and it is why an order matters at all.

# %%
@experiment
def the_pipeline():
    pipeline_picture(plt.figure(figsize=(6.6, 7.0)))
    plt.show()


# %% [markdown]
# Read it from the top. On the left, what each stage reads that no earlier stage has read; inside, the arrays it
# writes and who reads them next; on the right, which calls run it. The board of the lab is the same picture:
# green, full line: the stage's arrays belong to the present state; orange or red, dashed: they do not. Three
# moments of the thrown box, and the picture for the second:

# %%
@experiment
def status_boards():
    model = load("clutter")
    told = {}
    for name in ("mj_forward", "mj_step", "mj_step under RK4"):
        data = mujoco.MjData(model)
        throw_box(model, data)
        set_integrator(model, data, "RK4" if "RK4" in name else "Euler")
        before = evaluated(model, data)
        if "step" in name:
            mujoco.mj_step(model, data)
        else:
            mujoco.mj_forward(model, data)
        told[name] = instants(model, data, before)
    print(f"{'stage':<14}" + "".join(f"{'after ' + name:>26}" for name in told))
    for stage in FOOTPRINT:
        print(f"{stage:<14}" + "".join(f"{LOOKS[told[name][stage]][3]:>26}" for name in told))
    pipeline_picture(plt.figure(figsize=(6.6, 7.0)), told["mj_step"])
    plt.show()
    return told


# %% [markdown]
# ## Mathematics
#
# Every statement is marked: *established* (documented, with its source), *derivation*, *our measurement* (a
# figure that this notebook prints) or *advice*. Symbols: $q$ the configuration (`qpos`, $n_q$ numbers), $v$ the
# generalized velocity (`qvel`, $n_v$ numbers), $a = \dot v$ (`qacc`), $h$ the time step (s), $\tau$ with a subscript a generalized
# force and without one a time constant (s). SI units; for a hinge $v$ is in rad/s and its force is a torque in N m, for a slide m/s and N.
#
# ### From velocity to configuration
#
# $q$ and $v$ need not have the same size, so $\dot q = N(q)\, v$ with an $n_q \times n_v$ matrix $N$. For a hinge or
# a slide $N = 1$. For a ball joint with unit quaternion $q = (w, x, y, z)$ and angular velocity $\omega$ in the body's frame,
# $\dot q = \tfrac12\, q \otimes (0, \omega)$: half a quaternion product, which is a $4 \times 3$ matrix times $\omega$. A
# free joint stacks three ones and such a block. *(established: the lesson `generalized_coordinates`; MuJoCo, "Computation",
# section "Numerical integration")*
#
# ### The equation of motion
#
# $$M(q)\, a + c(q, v) = \tau_{\text{passive}} + \tau_{\text{applied}} + \tau_{\text{actuator}} + \sum_i J_i^T x_i + J^T \lambda$$
#
# $M$: inertia in generalized coordinates, $n_v \times n_v$, symmetric and positive definite. $c$: the *bias*: gravity,
# centripetal and Coriolis terms. $x_i = (F_i, T_i)$: a force (N) and a torque (N m) on body $i$, in world axes; $J_i$, $6 \times n_v$, gives the velocity of the body's centre of mass and its
# angular velocity, in the same axes. $\lambda$: the forces of the constraint rows, $J$ their Jacobian, a row for each. *(established: Lynch & Park, chapter 8; MuJoCo, "Computation", "General
# framework")*
#
# * *Position* gives $M$ and its factor. One factorization serves the smooth solve and the constraint solve.
# * *Velocity* gives $c(q, v)$: recursive Newton-Euler with zero acceleration answers "which forces would keep $a$ at
#   zero?". The part that is quadratic in $v$ is centripetal and Coriolis, the part that stays at $v = 0$ is gravity.
# * *Passive forces*: a damper gives $-d\,v$, a spring $-k\,(q - q_{\text{ref}})$. They are forces, so they stand on the right.
# * $n_v$ is fixed by the model; the number of constraint rows changes whenever a contact begins or ends.
#
# **A pendulum** (point mass $m$ at distance $l$, $\theta = 0$ hanging): kinetic energy $\tfrac12 m l^2 \dot\theta^2$ gives $M = m l^2$;
# potential energy $-m g l \cos\theta$ gives $c = m g l \sin\theta$. With no other force $a = -(g/l)\sin\theta$: it
# falls back. The bias is *subtracted*, which is why its sign looks wrong to everybody once. *(derivation)*
#
# ### Transmission: from actuator to joint and back
#
# There are $n_u$ actuators. Actuator $k$ has a scalar *length* $l_k(q)$ and a scalar force $f_k$. How the length changes with the joints is its
# *moment*, one row of
#
# $$P = \frac{\partial l}{\partial q} \quad (\text{rows: actuators, columns: dofs}), \qquad \dot l = P\, v, \qquad \tau_{\text{actuator}} = P^T f .$$
#
# The transpose is no convention. Power must be the same on both sides: $\dot l \cdot f = (P v)\cdot f = v \cdot (P^T f)$ for every
# $v$, so the generalized force is $P^T f$. *(derivation; established: MuJoCo, "Computation", "Transmission")* In `data` the lengths are
# `actuator_length`, $Pv$ is `actuator_velocity`, $f$ is `actuator_force`, $P^T f$ is `qfrc_actuator`, and $P$ is stored
# sparse in `actuator_moment` (`mju_sparse2dense` unpacks it).
#
# ### Force generation
#
# A motor gives $f = k\,u$. A position servo with gain $k_p$ and damping $k_d$ gives
#
# $$f = k_p\,(u - l) - k_d\,\dot l .$$
#
# Up to three clamps act in this order: the control $u$ (`ctrlrange`), then the force $f$ (`forcerange`), and at last the
# joint's total over all of its actuators (`jnt_actfrcrange`). The range of the control is a range of $u$, not of the error.
# *(established: MuJoCo, "Computation", "Force generation"; "XML reference", `actuatorfrcrange`)*
#
# ### Activation
#
# Muscles, valves and slow motor drivers do not follow at once. A *first-order filter* puts an activation $w$ (`act`) between
# control and force, with a time constant $\tau$:
#
# $$\dot w = \frac{u - w}{\tau}, \qquad w(t + h) = u + \bigl(w(t) - u\bigr)\, e^{-h/\tau} \ \text{ for constant } u .$$
#
# Euler's rule takes the slope at the start for the whole step: $w \leftarrow w + \tfrac{h}{\tau}(u - w)$. After one time
# constant the exact error is $e^{-1}$: from 0 towards 1 the activation stands at $1 - e^{-1} \approx 0.632$. Euler's slope is too large
# all along, so its points lie above while rising. Its error shrinks by the factor $|1 - h/\tau|$ per step: beyond $h = \tau$ it
# overshoots, beyond $h = 2\tau$ it grows without bound. (The manual is more cautious and warns from $h > \tau$ on.) *(derivation; established: MuJoCo, "Computation", "Stateful actuators":
# `filter` is Euler's rule, `filterexact` the exact one)*
#
# ### Smooth dynamics
#
# Leave the constraints away and solve for the *smooth* acceleration $a_u$ (`qacc_smooth`):
#
# $$M a_u = \tau_{\text{passive}} - c + \tau_{\text{applied}} + \tau_{\text{actuator}} + \sum_i \bigl(J_{x,i}^T F_i + J_{\omega,i}^T T_i\bigr).$$
#
# As arrays: `qfrc_smooth = qfrc_passive - qfrc_bias + qfrc_applied + qfrc_actuator`, plus the projected `xfrc_applied`. Row $i$ of
# `xfrc_applied` is $(F_i, T_i)$, force first; it acts **at the body's centre of mass** `xipos`, in **world axes**. $J_{x,i}$ ($3 \times n_v$) gives
# the velocity of that point and $J_{\omega,i}$ the angular velocity, both in world axes too: `mj_jacBodyCom` returns the two,
# `mj_applyFT` returns the projected force. The same frame on both sides makes the power agree:
# $F_i\cdot(J_{x,i} v) + T_i\cdot(J_{\omega,i} v) = v \cdot \bigl(J_{x,i}^T F_i + J_{\omega,i}^T T_i\bigr)$. *(established: MuJoCo, "Programming", "State and control"; derivation)*
#
# ### One constraint row, in three steps
#
# An equality $q_2 - q_1 = d$ with constant $d$, differentiated twice in time: $J v = 0$ with $J = (-1, 1)$, then $J a + \dot J v = 0$. So
# the row asks for $J a = b$ with $b = -\dot J v$; here $J$ is constant and $b = 0$.
#
# 1. *One mass solve*: $y = M^{-1} J^T$. What a unit force of the row does to the accelerations: (m/s²)/N.
# 2. *One projection*: $A = J y$. What it does to the row itself: again (m/s²)/N, one number.
# 3. *One division*: $\lambda = (b - J a_u)/A$. The missing acceleration over the acceleration per newton: N. Then $a = a_u + y\,\lambda$.
#
# *(derivation; compare Lynch & Park, section 8.7)*
#
# MuJoCo's rows are *soft*: with a reference acceleration `efc_aref` for $b$ and a regularization $R$ (`efc_R`) beside $A$,
#
# $$\lambda = \frac{a_{\text{ref}} - J a_u}{A + R} .$$
#
# $a_{\text{ref}}$ is the acceleration of a damped spring that pulls the row back to where it should be (`solref`). $R$ comes from `solimp`,
# which sets the *impedance* of the row, the share of the ideal force that it gives: $1/(1 + R/A)$. The array `efc_b` holds
# $J a_u - a_{\text{ref}}$ ($-3$ in the worked example below): the negative of the numerator, and *not* our $b$. *(established: MuJoCo, "Computation", "Constraint model")*
#
# ### Integration
#
# Semi-implicit Euler: first the velocity, then the position *with the new velocity*,
#
# $$v_{t+h} = v_t + h\,a_t, \qquad q_{t+h} = q_t \oplus h\,v_{t+h},$$
#
# where $\oplus$ is a sum for hinges and slides and a turn for quaternions (`mj_integratePos`). In MuJoCo's `Euler` the joint damping is
# implicit: the update solves $(M + h D)\,\Delta v = h M a$ with the diagonal $D$ of damping coefficients; without damping the
# formula above is exact. *(established: MuJoCo, "Computation", "Numerical integration")*
#
# Four of these statements, measured: the velocity part of the bias is quadratic; a push has the same power in Cartesian and in
# generalized terms; the number of rows changes while $n_v$ stays; and beyond $h = 2\tau$ Euler's filter grows.

# %%
@experiment
def four_claims():
    found = {}
    model = load("double_pendulum")
    data = mujoco.MjData(model)
    data.qpos[:] = (0.7, -1.1)
    bias = []
    for factor in (0, 1, 2):
        data.qvel[:] = factor * np.array([1.5, -0.8])
        mujoco.mj_forward(model, data)
        bias.append(data.qfrc_bias.copy())
    found["quadratic"] = float(np.max(np.abs((bias[2] - bias[0]) - 4 * (bias[1] - bias[0]))))
    print(
        f"c(q, 2v) - c(q, 0) against 4 (c(q, v) - c(q, 0)): largest difference {found['quadratic']:.1e} N m"
    )

    model = load("clutter")
    data = mujoco.MjData(model)
    rows = set()
    for _ in range(250):
        mujoco.mj_step(model, data)
        rows.add(data.nefc)
    found["rows"] = (min(rows), max(rows))
    print(
        f"clutter, one second: nv = {model.nv} throughout, from {min(rows)} to {max(rows)} constraint rows"
    )

    body, force, torque = (
        model.body("dumbbell").id,
        np.array([2.0, -1.0, 3.0]),
        np.array([0.2, 0.1, -0.3]),
    )
    data.qvel[:] = np.linspace(-1, 1, model.nv)
    mujoco.mj_forward(model, data)
    jacp, jacr, tau = np.zeros((3, model.nv)), np.zeros((3, model.nv)), np.zeros(model.nv)
    mujoco.mj_jacBodyCom(model, data, jacp, jacr, body)
    mujoco.mj_applyFT(model, data, force, torque, data.xipos[body], body, tau)
    powers = force @ (jacp @ data.qvel) + torque @ (jacr @ data.qvel), data.qvel @ tau
    found["powers"] = powers
    print(
        f"a push on the dumbbell: F . (J_x v) + T . (J_w v) = {powers[0]:.6f} W, v . tau = {powers[1]:.6f} W"
    )

    error = [1.0]
    for _ in range(6):
        error.append(error[-1] * (1 - 2.5))
    found["growth"] = error
    print(
        "Euler's filter at h = 2.5 tau, error after each step: "
        + ", ".join(f"{e:.2f}" for e in error)
    )
    return found


# %% [markdown]
# ## In MuJoCo
#
# | stage | calls | writes, among others |
# |---|---|---|
# | position | `mj_fwdPosition`: `mj_kinematics`, `mj_comPos`, `mj_camLight`, `mj_tendon`, `mj_makeM`, `mj_factorM`, `mj_collision`, `mj_makeConstraint`, `mj_transmission`; then `mj_sensorPos` | `xpos xquat xmat xipos geom_xpos site_xpos`, `M`, `qLD`, `contact`, `efc_J efc_pos`, `actuator_length actuator_moment` |
# | velocity | `mj_fwdVelocity`: `mj_comVel`, `mj_passive`, `mj_referenceConstraint`, `mj_rne`; then `mj_sensorVel` | `actuator_velocity`, `cvel`, `qfrc_passive`, `efc_vel efc_aref`, `qfrc_bias` |
# | *(callback)* | `mjcb_control` | what you write: `ctrl`, applied forces |
# | actuation | `mj_fwdActuation` | `actuator_force`, `qfrc_actuator`, `act_dot` |
# | acceleration | `mj_fwdAcceleration` | `qfrc_smooth`, `qacc_smooth` |
# | constraint | `mj_fwdConstraint`; then `mj_sensorAcc` | `efc_b`, `efc_force`, `qfrc_constraint`, `qacc` |
#
# Around them:
#
# * `mj_forward` runs all of it and moves nothing. `mj_step` runs all of it, then integrates. *(established: "Computation",
#   "Simulation pipeline")*
# * `mj_step1` runs position, velocity and the callback; `mj_step2` runs the rest and integrates. In between, your controller reads
#   fresh positions and velocities and writes `ctrl`; that overrides what `mjcb_control` wrote at the end of `mj_step1`. Leave model,
#   `qpos` and `qvel` as they are between the halves. *(established: "Programming", "Simulation loop")*
# * `mj_forwardSkip(model, data, skipstage, skipsensor)` trusts the stages up to and including `skipstage`. After changing `ctrl` or
#   applied forces: `mjSTAGE_VEL`. After changing `qvel`: `mjSTAGE_POS`. After changing `qpos`: nothing may be skipped. `skipsensor=1`
#   leaves the old values in `sensordata`. *(established: "Programming", "Forward dynamics")*
# * A cache becomes invalid when anything that it was computed from changes: the model, `qpos`, mocap poses, `eq_active`, the sleep state of
#   bodies, whatever your callbacks read. MuJoCo does not watch for you. *(established: as above)*
# * After `mj_step` the caches are one instant old. Under RK4 poses, forces and contacts belong to the last inner stage, of neither instant, and the sensors (evaluated in
#   the first inner stage only) to the old one. The rule is the same always: **evaluate again on the final state** (`mj_forward`, or the cheapest sufficient stage) before you read. *(our
#   measurement, above and below; advice)*
#
# ### What the state consists of

# %%
@experiment
def state_sizes():
    sizes = {}
    model = load("clutter")
    for name in ("PHYSICS", "FULLPHYSICS", "USER", "WARMSTART", "INTEGRATION"):
        sizes[name] = mujoco.mj_stateSize(model, getattr(mujoco.mjtState, f"mjSTATE_{name}"))
    held = {
        "PHYSICS": "qpos, qvel, act, history, plastic state",
        "FULLPHYSICS": "the physics, time, plugin state",
        "USER": "ctrl, qfrc_applied, xfrc_applied, eq_active, mocap, userdata",
        "WARMSTART": "qacc_warmstart",
        "INTEGRATION": "all of it: what a bit-exact resume needs",
    }
    print(
        f"MuJoCo {mujoco.__version__}, scene clutter: nq {model.nq}, nv {model.nv}, na {model.na}"
    )
    for name, size in sizes.items():
        print(f"mjSTATE_{name:<12}{size:>5} numbers   {held[name]}")
    return sizes


# %% [markdown]
# Take `clutter` after 0.6 s, with everything in motion. Save it with three unions, and with the largest but for the warm start; restore each
# into a fresh `MjData`, and run it on for one second beside the original. What is left out of the saved state comes back as drift.

# %%
def running_clutter():
    """The clutter 0.6 s after its start: contacts, a turning paddle, a hand that leans on the ball."""
    model = load("clutter")
    data = mujoco.MjData(model)
    data.ctrl[:] = 0.8
    for _ in range(150):
        mujoco.mj_step(model, data)
    start = model.joint("ball").qposadr[0]
    data.mocap_pos[0] = data.qpos[start : start + 3] - (0, 0.08, 0)
    data.xfrc_applied[model.body("box").id, :3] = (0.3, 0, 0.5)
    return model, data


@experiment
def resume_drift():
    model, data = running_clutter()
    print(f"clutter after {data.time:.1f} s, {data.ncon} contacts; one second later:")
    unions = {
        name: int(getattr(mujoco.mjtState, f"mjSTATE_{name}"))
        for name in ("PHYSICS", "FULLPHYSICS", "INTEGRATION")
    }
    cold = unions["INTEGRATION"] & ~int(mujoco.mjtState.mjSTATE_WARMSTART)
    drift = {}
    for name, spec in (unions | {"all but the warm start": cold}).items():
        state = np.empty(mujoco.mj_stateSize(model, spec))
        mujoco.mj_getState(model, data, state, spec)
        resumed, original = mujoco.MjData(model), evaluated(model, data)
        mujoco.mj_setState(model, resumed, state, spec)
        mujoco.mj_forward(model, resumed)
        for _ in range(250):
            mujoco.mj_step(model, original)
            mujoco.mj_step(model, resumed)
        drift[name] = float(np.max(np.abs(original.qpos - resumed.qpos)))
        exact = "to the last bit" if np.array_equal(original.qpos, resumed.qpos) else "drifted"
        print(f"  {name:<24}largest difference in qpos {drift[name]:.1e} (m, rad)   {exact}")
    return drift


# %% [markdown]
# Physics and full physics lack the controls, the applied forces and the hand's place: another run. Without the warm start the solver begins
# elsewhere and stops a rounding error away; contacts make that grow.
#
# ### The lag of one step, measured
#
# After a step, compare what `data` shows with an evaluation at the state *before* the step and at the state *after* it.

# %%
@experiment
def one_step_lag():
    verdicts = {}
    print(f"{'after one mj_step':<20}{'xpos':>12}{'sensordata':>12}{'contacts':>12}")
    for name in ("Euler", "RK4"):
        model, data = running_clutter()
        set_integrator(model, data, name)
        for _ in range(10):
            mujoco.mj_step(model, data)
        before = evaluated(model, data)
        mujoco.mj_step(model, data)
        after = evaluated(model, data)

        shown, old, new = ((d.xpos, d.sensordata, d.contact.dist) for d in (data, before, after))
        verdicts[name] = {}
        for field, value, then, now in zip(
            ("xpos", "sensordata", "contacts"), shown, old, new, strict=True
        ):
            stale, fresh = np.array_equal(value, then), np.array_equal(value, now)
            verdicts[name][field] = "before" if stale else "after" if fresh else "neither"
        print(f"{name:<20}" + "".join(f"{verdict:>12}" for verdict in verdicts[name].values()))
    return verdicts


# %% [markdown]
# ### Where a controller may act
#
# `mjcb_control` is called by the pipeline itself, right before the actuation. How often, depends on the call.

# %%
@experiment
def callback_counts():
    model = load("double_pendulum")
    counts = {}

    def count(name, run, integrator="Euler"):
        data = mujoco.MjData(model)
        set_integrator(model, data, integrator)
        mujoco.mj_forward(model, data)
        calls = []
        mujoco.set_mjcb_control(lambda m, d: calls.append(d.time))
        try:
            run(data)
        finally:
            mujoco.set_mjcb_control(None)
        counts[name] = len(calls)
        print(f"{name:<32}{len(calls)} call{'s' * (len(calls) != 1)} of mjcb_control")

    count("mj_step1", lambda d: mujoco.mj_step1(model, d))
    count("mj_step2", lambda d: mujoco.mj_step2(model, d))
    count("mj_forward", lambda d: mujoco.mj_forward(model, d))
    skip = mujoco.mjtStage.mjSTAGE_VEL
    count("mj_forwardSkip, mjSTAGE_VEL", lambda d: mujoco.mj_forwardSkip(model, d, skip, 0))
    count("mj_step, Euler", lambda d: mujoco.mj_step(model, d))
    count("mj_step, RK4", lambda d: mujoco.mj_step(model, d), "RK4")
    return counts


# %% [markdown]
# Four calls in an RK4 step: the derivative is evaluated at four states. The split pair evaluates one, so it **cannot** do RK4; it integrates
# with Euler's rule and says nothing. A controller that must act inside an RK4 step goes into `mjcb_control`. Here is the double pendulum, 20 s at a step of 10 ms, with RK4 selected in all rows but the last.

# %%
@experiment
def split_step():
    results = {}
    for name, integrator, split in (
        ("mj_step, RK4 selected", "RK4", False),
        ("mj_step1 + mj_step2, RK4 selected", "RK4", True),
        ("mj_step, Euler selected", "Euler", False),
    ):
        model = load("double_pendulum")
        data = mujoco.MjData(model)
        set_integrator(model, data, integrator)
        mujoco.mj_resetDataKeyframe(model, data, 0)
        mujoco.mj_forward(model, data)
        start = data.energy.sum()
        worst = 0.0
        for _ in range(2000):
            if split:
                mujoco.mj_step1(model, data)
                mujoco.mj_step2(model, data)
            else:
                mujoco.mj_step(model, data)
            worst = max(worst, abs(data.energy.sum() - start))
        results[name] = (worst, data.qpos.copy())
        print(f"{name:<36} largest energy error {worst:8.4f} J")
    *_, split_run, euler_run = results.values()
    equal = np.array_equal(split_run[1], euler_run[1])
    print(f"energy at the start: {start:.2f} J (zero at the height of the world's origin)")
    print(f"split step and Euler end in the same qpos, to the last bit: {equal}")
    return {name: worst for name, (worst, _) in results.items()} | {"same as Euler": equal}


# %% [markdown]
# ## Build it
#
# Twelve exercises, roughly along the pipeline; the table at the top marks those of the core, and the knowledge check comes later. Run the check
# under each: it compares with MuJoCo and says what is off. Inputs are never to be modified, and `data` is up to date on entry (`mj_forward` has run) unless
# an exercise says otherwise. Where arrays are asked for, lists and tuples are fine too.
#
# ### `save_restore`: keep a run, resume it to the last bit
#
# `save_state(model, data)` returns one array of shape $(n,)$ (its layout is yours); `restore_state(model, data, state)` puts it back, into the
# same or into a fresh `MjData` of that model, and returns nothing. After it
#
# * running on gives **bit-identical** trajectories: with contacts, filtered actuators, applied forces and mocap bodies;
# * derived quantities (`xpos`, `sensordata`, `qacc`, ...) belong to the restored state at once.
#
# `mj_stateSize`, `mj_getState` and `mj_setState` do the copying; you decide what belongs to the state.

# %% solution="save_restore"
def save_state(model, data):
    """Everything that a bit-exact resume needs, as one array of shape (n,)."""
    ### BEGIN SOLUTION
    spec = mujoco.mjtState.mjSTATE_INTEGRATION
    state = np.empty(mujoco.mj_stateSize(model, spec))
    mujoco.mj_getState(model, data, state, spec)
    return state
    ### END SOLUTION


def restore_state(model, data, state):
    """Put `state` back into `data`; derived quantities belong to it afterwards."""
    ### BEGIN SOLUTION
    mujoco.mj_setState(model, data, state, mujoco.mjtState.mjSTATE_INTEGRATION)
    mujoco.mj_forward(model, data)
    ### END SOLUTION


# %% check="save_restore"
@visible_check("save_restore")
def check_save_restore(check):
    model, data = running_clutter()
    state = save_state(model, data)
    try:
        flat = np.asarray(state, dtype=float).ndim == 1
    except (TypeError, ValueError):
        flat = False
    told = "save_state must return numbers in one array of shape (n,)"
    if not check.true("the saved state is one array", flat, told):
        return
    original, fresh = evaluated(model, data), mujoco.MjData(model)
    restore_state(model, fresh, state)
    kept = "time qpos qvel act ctrl qfrc_applied xfrc_applied mocap_pos mocap_quat qacc_warmstart"
    lost = [n for n in kept.split() if not np.array_equal(getattr(fresh, n), getattr(original, n))]
    check.true("state and inputs come back", not lost, "not restored: " + ", ".join(lost))
    check.close("xpos of the restored state", fresh.xpos, original.xpos)
    check.close("sensors of the restored state", fresh.sensordata, original.sensordata, rtol=1e-9)
    for _ in range(100):
        mujoco.mj_step(model, original)
        mujoco.mj_step(model, fresh)
    check.close("qpos after 100 more steps", fresh.qpos, original.qpos)
    check.true(
        "to the last bit",
        np.array_equal(fresh.qpos, original.qpos) and np.array_equal(fresh.qvel, original.qvel),
        "the two runs part: something that the step starts from is not restored",
    )


# %% test="save_restore"
# Hidden tests: several scenes, rewound and into a fresh MjData, with contacts, activations, applied forces, a mocap body.

# %% [markdown]
# ### `pendulum_terms`: inertia and bias by hand
#
# A point mass `mass` (kg) on a massless rod of `length` (m), angle `theta` (rad) from hanging straight down, gravity `gravity` (m/s², positive). Return
# `(M, c)`: inertia (kg m²) and bias (N m), as two numbers.

# %% solution="pendulum_terms"
def pendulum_terms(theta, length, mass, gravity):
    """Inertia M and bias c of a pendulum in M * qacc + c = 0."""
    ### BEGIN SOLUTION
    return mass * length**2, mass * gravity * length * np.sin(theta)
    ### END SOLUTION


# %% check="pendulum_terms"
@visible_check("pendulum_terms")
def check_pendulum_terms(check):
    model = load("pendulum")
    data = mujoco.MjData(model)
    for theta in (-2.0, 0.0, 0.7, 1.5, np.pi):
        data.qpos[0] = theta
        mujoco.mj_forward(model, data)
        full = np.empty((1, 1))
        mujoco.mj_fullM(model, data, full)
        M, c = pendulum_terms(theta, 0.6, 0.8, 9.81)
        where = "hanging or upright: " if theta in (0.0, np.pi) else ""
        check.close("M vs mj_fullM", M, full[0, 0], atol=1e-9)
        check.close(f"{where}c vs qfrc_bias", c, data.qfrc_bias[0], atol=1e-9)


# %% test="pendulum_terms"
# Hidden tests: any angle, length, mass and gravity; hanging and upright.

# %% [markdown]
# ### `servo_force`: a position servo with two clamps
#
# `position_servo_force(ctrl, length, velocity, kp, kd, ctrlrange, forcerange)` returns the force of the servo (N, or N m for a hinge): proportional to
# the distance of `length` from the control, damped by `velocity`. A range is a pair `(low, high)` or `None` (no clamp). Clamp the control first, the
# force last.

# %% solution="servo_force"
def position_servo_force(ctrl, length, velocity, kp, kd, ctrlrange, forcerange):
    """Force of a position servo; `ctrlrange` and `forcerange` are (low, high) or None."""
    ### BEGIN SOLUTION
    if ctrlrange is not None:
        ctrl = np.clip(ctrl, *ctrlrange)
    force = kp * (ctrl - length) - kd * velocity
    if forcerange is not None:
        force = np.clip(force, *forcerange)
    return float(force)
    ### END SOLUTION


# %% check="servo_force"
@visible_check("servo_force")
def check_servo_force(check):
    model = load("servo_arm")
    data = mujoco.MjData(model)
    for active, ctrl, angle, rate in (
        ("no clamp", 0.5, 0.4, 0.1),
        ("no clamp", 0.1, 0.0, -0.8),
        ("damping alone", 0.3, 0.3, 0.5),
        ("control clamped", 2.0, 1.1, 0.0),
        ("force clamped", -1.0, 0.3, 2.0),
        ("both clamped", 2.0, 0.0, 0.0),
    ):
        data.ctrl[0], data.qpos[0], data.qvel[0] = ctrl, angle, rate
        mujoco.mj_forward(model, data)
        got = position_servo_force(ctrl, angle, rate, 12.0, 0.8, (-1.2, 1.2), (-3.0, 3.0))
        check.close(f"{active}: force vs actuator_force", got, data.actuator_force[0])
    check.close("without ranges", position_servo_force(2.0, 0.5, 1.0, 10.0, 2.0, None, None), 13.0)


# %% test="servo_force"
# Hidden tests: each clamp active alone, both together, no ranges, ranges that are not symmetric.

# %% [markdown]
# ### `transmission`: forces by the transpose
#
# `moment` is $P$ of shape $(n_u, n_v)$. `actuator_generalized_force(moment, force)` maps actuator forces $(n_u,)$ to a generalized force $(n_v,)$;
# `transmission_velocity(moment, qvel)` maps a velocity $(n_v,)$ to the rates of the actuator lengths $(n_u,)$. There may be more actuators than dofs, or fewer.

# %% solution="transmission"
def actuator_generalized_force(moment, force):
    """Generalized force (nv,) of actuator forces (nu,); `moment` has a row for each actuator."""
    ### BEGIN SOLUTION
    return moment.T @ force
    ### END SOLUTION


def transmission_velocity(moment, qvel):
    """Rates of the actuator lengths (nu,) at the velocity `qvel` (nv,)."""
    ### BEGIN SOLUTION
    return moment @ qvel
    ### END SOLUTION


# %% check="transmission"
@visible_check("transmission")
def check_transmission(check):
    model = load("two_mass")
    data = mujoco.MjData(model)
    rng = np.random.default_rng(3)
    for _ in range(5):
        data.ctrl[:], data.qvel[:] = rng.normal(size=(2, 2))
        mujoco.mj_forward(model, data)
        P = np.zeros((model.nu, model.nv))
        mujoco.mju_sparse2dense(
            P, data.actuator_moment, data.moment_rownnz, data.moment_rowadr, data.moment_colind
        )
        tau = actuator_generalized_force(P, data.actuator_force)
        rate = transmission_velocity(P, data.qvel)
        check.close("P^T f vs qfrc_actuator", tau, data.qfrc_actuator)
        exchanged = np.array_equal(tau, P @ data.actuator_force)
        check.true("not P f", not exchanged, "this is P f; the rows of P belong to the actuators")
        check.close("P v vs actuator_velocity", rate, data.actuator_velocity)
        check.close("power: (P v) . f vs v . P^T f", rate @ data.actuator_force, data.qvel @ tau)


# %% test="transmission"
# Hidden tests: square, wide and tall moments; MuJoCo's own of two scenes.

# %% [markdown]
# ### `activation`: the filter by Euler's rule, and exactly
#
# Both functions return the activation `dt` seconds later: `filter_euler` by one step of Euler's rule, `filter_exact` by the exact solution for a
# constant `ctrl`. `act` and `ctrl` are pure numbers, `tau` and `dt` in seconds. No clamp: if Euler's rule overshoots, so be it.

# %% solution="activation"
def filter_euler(act, ctrl, tau, dt):
    """Activation after `dt` seconds, by one step of Euler's rule."""
    ### BEGIN SOLUTION
    return act + dt * (ctrl - act) / tau
    ### END SOLUTION


def filter_exact(act, ctrl, tau, dt):
    """Activation after `dt` seconds of constant `ctrl`, exactly."""
    ### BEGIN SOLUTION
    return ctrl + (act - ctrl) * np.exp(-dt / tau)
    ### END SOLUTION


# %% check="activation"
@visible_check("activation")
def check_activation(check):
    model = load("servo_arm")
    for act, ctrl, tau, dt in (
        (0, 1, 0.3, 0.01),
        (0.2, 1, 0.3, 0.1),
        (0.9, -0.5, 0.2, 0.05),
        (0, 1, 0.02, 0.1),
    ):
        model.opt.timestep = dt
        model.actuator_dynprm[1:, 0] = tau
        data = mujoco.MjData(model)
        data.act[:], data.ctrl[1:] = act, ctrl
        mujoco.mj_step(model, data)
        euler, exact = filter_euler(act, ctrl, tau, dt), filter_exact(act, ctrl, tau, dt)
        check.close("filter_euler vs MuJoCo's filter", euler, data.act[0])
        check.close("filter_exact vs filterexact", exact, data.act[1])
        own = not (np.isclose(euler, data.act[1]) or np.isclose(exact, data.act[0]))
        check.true("each has its own formula", own, "one of them gives the other's result")


# %% test="activation"
# Hidden tests: rising, falling, below zero, a step much longer than the time constant.

# %% [markdown]
# Now see it. Press *Play*, then *control to 1*: the green lever has the exact filter, the orange one Euler's. With the step at 150 ms the two curves part; with
# a time constant shorter than half a step Euler's activation runs away. *yours* is your `filter_euler`, fed with the same control.

# %%
# Folded: the code of the lab, for those who want to see how it is made.
activation_state = SimpleNamespace(euler=0.0, since=0.0, start=0.0)


def exact_curve(model, data):
    """The exact activation since the control was last switched, at the present time."""
    tau, u = model.actuator_dynprm[2, 0], data.ctrl[2]
    elapsed = data.time - activation_state.since
    return u + (activation_state.start - u) * np.exp(-elapsed / tau)


def switch_control(value):
    def switch(model, data):
        activation_state.start, activation_state.since = float(data.act[1]), data.time
        data.ctrl[1:] = value

    return switch


def step_filters(model, data):
    euler = mjcourse.lab.student(
        "filter_euler", lambda act, ctrl, tau, dt: act + dt * (ctrl - act) / tau, using="its own"
    )
    activation_state.euler = euler(
        activation_state.euler, data.ctrl[1], model.actuator_dynprm[1, 0], model.opt.timestep
    )
    mujoco.mj_step(model, data)


def reset_filters(model, data):
    activation_state.euler = activation_state.since = activation_state.start = 0.0


def set_tau(model, data, tau):
    activation_state.start, activation_state.since = exact_curve(model, data), data.time
    model.actuator_dynprm[1:, 0] = tau


lab_activation = Lab(
    "servo_arm",
    title="Activation: a force that follows its control slowly",
    note="Orange lever: Euler's filter. Green lever: the exact one. Blue lever: a position servo at rest.",
    camera={"azimuth": 118, "elevation": -10, "distance": 1.45, "lookat": (0.05, 0.0, 0.42)},
    controls=[
        Button("control to 1", switch_control(1.0)),
        Button("control to 0", switch_control(0.0)),
        Slider(
            "time constant", low=0.05, high=1.0, value=0.3, step=0.05, unit="s", on_change=set_tau
        ),
        Slider(
            "step",
            low=0.005,
            high=0.15,
            value=0.01,
            step=0.005,
            unit="s",
            on_change=lambda model, data, h: setattr(model.opt, "timestep", h),
        ),
    ],
    readouts=[
        Readout("control", lambda model, data: data.ctrl[1], digits=2),
        Readout("activation, filter", lambda model, data: data.act[0], digits=4),
        Readout("activation, filterexact", lambda model, data: data.act[1], digits=4),
        Readout("torque, filter", lambda model, data: data.actuator_force[1], unit="N m"),
    ],
    charts=[
        StripChart(
            "activation",
            {
                "exact": exact_curve,
                "filter": lambda model, data: data.act[0],
                "filterexact": lambda model, data: data.act[1],
                "yours": lambda model, data: activation_state.euler,
            },
            window=3.0,
            limits=(-0.2, 1.3),
        )
    ],
    step=step_filters,
    reset=reset_filters,
    student=("filter_euler",),
    speed=0.5,
)
lab_activation


# %% [markdown]
# ### `smooth_acceleration`: Newton's law without the constraint
#
# `smooth_acceleration(model, data)` returns $a_u$, shape $(n_v,)$, from the inertia, the passive, bias, applied and actuator forces and from
# `xfrc_applied`. Build it from these: the results `qacc_smooth`, `qfrc_smooth` and `qacc` are not to be read (in the hidden tests they hold false numbers), and
# the pipeline is not to be run again (`mj_forward` and its relatives).
#
# Helpful: `mj_fullM(model, data, M)` fills a dense $M$, or `mj_solveM(model, data, x, y)` solves $M x = y$ with the factor that is already there
# (`x` and `y` of shape $(1, n_v)$); `mj_jacBodyCom(model, data, jacp, jacr, body)` fills the two Jacobians of a body (each $(3, n_v)$). The world is body 0.

# %% solution="smooth_acceleration"
def smooth_acceleration(model, data):
    """Acceleration (nv,) that all forces but the constraint's would give."""
    ### BEGIN SOLUTION
    tau = data.qfrc_passive - data.qfrc_bias + data.qfrc_applied + data.qfrc_actuator
    for body in range(1, model.nbody):
        force, torque = data.xfrc_applied[body, :3], data.xfrc_applied[body, 3:]
        jacp, jacr = np.zeros((3, model.nv)), np.zeros((3, model.nv))
        mujoco.mj_jacBodyCom(model, data, jacp, jacr, body)
        tau += jacp.T @ force + jacr.T @ torque
    M = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, M)
    return np.linalg.solve(M, tau)
    ### END SOLUTION


# %% check="smooth_acceleration"
@visible_check("smooth_acceleration")
def check_smooth_acceleration(check):
    rng = np.random.default_rng(5)
    for name in ("double_pendulum", "servo_arm", "two_mass", "clutter"):
        model = load(name)
        data = mujoco.MjData(model)
        data.qvel[:] = 0.3 * rng.normal(size=model.nv)
        data.ctrl[:] = rng.uniform(-0.8, 0.8, model.nu)
        for label, columns in (
            ("no Cartesian forces", slice(0, 0)),
            ("forces at the centres of mass", slice(0, 3)),
            ("torques", slice(3, 6)),
        ):
            data.xfrc_applied[:] = 0
            pushed = data.xfrc_applied[1:, columns]
            pushed[:] = rng.normal(size=pushed.shape)
            mujoco.mj_forward(model, data)
            want = data.qacc_smooth.copy()
            data.qacc_smooth[:] = data.qfrc_smooth[:] = data.qacc[:] = 0
            got = smooth_acceleration(model, data)
            check.close(f"{label}: vs qacc_smooth", got, want, atol=1e-8, rtol=1e-9)


# %% test="smooth_acceleration"
# Hidden tests: scenes with every joint type and masses off centre, forces and torques; data is left as it was.

# %% [markdown]
# ### `equality_row`: the three steps
#
# `equality_row(M, J, a_smooth, b, R=0.0)` returns `(qacc, force)`: the acceleration $(n_v,)$ with the row, and the row's force, one number. `M` is $(n_v, n_v)$,
# `J` is $(n_v,)$. With `R > 0` the row is soft, as MuJoCo's.

# %% solution="equality_row"
def equality_row(M, J, a_smooth, b, R=0.0):
    """Acceleration with the row J a = b, and the row's force; R softens it."""
    ### BEGIN SOLUTION
    y = np.linalg.solve(M, J)
    A = J @ y
    force = (b - J @ a_smooth) / (A + R)
    return a_smooth + y * force, float(force)
    ### END SOLUTION


# %% check="equality_row"
@visible_check("equality_row")
def check_equality_row(check):
    qacc, force = equality_row(
        np.diag([2.0, 1.0]), np.array([-1.0, 1.0]), np.array([1.0, -2.0]), 0.0
    )
    check.close("worked example: force 2 N", force, 2.0)
    check.close("worked example: accelerations 0", qacc, [0.0, 0.0])
    model = load("two_mass")
    data = mujoco.MjData(model)
    for width, velocity in ((0.9999, (0.0, 0.0)), (0.6, (0.3, -0.2)), (0.3, (-0.5, 0.4))):
        model.eq_solimp[0, :2] = width
        data.ctrl[:], data.qfrc_applied[:], data.qvel[:] = (4, -2), (0, 3), velocity
        mujoco.mj_forward(model, data)
        M = np.zeros((2, 2))
        mujoco.mj_fullM(model, data, M)
        J = data.efc_J.reshape(-1, 2)[0]
        qacc, force = equality_row(M, J, data.qacc_smooth, data.efc_aref[0], data.efc_R[0])
        check.close("with MuJoCo's R and aref: efc_force", force, data.efc_force[0], atol=1e-6)
        check.close("with MuJoCo's R and aref: qacc", qacc, data.qacc, atol=1e-6)


# %% test="equality_row"
# Hidden tests: ideal and soft rows, b other than zero, full mass matrices, inputs left as they were.

# %% [markdown]
# ### `semi_implicit_step`: velocity first
#
# `semi_implicit_step(model, qpos, qvel, qacc, dt)` returns new arrays `(qpos, qvel)` after one step of `dt` seconds. It must do for every joint type, so let
# `mj_integratePos` do the turning, but mind: that function works in place, and the arrays given are not to be changed.

# %% solution="semi_implicit_step"
def semi_implicit_step(model, qpos, qvel, qacc, dt):
    """New (qpos, qvel) after `dt` seconds: velocity first, then position with the new velocity."""
    ### BEGIN SOLUTION
    new_qvel = qvel + dt * qacc
    new_qpos = qpos.copy()
    mujoco.mj_integratePos(model, new_qpos, new_qvel, dt)
    return new_qpos, new_qvel
    ### END SOLUTION


# %% check="semi_implicit_step"
@visible_check("semi_implicit_step")
def check_semi_implicit_step(check):
    for name in ("double_pendulum", "clutter"):
        model = load(name)
        data = mujoco.MjData(model)
        if model.nkey:
            mujoco.mj_resetDataKeyframe(model, data, 0)
        model.dof_damping[:] = 0
        for _ in range(20):
            mujoco.mj_step(model, data)
        before = evaluated(model, data)
        q, v, a = before.qpos.copy(), before.qvel.copy(), before.qacc.copy()
        dt = model.opt.timestep
        new_q, new_v = semi_implicit_step(model, q, v, a, dt)
        check.unchanged("qpos given is left as it was", before.qpos, q)
        check.unchanged("qvel given is left as it was", before.qvel, v)
        mujoco.mj_step(model, before)
        if name == "double_pendulum":  # here a position is moved by a sum
            old = np.allclose(new_q, before.qpos - dt * (before.qvel - v), rtol=0, atol=1e-12)
            told = "it moves with the old velocity: change the velocity first"
            check.true("the position moves with the new velocity", not old, told)
        check.close("qvel vs mj_step", new_v, before.qvel, atol=1e-9)
        check.close("qpos vs mj_step", new_q, before.qpos, atol=1e-9)


# %% test="semi_implicit_step"
# Hidden tests: hinges, slides, free and ball joints; inputs left as they were.

# %% [markdown]
# ### `fresh_position`: the position that belongs to the new state
#
# `body_position_after_step(model, data, body)` steps **once** and returns the position, shape $(3,)$, of the body of that name *at the new* `qpos`. State and time are
# left as after one `mj_step`. `data` may be stale on entry.

# %% solution="fresh_position"
def body_position_after_step(model, data, body):
    """Step once; the position (3,) of the body `body` that belongs to the new state."""
    ### BEGIN SOLUTION
    mujoco.mj_step(model, data)
    mujoco.mj_kinematics(model, data)
    return data.body(body).xpos.copy()
    ### END SOLUTION


# %% check="fresh_position"
@visible_check("fresh_position")
def check_fresh_position(check):
    for integrator in ("Euler", "RK4"):
        model = load("double_pendulum")
        data = mujoco.MjData(model)
        set_integrator(model, data, integrator)
        mujoco.mj_resetDataKeyframe(model, data, 0)
        for _ in range(5):
            mujoco.mj_step(model, data)
        stepped = evaluated(model, data)
        old = stepped.body("lower").xpos.copy()
        mujoco.mj_step(model, stepped)
        want = evaluated(model, stepped).body("lower").xpos
        got = body_position_after_step(model, data, "lower")
        told = "this is the position before the step: xpos was not evaluated since"
        check.true("it belongs to the new qpos", not np.array_equal(got, old), told)
        check.close("position vs a fresh evaluation", got, want)
        check.close("one step taken: time", data.time, stepped.time)
        check.close("one step taken: qpos", data.qpos, stepped.qpos)


# %% test="fresh_position"
# Hidden tests: several scenes, stale data on entry, RK4, one step in all.

# %% [markdown]
# ### `controlled_step`: a controller that is not late
#
# `controlled_step(model, data, controller)` takes one step in which `controller(model, data)` returns the controls $(n_u,)$. The controller sees **this** step's positions,
# velocities and sensors, and its controls act on **this** step. `data` may be stale on entry; the integrator is not RK4 here.

# %% solution="controlled_step"
def controlled_step(model, data, controller):
    """One step with ctrl = controller(model, data), which sees this step's positions and velocities."""
    ### BEGIN SOLUTION
    mujoco.mj_step1(model, data)
    data.ctrl[:] = controller(model, data)
    mujoco.mj_step2(model, data)
    ### END SOLUTION


# %% check="controlled_step"
@visible_check("controlled_step")
def check_controlled_step(check):
    model = load("two_mass")
    data, ours = mujoco.MjData(model), mujoco.MjData(model)
    data.qvel[:] = ours.qvel[:] = (0.5, -0.2)

    def controller(model, data):
        seen.append(data.xpos[1:].copy())
        return -3 * data.qvel - 20 * data.actuator_length

    for _ in range(6):
        seen = []
        fresh, late = evaluated(model, ours), evaluated(model, ours)
        mujoco.mj_step(model, late)  # with the control of the step before
        ours.ctrl[:] = -3 * fresh.qvel - 20 * fresh.actuator_length
        mujoco.mj_step(model, ours)
        controlled_step(model, data, controller)
        if check.true("the controller is called", len(seen) > 0, "it never was"):
            check.close("what the controller sees: xpos", seen[-1], fresh.xpos[1:])
            told = "it reads what an earlier instant left: what must run before it?"
            check.true("it is of this step", np.allclose(seen[-1], fresh.xpos[1:]), told)
        told = "it acts one step late"
        check.true("the control acts at once", not np.allclose(data.qvel, late.qvel), told)
        check.close("qvel after the step", data.qvel, ours.qvel)


# %% test="controlled_step"
# Hidden tests: controllers that read positions, sensors, actuator lengths, the bias; data stale on entry.

# %% [markdown]
# ### `cheapest_forward`: refresh no more than is stale
#
# `data` was up to date; then the fields named in the set `changed` were written, any of `"qpos"`, `"qvel"`, `"ctrl"`, `"qfrc_applied"`, `"xfrc_applied"`.
# `refresh(model, data, changed)` brings every derived quantity up to date, sensors included, and runs no stage that the changes left valid. The empty set: do nothing.

# %% solution="cheapest_forward"
def refresh(model, data, changed):
    """Evaluate what the changed fields made stale, and no more."""
    ### BEGIN SOLUTION
    if not changed:
        return
    if "qpos" in changed:
        skip = mujoco.mjtStage.mjSTAGE_NONE
    elif "qvel" in changed:
        skip = mujoco.mjtStage.mjSTAGE_POS
    else:
        skip = mujoco.mjtStage.mjSTAGE_VEL
    mujoco.mj_forwardSkip(model, data, skip, 0)
    ### END SOLUTION


# %% check="cheapest_forward"
@visible_check("cheapest_forward")
def check_cheapest_forward(check):
    model = load("servo_arm")
    rng = np.random.default_rng(8)
    for changed in (
        {"qpos"},
        {"qvel"},
        {"ctrl"},
        {"xfrc_applied"},
        {"qvel", "ctrl"},
        {"qpos", "ctrl"},
        set(),
    ):
        data = mujoco.MjData(model)
        mujoco.mj_forward(model, data)
        for name in sorted(changed):
            field = getattr(data, name)
            field[:] = 0.3 * rng.normal(size=field.shape)
        want = evaluated(model, data)
        data.xanchor[:] = data.qfrc_damper[:] = 7e3  # overwritten by the stage that owns them
        refresh(model, data, changed)
        for result in ("xpos", "qfrc_bias", "actuator_force", "qacc", "sensordata"):
            check.close(f"{result} vs mj_forward", getattr(data, result), getattr(want, result))
        label = f"stages after {', '.join(sorted(changed)) or 'nothing'} changed"
        ran = {"position": np.any(data.xanchor != 7e3), "velocity": np.any(data.qfrc_damper != 7e3)}
        needed = {"position": "qpos" in changed, "velocity": bool(changed & {"qpos", "qvel"})}
        for stage in ran:
            told = f"the {stage} stage {'must run' if needed[stage] else 'runs without need'}"
            check.true(label, bool(ran[stage]) == needed[stage], told)


# %% test="cheapest_forward"
# Hidden tests: every single change, several at once, the empty set; values, and which stages ran.

# %% [markdown]
# ### `staged_pipeline`: a pipeline of your own
#
# The class `StagedPipeline(M, P, bias, J=None)` holds a mechanism with constant inertia `M`, moment `P`, bias vector `bias` and at most one ideal row `J` (shape $(n_v,)$, asking for
# $J a = 0$).
#
# * `forward(q, v, f, passive, applied)` returns a dict with the keys of MuJoCo's arrays: `xpos` (a copy of `q`), `actuator_velocity`, `qfrc_actuator`, `qacc_smooth`,
#   `efc_force` (shape $(1,)$, or $(0,)$ without a row) and `qacc`.
# * `evaluations`: a dict stage -> how often it ran, with the keys `position`, `velocity`, `actuation`, `acceleration`, `constraint`. **A stage whose inputs did not change is not run
#   again**; inputs are compared by value. Position depends on `q`, velocity on `v`, actuation on `f`, acceleration on `qfrc_actuator`, `passive` and `applied`, constraint on `qacc_smooth`.
# * `step(dt)` returns the new `(q, v)`, semi-implicit, from the last `forward`. It changes neither what `forward` cached nor the arrays it was given: the caches stay at the old instant, as MuJoCo's do.

# %% solution="staged_pipeline"
class StagedPipeline:
    """Five stages with caches: position, velocity, actuation, acceleration, constraint."""

    def __init__(self, M, P, bias, J=None):
        ### BEGIN SOLUTION
        self.M, self.P, self.bias, self.J = M, P, bias, J
        self.evaluations = dict.fromkeys(
            ("position", "velocity", "actuation", "acceleration", "constraint"), 0
        )
        self.inputs, self.cache = {}, {}
        ### END SOLUTION

    def forward(self, q, v, f, passive, applied):
        """The results of all stages at this state and these inputs, as a dict of arrays."""
        ### BEGIN SOLUTION
        self._run("position", self._position, q)
        self._run("velocity", self._velocity, v)
        self._run("actuation", self._actuation, f)
        self._run("acceleration", self._acceleration, self.cache["qfrc_actuator"], passive, applied)
        self._run("constraint", self._constraint, self.cache["qacc_smooth"])
        return {name: value.copy() for name, value in self.cache.items() if name != "qvel"}
        ### END SOLUTION

    def step(self, dt):
        """The state (q, v) `dt` seconds after the last `forward`; the caches stay as they are."""
        ### BEGIN SOLUTION
        v = self.cache["qvel"] + dt * self.cache["qacc"]
        return self.cache["xpos"] + dt * v, v
        ### END SOLUTION

    ### BEGIN SOLUTION
    def _run(self, stage, compute, *inputs):
        given = [np.array(x, dtype=float) for x in inputs]
        before = self.inputs.get(stage)
        if before is None or not all(map(np.array_equal, before, given)):
            self.inputs[stage] = given
            self.cache.update(compute(*given))
            self.evaluations[stage] += 1

    def _position(self, q):
        return {"xpos": q}

    def _velocity(self, v):
        return {"qvel": v, "actuator_velocity": self.P @ v}

    def _actuation(self, f):
        return {"qfrc_actuator": self.P.T @ f}

    def _acceleration(self, actuator, passive, applied):
        return {"qacc_smooth": np.linalg.solve(self.M, passive - self.bias + applied + actuator)}

    def _constraint(self, smooth):
        if self.J is None:
            return {"efc_force": np.zeros(0), "qacc": smooth}
        y = np.linalg.solve(self.M, self.J)
        force = -(self.J @ smooth) / (self.J @ y)
        return {"efc_force": np.array([force]), "qacc": smooth + y * force}

    ### END SOLUTION


# %% check="staged_pipeline"
@visible_check("staged_pipeline")
def check_staged_pipeline(check):
    M, P = np.diag([2.0, 1.0]), np.array([[1.0, 0.0], [0.5, 1.0]])
    bias, J = np.array([2.0, 3.0]), np.array([-1.0, 1.0])
    q, v, f = np.zeros(2), np.array([1.0, -0.5]), np.array([4.0, -2.0])
    passive, applied = np.array([1.0, 0.0]), np.array([0.0, 3.0])
    pipe = StagedPipeline(M, P, bias, J)
    r = pipe.forward(q, v, f, passive, applied)
    tau = passive - bias + applied + r["qfrc_actuator"]
    check.close(
        "residual of M a - tau - J^T lambda", M @ r["qacc"] - tau - J * r["efc_force"], [0, 0]
    )
    check.close("power: (P v) . f vs v . P^T f", r["actuator_velocity"] @ f, v @ r["qfrc_actuator"])
    check.close("qacc_smooth of the worked example", r["qacc_smooth"], [1, -2])
    check.close("efc_force of the worked example", r["efc_force"], [2])
    pipe.forward(q.copy(), v, np.array([2.0, 2.0]), passive, applied)
    counts = [
        pipe.evaluations[s]
        for s in ("position", "velocity", "actuation", "acceleration", "constraint")
    ]
    check.equal("runs of each stage after a new f", counts, [1, 1, 2, 2, 2])
    free = StagedPipeline(M, P, bias)
    free.forward(q, np.zeros(2), f, passive, applied)
    new_q, new_v = free.step(0.1)
    check.close("step without the row: v", new_v, [0.1, -0.2])
    check.close("step without the row: q", new_q, [0.01, -0.02])
    check.close(
        "the cached xpos is still the old one", free.forward(q, v, f, passive, applied)["xpos"], q
    )


# %% test="staged_pipeline"
# Hidden tests: results, caching (only f, only v, nothing changed), no row, and what a step leaves alone.

# %% [markdown]
# ## Experiment
#
# ### The worked example, every array
#
# Two wagons on a track that steepens (`two_mass`): $M = \mathrm{diag}(2, 1)$ kg, a load $c = (2, 3)$ N from gravity along the two slopes, an engine on wagon 1 and a cable that pulls half on wagon 1 and
# whole on wagon 2, so $P = \begin{pmatrix}1 & 0\\ \tfrac12 & 1\end{pmatrix}$. The actuators give $f = (4, -2)$ N; a spring and an applied force give $(1, 3)$ N together. The
# coupling asks for $q_2 - q_1 = 0$, $J = (-1, 1)$. Your `StagedPipeline` stands in the first column, MuJoCo in the second.

# %%
def two_wagons(f=(4.0, -2.0), v=(0.0, 0.0), row=True, solimp=None):
    """The scene `two_mass` at the worked example's forces, evaluated."""
    model = load("two_mass")
    data = mujoco.MjData(model)
    if solimp is not None:
        model.eq_solimp[0, :2] = solimp
    data.eq_active[0] = row
    data.ctrl[:], data.qvel[:], data.qfrc_applied[:] = f, v, (0.0, 3.0)
    mujoco.mj_forward(model, data)
    return model, data


@experiment
def worked_example():
    model, data = two_wagons()
    M = np.zeros((2, 2))
    mujoco.mj_fullM(model, data, M)
    P = np.zeros((2, 2))
    mujoco.mju_sparse2dense(
        P, data.actuator_moment, data.moment_rownnz, data.moment_rowadr, data.moment_colind
    )
    J = data.efc_J.reshape(-1, 2)[0].copy()
    bias, passive, applied = (
        data.qfrc_bias.copy(),
        data.qfrc_passive.copy(),
        data.qfrc_applied.copy(),
    )
    f, q, v = data.actuator_force.copy(), data.qpos.copy(), data.qvel.copy()
    hand_M, hand_P, hand_J = (
        np.diag([2.0, 1.0]),
        np.array([[1.0, 0.0], [0.5, 1.0]]),
        np.array([-1.0, 1.0]),
    )
    try:
        pipe = StagedPipeline(hand_M, hand_P, np.array([2.0, 3.0]), hand_J)
        r = pipe.forward(q, v, np.array([4.0, -2.0]), np.array([1.0, 0.0]), np.array([0.0, 3.0]))
    except NotImplementedError:
        print("StagedPipeline is not written yet: its rows show nan")
        r = dict.fromkeys(
            ("actuator_velocity", "qfrc_actuator", "qacc_smooth", "qacc"), np.full(2, np.nan)
        )
        r["efc_force"] = np.full(1, np.nan)
    y = np.linalg.solve(hand_M, hand_J)
    A = hand_J @ y
    theirs_y = np.linalg.solve(M, J)

    def row(name, ours, theirs, unit):
        with np.printoptions(precision=4, suppress=True):
            shown = [
                np.array2string(np.asarray(x, float) + 0.0).replace("\n", "")
                for x in (ours, theirs)
            ]
        print(f"{name:<38}{shown[0]:>22}{shown[1]:>24}  {unit}")

    print(f"{'array':<38}{'yours':>22}{'MuJoCo':>24}")
    row("M", hand_M, M, "kg")
    row("P: actuator_moment", hand_P, P, "")
    row("f: actuator_force", [4, -2], f, "N")
    row("P v: actuator_velocity", r["actuator_velocity"], data.actuator_velocity, "m/s")
    row("P^T f: qfrc_actuator", r["qfrc_actuator"], data.qfrc_actuator, "N")
    row("c: qfrc_bias", [2, 3], bias, "N")
    row("passive + applied", [1, 3], passive + applied, "N")
    row("tau: qfrc_smooth", hand_M @ r["qacc_smooth"], data.qfrc_smooth, "N")
    row("a_u: qacc_smooth", r["qacc_smooth"], data.qacc_smooth, "m/s^2")
    row("J: efc_J", hand_J, J, "")
    row("J a_u (efc_b, for aref = 0)", hand_J @ r["qacc_smooth"], data.efc_b[0], "m/s^2")
    row("y = M^-1 J^T", y, theirs_y, "(m/s^2)/N")
    row("A = J y", A, J @ theirs_y, "(m/s^2)/N")
    row("R: efc_R", 0.0, data.efc_R[0], "(m/s^2)/N")
    row("lambda: efc_force", r["efc_force"], data.efc_force, "N")
    row("J^T lambda: qfrc_constraint", hand_J * r["efc_force"], data.qfrc_constraint, "N")
    row("a: qacc", r["qacc"], data.qacc, "m/s^2")
    total = float(np.sum(hand_J * r["efc_force"]))
    print(f"sum of the row's two forces: {total:g} N (an internal pair)")
    return {
        "qfrc_actuator": data.qfrc_actuator.copy(),
        "qacc_smooth": data.qacc_smooth.copy(),
        "efc_b": float(data.efc_b[0]),
        "y": y,
        "A": float(A),
        "R": float(data.efc_R[0]),
        "force": float(r["efc_force"][0]),
        "mujoco_force": float(data.efc_force[0]),
        "qacc": r["qacc"],
        "row_forces": hand_J * r["efc_force"],
    }


# %% [markdown]
# The row's forces are $(-2, +2)$ N: what one wagon gains the other loses. The pair as a whole is moved by the outside alone. That is easier to see with $f = (2, 2)$ N, where it moves:

# %%
@experiment
def variations():
    found = {}
    _, data = two_wagons(f=(2.0, 2.0), row=False)
    found["smooth"] = data.qacc_smooth.copy()
    _, data = two_wagons(f=(2.0, 2.0))
    found["common"] = data.qacc.copy()
    print(
        f"f = (2, 2) N: smooth accelerations {found['smooth'].round(4)}, with the row {found['common'].round(4)} m/s^2"
    )
    print(f"  outside forces over total mass: {(2 + 2) / 3:.4f} m/s^2")

    model, data = two_wagons(v=(1.0, -0.5), row=False)
    P = np.array([[1.0, 0.0], [0.5, 1.0]])
    powers = P * data.qvel * data.actuator_force[:, None] + 0.0  # row: actuator, column: wagon
    found["rates"], found["powers"] = data.actuator_velocity.copy(), powers
    print(f"v = (1, -1/2) m/s: P v = {found['rates'].round(4)} m/s")
    for k, name in enumerate(("engine", "cable")):
        print(
            f"  {name:<7} on wagon 1 {powers[k, 0]:+.2f} W, on wagon 2 {powers[k, 1]:+.2f} W, in all {powers[k].sum():+.2f} W"
        )

    for text, solimp in (
        ("solimp of the scene, 0.9999", None),
        ("default solimp, 0.9", (0.9, 0.95)),
    ):
        _, data = two_wagons(solimp=solimp)
        ratio = data.efc_R[0] / 1.5
        found[text] = float(data.efc_force[0])
        print(
            f"{text}: row force {data.efc_force[0]:.4f} N, 2 / (1 + R/A) = {2 / (1 + ratio):.4f} N"
        )

    model, data = two_wagons(row=False)
    mujoco.mj_step(model, data)
    found["v"], found["q"], found["cached"] = (
        data.qvel.copy(),
        data.qpos.copy(),
        data.sensordata.copy(),
    )
    print(
        f"row off, one step of {model.opt.timestep:g} s from rest: v = {data.qvel.round(4)}, q = {data.qpos.round(4)}"
    )
    print(f"  position sensors right after the step: {data.sensordata.round(4)} (the old instant)")
    mujoco.mj_forward(model, data)
    found["fresh"] = data.sensordata.copy()
    print(f"  after mj_forward: {data.sensordata.round(4)}")
    return found


# %% [markdown]
# Take hold of it. Turn on the fraction of the row's force from 0 to 1 and watch $J a$ fall to zero; move $v_1$ and $v_2$ and see how much power each actuator gives to each wagon; soften the row. Arrows on the
# wagons, from below: blue the actuators' generalized force, grey the load, green spring and applied force, orange-red the row. The row's force comes from your `equality_row` with
# $b = 0$. MuJoCo's own is shown beside it: while $v_1 = v_2$ the two agree; else its reference acceleration also brakes the sliding of the wagons against each other. An impedance of 90 % is MuJoCo's default.

# %%
# Folded: the code of the lab, for those who want to see how it is made.
wagons = SimpleNamespace(fraction=1.0)
ARROWS = {  # name: height over the wagon (m), colour
    "actuator": (0.16, (0.0, 0.45, 0.70, 1)),
    "load": (0.20, (0.45, 0.45, 0.45, 1)),
    "passive and applied": (0.24, (0.0, 0.62, 0.45, 1)),
    "row": (0.28, (0.84, 0.37, 0.0, 1)),
}
W_M, W_P, W_J = np.diag([2.0, 1.0]), np.array([[1.0, 0.0], [0.5, 1.0]]), np.array([-1.0, 1.0])


def ideal_row(M, J, a_smooth, b, R=0.0):
    y = np.linalg.solve(M, J)
    force = (b - J @ a_smooth) / (J @ y + R)
    return a_smooth + y * force, force


def row_force(model, data):
    """The row's force times the chosen fraction; 0 while the row is off. Softness is MuJoCo's R."""
    if not data.eq_active[0]:
        return 0.0
    solve = mjcourse.lab.student("equality_row", ideal_row, using="its own")
    R = data.efc_R[0] if data.nefc else 0.0
    return wagons.fraction * float(solve(W_M, W_J, data.qacc_smooth.copy(), 0.0, float(R))[1])


def wagon_acceleration(model, data):
    return data.qacc_smooth + np.linalg.solve(W_M, W_J) * row_force(model, data)


def generalized(model, data):
    push = mjcourse.lab.student(
        "actuator_generalized_force", lambda moment, force: moment.T @ force, using="its own"
    )
    return np.asarray(push(W_P, data.actuator_force.copy()))


def draw_wagons(model, data, scene):
    forces = {
        "actuator": generalized(model, data),
        "load": -data.qfrc_bias,
        "passive and applied": data.qfrc_passive + data.qfrc_applied,
        "row": W_J * row_force(model, data),
    }
    for name, (height, colour) in ARROWS.items():
        for k, body in enumerate(("wagon_1", "wagon_2")):
            along = data.body(body).xmat.reshape(3, 3)[:, 0]
            up = data.body(body).xmat.reshape(3, 3)[:, 2]
            start = data.body(body).xpos + height * up
            mjcourse.lab.arrow(scene, start, start + 0.07 * forces[name][k] * along, 0.011, colour)


def set_velocity(k):
    def change(model, data, value):
        data.qvel[k] = value

    return change


def set_force(k):
    def change(model, data, value):
        data.ctrl[k] = value

    return change


def set_row(model, data, on):
    data.eq_active[0] = on


def set_softness(model, data, percent):
    model.eq_solimp[0, :2] = min(percent / 100, 0.9999)


def set_fraction(model, data, value):
    wagons.fraction = value


def reset_wagons(model, data):
    data.qfrc_applied[:] = (0.0, 3.0)


lab_wagons = Lab(
    "two_mass",
    title="Two masses, one row",
    note="Arrows: blue actuators, grey load, green spring and applied, orange-red the row. 7 cm for a newton.",
    camera={"azimuth": 90, "elevation": -6, "distance": 1.5, "lookat": (0.0, 0.0, 0.36)},
    controls=[
        Slider("f1", low=-6, high=6, value=4, step=0.5, unit="N", on_change=set_force(0)),
        Slider("f2", low=-6, high=6, value=-2, step=0.5, unit="N", on_change=set_force(1)),
        Slider("fraction of the row", low=0, high=1, value=1, step=0.05, on_change=set_fraction),
        Toggle("row", value=True, on_change=set_row),
        Slider("impedance", low=10, high=100, value=100, step=1, unit="%", on_change=set_softness),
        Slider("v1", low=-1, high=1, value=0, step=0.1, unit="m/s", on_change=set_velocity(0)),
        Slider("v2", low=-1, high=1, value=0, step=0.1, unit="m/s", on_change=set_velocity(1)),
    ],
    readouts=[
        Readout("M, diagonal", lambda model, data: np.diag(W_M), unit="kg", digits=2),
        Readout("P", lambda model, data: W_P, digits=2),
        Readout("J", lambda model, data: W_J, digits=2),
        Readout("P v", lambda model, data: data.actuator_velocity, unit="m/s", digits=2),
        Readout("P^T f", generalized, unit="N", digits=2),
        Readout("bias c", lambda model, data: data.qfrc_bias, unit="N", digits=2),
        Readout("passive", lambda model, data: data.qfrc_passive, unit="N", digits=2),
        Readout("applied", lambda model, data: data.qfrc_applied, unit="N", digits=2),
        Readout("qfrc_smooth", lambda model, data: data.qfrc_smooth, unit="N", digits=2),
        Readout("qacc_smooth", lambda model, data: data.qacc_smooth, unit="m/s²", digits=2),
        Readout("J qacc_smooth", lambda model, data: W_J @ data.qacc_smooth, unit="m/s²", digits=2),
        Readout("y", lambda model, data: np.linalg.solve(W_M, W_J), unit="(m/s²)/N", digits=2),
        Readout(
            "A", lambda model, data: W_J @ np.linalg.solve(W_M, W_J), unit="(m/s²)/N", digits=2
        ),
        Readout(
            "R", lambda model, data: data.efc_R[0] if data.nefc else 0.0, unit="(m/s²)/N", digits=4
        ),
        Readout("row force", row_force, unit="N", digits=4),
        Readout(
            "MuJoCo's efc_force",
            lambda model, data: data.efc_force[0] if data.nefc else 0.0,
            unit="N",
            digits=4,
        ),
        Readout("qacc", wagon_acceleration, unit="m/s²", digits=3),
        Readout(
            "J qacc",
            lambda model, data: W_J @ wagon_acceleration(model, data),
            unit="m/s²",
            digits=3,
        ),
        Readout(
            "power by actuator, wagon",
            lambda model, data: W_P * data.qvel * data.actuator_force[:, None],
            unit="W",
            digits=2,
        ),
    ],
    reset=reset_wagons,
    draw=draw_wagons,
    physics=False,
    student=("equality_row", "actuator_generalized_force"),
)
lab_wagons


# %% [markdown]
# ### One time constant later
#
# The activation after one $\tau$, from 0 towards 1, by Euler's rule at three steps and exactly.

# %%
@experiment
def after_one_time_constant():
    tau = 0.3
    figures = {}
    for parts in (100, 10, 3):
        w = 0.0
        for _ in range(parts):
            w = filter_euler(w, 1.0, tau, tau / parts)
        figures[parts] = float(w)
        print(f"Euler, dt = tau/{parts:<4} {w:.5g}")
    figures["exact"] = float(filter_exact(0.0, 1.0, tau, tau))
    print(f"exact, any dt    {figures['exact']:.4f}")

    _, plot = style.axes("A filter with tau = 0.3 s, switched on at 0", "time (s)", "activation")
    times = np.linspace(0, 1.2, 200)
    plot.plot(times, 1 - np.exp(-times / tau), label="exact", lw=2)
    for k, dt in enumerate((0.03, 0.1, 0.45)):
        points = [0.0]
        for _ in range(int(1.2 / dt + 1e-9)):
            points.append(filter_euler(points[-1], 1.0, tau, dt))
        plot.plot(
            dt * np.arange(len(points)),
            points,
            marker=style.MARKERS[k + 1],
            label=f"Euler, dt = {dt:g} s",
        )
    plot.axhline(1 - np.exp(-1), color="#999999", lw=0.8, ls=":")
    plot.text(1.19, 1 - np.exp(-1) - 0.07, "1 - 1/e", ha="right", color="#666666")
    plot.legend()
    plt.show()
    return figures


# %% [markdown]
# ### Five integrators
#
# An integrator is *implicit* in a force when it takes the force at the end of the step, not at its start: that costs a solve with another matrix
# and makes a stiff force harmless. MuJoCo 4.0 has five integrators, which differ in what they take at the end. *(established: "Computation", "Numerical integration")*
#
# | integrator | forces taken at the end of the step | made for | cost |
# |---|---|---|---|
# | `Euler` | joint damping | older models; the plain choice | lowest |
# | `implicitfast` | all velocity-dependent forces but Coriolis and centripetal ones | most models: the recommended one | about Euler's |
# | `implicit` | all velocity-dependent forces | fast coupled rotations, spinning chains | a second, unsymmetric factorization |
# | `discrete` | as implicitfast, and *positions*: springs and servos, inside the constraint solve | stiff springs and servos with contacts | about Euler's here |
# | `RK4` | nothing: four evaluations, fourth order | smooth, energy-conserving motion | four evaluations |
#
# Three cases show them apart. An undamped double pendulum, where nothing is stiff and the energy ought to stay. A flywheel under a stiff *velocity* servo (200 N m s/rad, step 10 ms). A block on a
# stiff *spring* ($10^5$ N/m, step 10 ms).

# %%
ask(
    "A stiff spring (1e5 N/m on 1 kg) at a step of 10 ms. Which of the five integrators survive?",
    {
        "the two called implicit": "They are implicit in the *velocity*. A spring's force depends on the position, "
        "which they take at the old instant, like Euler.",
        "RK4, being of order four": "Order says how the error shrinks with the step, not how large a step it stands. RK4's limit is "
        "about 2.8 over the highest frequency; here that frequency is 316 rad/s, so the limit is 9 ms.",
        "discrete alone": "It is the only one of the five that evaluates the spring at the end of the step.",
        "none": "One of them treats positions implicitly; that one has no limit from the spring.",
    },
    right="discrete alone",
)

# %%
# Folded: a small class that steps one scene under one integrator and keeps the cost.
INTEGRATORS = {
    "Euler": mujoco.mjtIntegrator.mjINT_EULER,
    "RK4": mujoco.mjtIntegrator.mjINT_RK4,
    "implicit": mujoco.mjtIntegrator.mjINT_IMPLICIT,
    "implicitfast": mujoco.mjtIntegrator.mjINT_IMPLICITFAST,
    "discrete": mujoco.mjtIntegrator.mjINT_DISCRETE,
}
# A run is given up once the velocity passes this: nothing physical comes near it.
TOO_FAST = {"double_pendulum": 500.0, "stiff_servo": 10.0, "stiff_spring": 10.0}


class Runner:
    """One scene under one integrator: steps until it diverges, and keeps the cost."""

    def __init__(self, scene, integrator, timestep=None):
        self.scene = scene
        self.model = load(scene)
        self.model.opt.integrator = INTEGRATORS[integrator]
        self.model.opt.timestep = timestep or self.model.opt.timestep
        self.model.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY
        self.data = mujoco.MjData(self.model)
        self.restart()

    def restart(self):
        mujoco.mj_resetDataKeyframe(self.model, self.data, 0)
        mujoco.mj_forward(self.model, self.data)
        self.start_energy = self.energy
        self.alive, self.quickest = True, float("inf")

    @property
    def energy(self):
        return float(self.data.energy.sum())

    def step(self):
        from time import perf_counter

        if not self.alive:
            return
        begin = perf_counter()
        mujoco.mj_step(self.model, self.data)
        self.quickest = min(self.quickest, perf_counter() - begin)
        self.alive = bool(np.max(np.abs(self.data.qvel)) < TOO_FAST[self.scene])

    @property
    def cost(self):
        """Milliseconds of computing for a second of simulation, from the quickest step so far."""
        return 1e3 * self.quickest / self.model.opt.timestep if self.data.time else 0.0

    @property
    def figure(self):
        """What the case is judged by: energy error (J), wheel speed (rad/s), displacement (mm)."""
        if self.scene == "double_pendulum":
            return self.energy - self.start_energy
        return (
            float(self.data.qvel[0])
            if self.scene == "stiff_servo"
            else 1e3 * float(self.data.qpos[0])
        )


# %%
@experiment
def who_survives():
    import platform

    print(
        f"MuJoCo {mujoco.__version__}, NumPy {np.__version__}, {platform.machine()}; no randomness in these runs"
    )
    print(f"{'':<14}{'stiff servo, 10 ms':>24}{'stiff spring, 10 ms':>24}")
    survived = {}
    for name in INTEGRATORS:
        for scene in ("stiff_servo", "stiff_spring"):
            runner = Runner(scene, name)
            for _ in range(200):
                runner.step()
            survived[scene, name] = runner.alive
        words = [
            "holds" if survived[s, name] else "diverges" for s in ("stiff_servo", "stiff_spring")
        ]
        print(f"{name:<14}{words[0]:>24}{words[1]:>24}")
    return survived


# %%
@experiment
def energy_drift():
    steps = (0.0025, 0.005, 0.01, 0.02)
    worst, cost = {}, {}
    for name in INTEGRATORS:
        for dt in steps:
            runner = Runner("double_pendulum", name, dt)
            error = 0.0
            for _ in range(round(5 / dt)):
                runner.step()
                error = max(error, abs(runner.figure))
            worst[name, dt], cost[name, dt] = error, runner.cost
    print(
        "double pendulum, 5 s: largest energy error (J), and ms of computing per simulated second"
    )
    print(f"{'':<14}" + "".join(f"{f'dt = {1e3 * dt:g} ms':>20}" for dt in steps))
    for name in INTEGRATORS:
        cells = (f"{worst[name, dt]:.2e} ({cost[name, dt]:.2f})" for dt in steps)
        print(f"{name:<14}" + "".join(f"{cell:>20}" for cell in cells))
    _, plots = plt.subplots(1, 2, figsize=(9.6, 3.9), layout="constrained", sharey=True)
    from matplotlib.ticker import NullFormatter, ScalarFormatter

    style.dress(plots[0], "Error against step size", "step (ms)", "largest energy error (J)")
    style.dress(plots[1], "Error against cost", "ms per simulated second", "")
    for k, name in enumerate(INTEGRATORS):
        size = 11 - 2 * k  # markers of curves that coincide lie inside one another
        look = {"marker": style.MARKERS[k], "markersize": size, "fillstyle": "none", "label": name}
        errors = [worst[name, dt] for dt in steps]
        plots[0].loglog([1e3 * dt for dt in steps], errors, **look)
        plots[1].loglog([cost[name, dt] for dt in steps], errors, **look)
    for plot, ticks in zip(plots, ((2.5, 5, 10, 20), (0.05, 0.1, 0.2, 0.5, 1, 2)), strict=True):
        plot.set_xticks(ticks)
        plot.xaxis.set_major_formatter(ScalarFormatter())
        plot.xaxis.set_minor_formatter(NullFormatter())
    plots[0].legend(fontsize=8)
    plt.show()
    return {"worst": worst, "cost": cost}


# %% [markdown]
# Read the table. Euler, implicitfast and discrete print *the same trajectory* on the double pendulum, and not by chance: the scene has no damping, no spring and no servo, so the matrices that tell them
# apart, $D$ and $K$ in $M + hD + h^2K$ (how the forces change with velocity and with position), are zero. `implicit` differs because the Coriolis terms are velocity-dependent too, and it alone takes their
# derivatives; that does not make it better here, and at 20 ms it is the worst by far. RK4 costs three to four times as much per step and is better by orders of magnitude: per unit of computing it wins here, and loses both stiff cases. *(our measurement; the reason: derivation from "Numerical integration")*
#
# Joint damping would not separate them either: Euler treats it implicitly. A velocity *servo* does, because its damping sits in an actuator. A spring does, because its force depends on the position.
#
# Under `discrete` one array changes its meaning: `qacc` is $(v_{t+h} - v_t)/h$, the step that will be taken, not the acceleration of this instant. *(established; measured here on the spring at rest, pulled by 1 mm:)*

# %%
@experiment
def meaning_of_qacc():
    found = {}
    for name in ("implicitfast", "discrete"):
        runner = Runner("stiff_spring", name)
        told = float(runner.data.qacc[0])
        before = float(runner.data.qvel[0])
        runner.step()
        taken = (float(runner.data.qvel[0]) - before) / runner.model.opt.timestep
        found[name] = (told, taken)
        print(
            f"{name:<14} qacc {told:9.3f} m/s^2, velocity change over the step {taken:9.3f} m/s^2"
        )
    exact = -1e5 * 0.001 - 9.81
    found["continuous"] = exact
    print(f"force over mass at this instant: {exact:.3f} m/s^2")
    return found


# %% [markdown]
# ## Break it
#
# All three cases at once, each under all five integrators; the picture shows the one that is selected. Move the step: where does the servo begin to fail under Euler, where the spring under RK4?
# Which integrator do you trust with the pendulum at 20 ms? A run that diverged stays where it was given up until *Reset*.

# %%
# Folded: the code of the lab, for those who want to see how it is made.
CASES = ("double_pendulum", "stiff_servo", "stiff_spring")
race = SimpleNamespace(shown="Euler", runners={})


def runners(scene):
    if scene not in race.runners:
        race.runners[scene] = {name: Runner(scene, name) for name in INTEGRATORS}
    return race.runners[scene]


def step_race(scene):
    def step(model, data):
        for runner in runners(scene).values():
            runner.step()
        shown = runners(scene)[race.shown]
        data.qpos[:], data.qvel[:] = shown.data.qpos, shown.data.qvel
        data.time += model.opt.timestep
        mujoco.mj_kinematics(model, data)

    return step


def reset_race(scene):
    def reset(model, data):
        for runner in runners(scene).values():
            runner.restart()

    return reset


def set_step(simulations, milliseconds):
    for scene, simulation in zip(CASES, simulations, strict=True):
        simulation.model.opt.timestep = 1e-3 * milliseconds
        for runner in runners(scene).values():
            runner.model.opt.timestep = 1e-3 * milliseconds


def show_integrator(simulations, name):
    race.shown = name
    for scene, simulation in zip(CASES, simulations, strict=True):
        simulation.data.qpos[:] = runners(scene)[name].data.qpos


def race_table(simulations):
    rows = []
    for name in INTEGRATORS:
        cells = []
        for scene in CASES:
            runner = runners(scene)[name]
            cells.append(f"{runner.cost:.2f}" if runner.alive else "diverged")
        rows.append((name, *cells))
    return rows


def race_traces(scene):
    bound = {"double_pendulum": 8.0, "stiff_servo": 0.3, "stiff_spring": 3.0}[scene]

    def trace(name):
        return lambda simulations: float(np.clip(runners(scene)[name].figure, -bound, bound))

    return {name: trace(name) for name in INTEGRATORS}


lab_integrators = Lab(
    [
        Simulation(
            "double_pendulum",
            title="no friction",
            step=step_race("double_pendulum"),
            reset=reset_race("double_pendulum"),
            camera={"azimuth": 90, "elevation": -5, "distance": 3.2, "lookat": (0, 0, 1.0)},
        ),
        Simulation(
            "stiff_servo",
            title="stiff velocity servo",
            step=step_race("stiff_servo"),
            reset=reset_race("stiff_servo"),
            camera={"azimuth": 75, "elevation": -8, "distance": 1.3, "lookat": (0, 0, 0.36)},
        ),
        Simulation(
            "stiff_spring",
            title="stiff spring",
            step=step_race("stiff_spring"),
            reset=reset_race("stiff_spring"),
            camera={"azimuth": 90, "elevation": -5, "distance": 1.5, "lookat": (0, 0, 0.36)},
        ),
    ],
    title="Five integrators, three cases",
    note="The picture shows the integrator selected; curves are cut off at the charts' edges. Table: ms of computing per simulated second.",
    controls=[
        Slider("step", low=1, high=20, value=10, step=1, unit="ms", on_change=set_step, of="all"),
        Select(
            "shown", options=list(INTEGRATORS), value="Euler", on_change=show_integrator, of="all"
        ),
    ],
    charts=[
        StripChart(
            "double pendulum: energy error (J)",
            race_traces("double_pendulum"),
            window=5.0,
            limits=(-8.5, 8.5),
            of="all",
        ),
        StripChart(
            "stiff servo: wheel speed (rad/s)",
            race_traces("stiff_servo"),
            window=2.0,
            limits=(-0.32, 0.32),
            of="all",
        ),
        StripChart(
            "stiff spring: displacement (mm)",
            race_traces("stiff_spring"),
            window=2.0,
            limits=(-3.2, 3.2),
            of="all",
        ),
    ],
    tables=[
        Table("cost", race_table, columns=("", "pendulum", "servo", "spring"), of="all"),
    ],
    height=260,
    width=300,
    speed=0.25,
)
lab_integrators


# %% [markdown]
# ## Common failures
#
# | symptom | cause | cure |
# |---|---|---|
# | `xpos`, a sensor or a contact read right after `mj_step` disagrees with `qpos` | the caches belong to the state before the step (under RK4: to an inner stage) | `mj_forward` (or the cheapest sufficient stage) before you read; or read *between* `mj_step1` and `mj_step2` |
# | a controller lags: it is well tuned on paper and oscillates in simulation | it reads what `mj_step` left and acts on the next step: one step late | `mj_step1`, set `ctrl`, `mj_step2`; or `mjcb_control` |
# | a restored run follows for a while, then drifts away | inputs, activations or the warm start were not saved | `mjSTATE_INTEGRATION`, then `mj_forward` |
# | RK4 is selected and the energy drifts like Euler's | `mj_step1` + `mj_step2` integrates with Euler, silently | `mj_step`, with the controller in `mjcb_control` |
# | a push that was meant to last one step goes on for ever, or acts twice | `xfrc_applied` and `qfrc_applied` persist: the step reads them and does not clear them | set them anew, or to zero, before every step |
# | the picture does not move after you wrote `qpos` | the renderer draws `xpos`, `geom_xpos`: caches | `mj_forward` before rendering |
#
# The fifth, measured: a torque written once and never cleared.

# %%
@experiment
def persisting_push():
    model = load("servo_arm")
    model.opt.gravity[:] = 0
    found = {}
    for cleared in (True, False):
        data = mujoco.MjData(model)
        data.xfrc_applied[
            model.body("filter").id, 4
        ] = -0.5  # N m about the joint's axis, for one step
        mujoco.mj_step(model, data)
        if cleared:
            data.xfrc_applied[:] = 0
        mujoco.mj_step(model, data)
        found["cleared" if cleared else "left"] = float(data.joint("filter").qvel[0])
        print(
            f"after two steps, push {'cleared' if cleared else 'left in place'} after the first: {data.joint('filter').qvel[0]:.4f} rad/s"
        )
    return found


# %% [markdown]
# ## Knowledge check
#
# Type a letter in quotes (`"A"`), or a number.
#
# 1. `makes_xpos_current`: you have written a new `qpos`. After which call does `xpos` belong to it, with the state and the time left as they are?
#    - **A** none is needed, `xpos` is computed when it is read;
#    - **B** `mj_step`;
#    - **C** `mj_forward`;
#    - **D** `mj_setState`.
# 2. `resume_needs`: what does a bit-exact resume need beyond `qpos` and `qvel`?
#    - **A** `xpos` and `qacc`;
#    - **B** activations, time, the inputs and the solver's warm start;
#    - **C** activations and time;
#    - **D** nothing.
# 3. `skip_after_ctrl`: only `ctrl` changed. Which `skipstage` does the least work that is enough?
#    - **A** `mjSTAGE_NONE`;
#    - **B** `mjSTAGE_POS`;
#    - **C** `mjSTAGE_ACC`;
#    - **D** `mjSTAGE_VEL`.
# 4. `split_step_under_rk4`: RK4 is selected and your loop calls `mj_step1`, `mj_step2`. What happens?
#    - **A** it integrates with Euler's rule and says nothing;
#    - **B** `mj_step2` raises an error;
#    - **C** RK4, with the controller called four times;
#    - **D** the same as `mj_step`.
# 5. `activation_after_tau`: the activation of a filter one time constant after its control went from 0 to 1 (exact, three digits).

# %% solution="knowledge_check"
makes_xpos_current = None  # a letter in quotes
resume_needs = None  # a letter
skip_after_ctrl = None  # a letter
split_step_under_rk4 = None  # a letter
activation_after_tau = None  # a number
### BEGIN SOLUTION
makes_xpos_current = "C"
resume_needs = "B"
skip_after_ctrl = "D"
split_step_under_rk4 = "A"
activation_after_tau = 0.632
### END SOLUTION

# %% test="knowledge_check"
# Hidden tests: the four letters and the number.

# %% [markdown]
# ## On the real robot
#
# A robot has no stale caches; it has *latency*, which is worse, because nobody can call `mj_forward` on it. Joint encoders are sampled at one instant, the camera image is of another, and the torque you send
# now acts a millisecond or two later. Three habits carry over from this lesson:
#
# * **Stamp everything.** A number without the instant it belongs to is half a number. Log the time of measurement, not of arrival.
# * **Simulate the delay you have, not the one your loop happens to have.** A controller that is late by one simulation step by accident will be tuned around a delay that changes with the time step. Put the
#   real delay in on purpose (actuator and sensor `delay`, `nsample`), and none by accident.
# * **Model the actuator's lag.** Motor drivers, valves and muscles filter. The time constant can be measured by a step in the command: the time to 63 % of the final force.

# %%
progress()

# %% [markdown]
# ## Takeaways
#
# * `data` is a sheet that recalculates when told to. State and inputs are written, everything else is derived, and each derived array belongs to the instant of its last evaluation.
# * Five stages in a fixed order: position, velocity, actuation, acceleration, constraint. `mj_step` evaluates, *then* integrates: afterwards the caches are one step old.
# * Save `mjSTATE_INTEGRATION`, restore it, call `mj_forward`: bit for bit the same run.
# * Forces go through transposes: $P^T f$, $J^T x$, $J^T \lambda$. Power is the same on both sides, and that is how to check them.
# * A controller acts between `mj_step1` and `mj_step2`, or in `mjcb_control`; the split step knows no RK4.
# * An integrator is named by what it takes at the end of the step: nothing (RK4), joint damping (Euler), velocity forces (implicit, implicitfast), positions too (discrete).
#
# When `progress()` above shows what you expect, pack the notebook and hand it in:

# %%
submit()

# %% [markdown]
# ## Sources
#
# * K. M. Lynch and F. C. Park, *Modern Robotics*, Cambridge University Press 2017: chapter 8 (dynamics of open chains: mass matrix, recursive Newton-Euler; section 8.7 on constrained dynamics), section 11.2 (error dynamics, time constants).
# * MuJoCo 4.0 documentation, "Computation": "General framework", "Actuation model" (transmission, stateful actuators, force generation), "Passive forces", "Numerical integration" (the five integrators), "Constraint model",
#   "Simulation pipeline", "Reproducibility".
# * MuJoCo 4.0 documentation, "Programming", chapter "Simulation": "Simulation loop", "State and control", "Forward dynamics", "Jacobians".
# * MuJoCo 4.0 documentation, "XML reference": `option/integrator`, `actuator/position`, `actuator/general` (`dyntype`), `equality/joint` (`solref`, `solimp`).
