# %% [markdown]
# ## The question
#
# A log file of a robot cell says that the gripper's orientation was `[0, 0, 0.38, 0.92]`. Nothing
# else: four numbers. Was it turned by 45 degrees about the vertical axis, or by half a turn about a
# tilted one? Both readings are unit quaternions. Both make a sensible picture. Only one of them
# happened, and the numbers cannot say which.
#
# The solid gripper below stands as the log's author meant it. The transparent one is what a reader
# sees who takes the same four numbers in the other order. Move the sliders and look for a pose in
# which the two readers agree: there is one within reach, and the read-outs show why.

# %%
def arm_with_gripper():
    """The arm of this lesson with the gripper on its mount."""
    spec = mujoco.MjSpec.from_file(str(model_path("arm")))
    gripper = mujoco.MjSpec.from_file(str(model_path("gripper")))
    gripper.option = spec.option  # two sets of options would clash: a topic of this lesson
    spec.delete(spec.key("home"))  # seven numbers no longer fill qpos
    gripper.delete(gripper.light("gripper_light"))
    spec.attach(gripper, prefix="gripper_", site=spec.site("mount"))
    return spec.compile()


def bent_arm(model, data):
    data.joint("joint_2").qpos = 0.4
    data.joint("joint_4").qpos = 0.4 - np.pi / 2


def turn_joint(joint, start=0.0):
    def on_change(model, data, degrees):
        data.joint(joint).qpos = start + np.radians(degrees)

    return on_change


def hand(data):
    """The gripper's orientation in the world as a SciPy rotation."""
    quat = data.body("gripper_hand").xquat
    return scipy.spatial.transform.Rotation.from_quat(quat, scalar_first=True)


def ghost_of_the_wrong_reader(model, data, scene):
    from mjcourse.lab import ghost_body

    logged = hand(data).as_quat(canonical=True)  # (x, y, z, w), but read as (w, x, y, z):
    place = data.body("gripper_hand").xpos
    ghost_body(scene, model, data, "gripper_hand", place, logged, (0.84, 0.37, 0.0, 0.45))


@experiment
def lab_order():
    return Lab(
        arm_with_gripper(),
        title="One pose, four readings",
        note="Solid: the gripper. Transparent: the same four numbers, read with the scalar in front.",
        camera={"azimuth": 125, "elevation": -12, "distance": 0.9, "lookat": (0.5, 0, 0.78)},
        controls=[
            Slider("forearm", -160, 160, 0, 1, "deg", turn_joint("joint_5")),
            Slider("wrist", -30, 90, 0, 1, "deg", turn_joint("joint_6", -np.pi / 2)),
            Slider("flange", -170, 170, 45, 1, "deg", turn_joint("joint_7")),
        ],
        readouts=[
            Readout("(x, y, z, w)", lambda model, data: hand(data).as_quat(canonical=True)),
            Readout(
                "(w, x, y, z)",
                lambda model, data: hand(data).as_quat(canonical=True, scalar_first=True),
            ),
            Readout(
                "roll, pitch, yaw",
                lambda model, data: hand(data).as_euler("xyz", degrees=True),
                unit="deg",
                digits=1,
            ),
            Readout("axis x angle", lambda model, data: hand(data).as_rotvec(), unit="rad"),
            Readout(
                "angle",
                lambda model, data: np.degrees(hand(data).magnitude()),
                unit="deg",
                digits=1,
            ),
            Readout(
                "angle for the wrong reader",
                lambda model, data: np.degrees(
                    scipy.spatial.transform.Rotation.from_quat(
                        hand(data).as_quat(canonical=True), scalar_first=True
                    ).magnitude()
                ),
                unit="deg",
                digits=1,
            ),
        ],
        reset=bent_arm,
        draw=ghost_of_the_wrong_reader,
        overlays=("frames",),
        physics=False,
    )


lab_order

# %%
ask(
    "In the log's `[0, 0, 0.38, 0.92]`, which number is the scalar?",
    {
        "the first": "Then the gripper would have made half a turn: a scalar of 0 is the cosine of "
        "half of 180 degrees. MuJoCo writes its quaternions this way, so the reading is not "
        "absurd, only not what this log means.",
        "the last": "Yes, if the log keeps the convention of ROS, KDL and SciPy: x, y, z, w. Then "
        "it is a turn of about 45 degrees about z. The numbers alone do not tell; the interface "
        "has to.",
        "the largest": "The scalar is the largest entry for certain only below 90 degrees, and "
        "beyond 120 degrees never. Guessing by size works until a robot turns further.",
    },
    right="the last",
)

# %%
ask(
    "You write a push of 10 N into `xfrc_applied` once, before a loop of 500 steps. How long does it push?",
    {
        "one step": "That is how a function argument would behave. `xfrc_applied` is a field of "
        "`MjData`: MuJoCo reads it at every step and never clears it.",
        "500 steps": "Yes. Inputs stay as they are until somebody overwrites them; only a reset "
        "clears them.",
        "not at all": "It would be so if the field were an output that MuJoCo overwrites, such as "
        "`qfrc_actuator`. `xfrc_applied` is an input.",
    },
    right="500 steps",
)

# %%
ask(
    "Right after `mj_step` you read `data.body('hand').xpos`. Of which instant is it?",
    {
        "after the step": "`qpos` is of that instant; `xpos` was computed from the `qpos` before it.",
        "before the step": "Yes. `mj_step` computes everything from the old state, then moves the "
        "state. Frames and sensors stay one step behind until they are computed again.",
        "halfway": "No quantity of MuJoCo describes the middle of a step of the default integrator.",
    },
    right="before the step",
)


# %% [markdown]
# ## In plain words
#
# Inside MuJoCo everything is consistent. Trouble starts where its numbers leave it: a planner sends
# joint positions, a logger stores a pose, a controller reads a wrist sensor. At that boundary each
# number needs four labels that it does not carry along.
#
# - **Unit.** Metres and radians everywhere, but degrees where people set a value by eye.
# - **Order.** Which of four numbers is the scalar; which joint is number three.
# - **Frame.** Along whose axes, about which point, and whose force on whom.
# - **Lifetime.** Of which instant a value is, and who overwrites it when.
#
# An *environment* is the piece of code that writes the labels down and keeps them. It owns one
# boundary. Outside, the conventions of ROS and KDL hold: quaternions `(x, y, z, w)`, joints in the
# order of the kinematic chain, torques at the joint. Inside, MuJoCo keeps its own. Whoever crosses
# the boundary goes through one pair of functions, so that a convention is decided once.
#
# In this lesson you write these functions, one convention each, and a small environment is put
# together from them.

# %% [markdown]
# ## Mathematics
#
# **The same four numbers.** A rotation by the angle $\theta$ about the unit axis $a$ is the
# quaternion with scalar $w=\cos\frac\theta2$ and vector $(x,y,z)=a\sin\frac\theta2$ (*established*:
# Lynch and Park, appendix B.3). A list $[l_0,l_1,l_2,l_3]$ means
#
# $$ (x,y,z,w)=(l_0,l_1,l_2,l_3)\quad\text{at the interface},\qquad
#    (w,x,y,z)=(l_0,l_1,l_2,l_3)\quad\text{in MuJoCo.} $$
#
# Going in, the last entry moves to the front; coming out, the first moves to the end. Reading the
# log's list the first way gives $\theta=2\arccos 0.92$; reading it the second way gives
# $\theta=2\arccos 0=180°$ about $(0,0.38,0.92)$ (*derivation*).
#
# **A pose in another frame.** Let $A$, $B$, $C$ be frames, $p_{AB}$ the position (m) of $B$'s origin
# along $A$'s axes, $R_{AB}$ the rotation whose columns are $B$'s axes in $A$, and $q_{AB}$ its
# quaternion. With $\otimes$ the quaternion product and $q^{*}$ the conjugate,
#
# $$ p_{AC}=p_{AB}+R_{AB}\,p_{BC},\qquad q_{AC}=q_{AB}\otimes q_{BC}, $$
#
# $$ p_{BA}=-R_{AB}^{\mathsf T}\,p_{AB},\qquad q_{BA}=q_{AB}^{*}, $$
#
# (*established*: Lynch and Park, chapter 3.3). With the world $W$ in between, a body $T$ seen from a
# base $B$ is $p_{BT}=R_{WB}^{\mathsf T}(p_{WT}-p_{WB})$, $q_{BT}=q_{WB}^{*}\otimes q_{WT}$. The
# difference $p_{WT}-p_{WB}$ alone is still along the world's axes.
#
# **From a command to a joint torque.** An actuator has a control $u$, a force $f$ and a gear $k$. With
# $\operatorname{clip}$ to the range given, and $\tau$ (N m) the torque at the joint,
#
# $$ f=\operatorname{clip}_{\text{forcerange}}\bigl(\operatorname{clip}_{\text{ctrlrange}}(u)\bigr),\qquad
#    \tau=\operatorname{clip}_{\text{actfrcrange}}\Bigl(\sum k f\Bigr) $$
#
# for a motor of gain 1 (*established*: MuJoCo, "Actuation model", "Force limits"). The command for a
# wanted torque is therefore $u=\tau/k$, and it is $u$, not $\tau$, that `ctrlrange` limits. A position
# servo with the gains $k_p$ and $k_v$ compares its control with the *actuator's* length $k q$, not with
# the joint position $q$ (rad): $f=k_p(u-kq)-k_v k\dot q$. It holds still when $u=kq$ and $\dot q=0$
# (*derivation*).
#
# **A force at a point.** A force $F$ (N) at the world point $p$ and a torque $m$ (N m) do to a rigid
# body what the wrench
#
# $$ \bigl(F,\;m+(p-c)\times F\bigr) $$
#
# does at its centre of mass $c$, everything along the world's axes (*established*: Lynch and Park,
# chapter 3.4).
#
# **A load on a sensor.** MuJoCo's force sensor reports $s$, the force that holds the part beyond the
# sensor, along the axes of the sensor's site $S$. The load on the sensor is $-s$ (Newton's third
# law). Along the axes of another site $G$ it is $-R_{WG}^{\mathsf T}R_{WS}\,s$; the same for the
# torque, which stays about the sensor's origin (*derivation*). A weight of 2 kg at rest settles the
# sign, and the visible check of `ft_reading` does just that (*our measurement*).
#
# **Of which instant.** A step computes forces from the state $x_n$ and moves it to $x_{n+1}$. Frames
# and sensors are functions of a state, kept in arrays. After `mj_step` the arrays hold their values
# at $x_n$. Split the step in the middle and turn the halves round, and they hold position and
# velocity quantities at $x_{n+1}$, with accelerations and forces of the step from $x_n$ to $x_{n+1}$
# (*established*: MuJoCo, "Simulation loop").

# %% [markdown]
# ## In MuJoCo
#
# | what | where | documentation |
# |---|---|---|
# | angles in MJCF | degrees unless `compiler/angle="radian"`; in `MjModel` always radians | XML reference, `compiler` |
# | camera `fovy`, azimuth, elevation | degrees, always | XML reference, `camera`; `MjvCamera` |
# | world poses | `data.xpos`, `xquat`, `site_xpos`, `site_xmat` | "Coordinate frames and transformations" |
# | poses of a model's elements | `body_pos`, `body_quat`, `site_pos`: in the parent body | "Coordinate frames" |
# | centre of mass | `data.xipos`, not `xpos` | "Coordinate frames and transformations" |
# | place of a joint | `jnt_qposadr` in `qpos`, `jnt_dofadr` in `qvel` and every force | "Floating objects" |
# | drive torque at the joint | `data.qfrc_actuator` | "Actuation model" |
# | which actuators act | `opt.disableactuator`: a set bit *disables* a group | "Group disable" |
# | pushes | `xfrc_applied` (body, world axes, at the centre of mass), `qfrc_applied` (joints) | "State and control" |
# | options | `model.opt`, one set for everything | "Options" |
# | putting models together | `MjSpec.attach`; the parent's options stay | "Attachment", "Attribute Merging" |
# | half steps | `mj_step1`, `mj_step2` | "Simulation loop" |
#
# Two traps of the loader deserve a line. A spec that is attached with other `<option>` values loses
# them, with a warning at compile time; the experiment below shows what that costs. And `model.opt`
# belongs to the compiled model: what you change there is gone with the next compile.

# %% [markdown]
# ## Build it
#
# Twelve exercises, fourteen short functions, from the boundary inwards. Quaternions are `(x, y, z, w)` in every
# argument and result; `data` is up to date when your function is called; an unknown name raises
# `KeyError` and another bad value `ValueError`, and both change nothing. MuJoCo and SciPy may be used
# throughout.

# %% [markdown]
# ### `quaternion_order`: the boundary
#
# Write `wxyz_from_xyzw(quat)` and `xyzw_from_wxyz(quat)`: one for the way in, one for the way out.
# `quat` has the shape `(..., 4)`: one quaternion or any batch of them, as an array or nested lists.
# Return a new array of the same shape; the argument stays as it is.

# %% solution="quaternion_order"
def wxyz_from_xyzw(quat):
    """(..., 4) scalar last -> (..., 4) scalar first."""
    ### BEGIN SOLUTION
    return np.roll(np.asarray(quat, float), 1, axis=-1)
    ### END SOLUTION


def xyzw_from_wxyz(quat):
    """(..., 4) scalar first -> (..., 4) scalar last."""
    ### BEGIN SOLUTION
    return np.roll(np.asarray(quat, float), -1, axis=-1)
    ### END SOLUTION


# %% check="quaternion_order"
@visible_check("quaternion_order")
def check_quaternion_order(check):
    Rotation = scipy.spatial.transform.Rotation
    turns = Rotation.random(10, rng=1)
    last, first = turns.as_quat(), turns.as_quat(scalar_first=True)
    check.close("wxyz_from_xyzw vs SciPy's scalar_first", wxyz_from_xyzw(last), first)
    check.close("xyzw_from_wxyz vs SciPy's scalar_first", xyzw_from_wxyz(first), last)
    batch = last.reshape(5, 2, 4)
    check.close("a batch (5, 2, 4)", wxyz_from_xyzw(batch), first.reshape(5, 2, 4))
    check.close("a list", wxyz_from_xyzw([0, 0, 0, 1]), [1, 0, 0, 0])
    result = wxyz_from_xyzw(last[0])
    check.true(
        "a new array",
        not np.may_share_memory(np.asarray(result), last),
        "the result shares memory with the argument; return a copy",
    )


# %% test="quaternion_order"
# Hidden tests: single quaternions, batches, lists and integers, new arrays.

# %% [markdown]
# ### `compose_pose`: a pose in the parent's parent
#
# A pose is `(pos, quat)`: position in metres, quaternion `(x, y, z, w)`. `parent` is given in some
# frame, `child` in the parent's frame. Return the child's pose in the frame in which the parent is
# given.

# %% solution="compose_pose"
def compose_pose(parent, child):
    """(pos, quat) of the child in the frame that the parent is given in.

    parent: (pos (3,), quat (4,)) in an outer frame; child: the same in the parent's frame.
    """
    ### BEGIN SOLUTION
    from scipy.spatial.transform import Rotation

    (parent_pos, parent_quat), (child_pos, child_quat) = parent, child
    turn = Rotation.from_quat(parent_quat)
    pos = np.asarray(parent_pos, float) + turn.apply(child_pos)
    return pos, (turn * Rotation.from_quat(child_quat)).as_quat()
    ### END SOLUTION


# %% check="compose_pose"
@visible_check("compose_pose")
def check_compose_pose(check):
    Rotation = scipy.spatial.transform.Rotation
    rng = np.random.default_rng(2)
    for _ in range(10):
        places, turns = rng.uniform(-1, 1, (2, 3)), Rotation.random(2, rng=rng)
        spec = mujoco.MjSpec()  # two nested bodies: MuJoCo composes for us
        body = spec.worldbody
        for pos, turn in zip(places, turns, strict=True):
            body = body.add_body(pos=pos, quat=turn.as_quat(scalar_first=True))
        model = spec.compile()
        data = mujoco.MjData(model)
        mujoco.mj_kinematics(model, data)
        pos, quat = compose_pose(*zip(places, turns.as_quat(), strict=True))
        check.close("position vs nested bodies", pos, data.xpos[2])
        check.true(
            "the child's position is turned",
            np.abs(pos - places[0] - places[1]).max() > 1e-6,
            "it is added as it stands, but it is given along the parent's axes",
        )
        check.true(
            "by the parent",
            np.abs(pos - places[1] - turns[1].apply(places[0])).max() > 1e-6,
            "this is the parent composed into the child",
        )
        wanted = Rotation.from_quat(data.xquat[2], scalar_first=True).as_quat()
        check.close("quaternion vs nested bodies", quat, wanted, up_to_sign=True)


# %% test="compose_pose"
# Hidden tests: random poses, identities, half turns, lists, inputs left as they were.

# %% [markdown]
# ### `relative_pose`: one body seen from another
#
# Write `body_pose_in(model, data, base, body)`: the pose of the body named `body` along the axes and
# from the origin of the body named `base`, as `(pos, quat)` with `(x, y, z, w)`. `base="world"` gives
# the world pose; a body seen from itself is the identity.

# %% solution="relative_pose"
def body_pose_in(model, data, base, body):
    """(pos (3,) in m, quat (4,) as (x, y, z, w)) of `body` in the frame of `base`."""
    ### BEGIN SOLUTION
    from scipy.spatial.transform import Rotation

    b, t = data.body(base), data.body(body)
    back = Rotation.from_quat(b.xquat, scalar_first=True).inv()
    quat = (back * Rotation.from_quat(t.xquat, scalar_first=True)).as_quat()
    return back.apply(t.xpos - b.xpos), quat
    ### END SOLUTION


# %% check="relative_pose"
@visible_check("relative_pose")
def check_relative_pose(check):
    Rotation = scipy.spatial.transform.Rotation
    spec = mujoco.MjSpec.from_file(str(model_path("arm")))
    for what, kind in (("pos", "FRAMEPOS"), ("quat", "FRAMEQUAT")):
        spec.add_sensor(  # MuJoCo's frame sensors can look from another body
            name=what,
            type=getattr(mujoco.mjtSensor, f"mjSENS_{kind}"),
            objtype=mujoco.mjtObj.mjOBJ_XBODY,
            objname="flange",
            reftype=mujoco.mjtObj.mjOBJ_XBODY,
            refname="link_3",
        )
    model = spec.compile()
    data = mujoco.MjData(model)
    rng = np.random.default_rng(3)
    for _ in range(5):
        data.qpos[:] = rng.uniform(-1.5, 1.5, model.nq)
        mujoco.mj_forward(model, data)
        pos, quat = body_pose_in(model, data, "link_3", "flange")
        check.close("position vs framepos", pos, data.sensor("pos").data)
        apart = data.body("flange").xpos - data.body("link_3").xpos
        check.true(
            "along the base's axes",
            np.abs(pos - apart).max() > 1e-6,
            "this is the difference along the world's axes: turn it into the base's",
        )
        check.true(
            "seen from the base",
            np.abs(pos + data.body("flange").xmat.reshape(3, 3).T @ apart).max() > 1e-6,
            "this is the base seen from the body: the inverse of what is asked for",
        )
        wanted = Rotation.from_quat(data.sensor("quat").data, scalar_first=True).as_quat()
        check.close("quaternion vs framequat", quat, wanted, up_to_sign=True)
        pos, _ = body_pose_in(model, data, "world", "flange")
        check.close("from the world", pos, data.body("flange").xpos)
    check.raises("an unknown body", KeyError, body_pose_in, model, data, "base", "no_such_body")


# %% test="relative_pose"
# Hidden tests: pairs of bodies in both directions, base and body the same, the world, unknown names.

# %% [markdown]
# ### `read_ports`: what the joints measure
#
# Write `read_joint_ports(model, data, joint_names)`. The names are those of a chain, from base to
# tip; the model may declare its joints in another order and put free bodies before them. Return a
# dict of three arrays of shape `(n,)`, in the order of the names, with the keys
#
# - `"jnt_pos_msr"`: positions (rad, or m for a slide),
# - `"jnt_vel_msr"`: velocities (rad/s, m/s),
# - `"jnt_trq_msr"`: what the drives exert at the joints (N m, N), gears and limits included.
#
# The arrays are copies: a reader must not find them changed at the next step. An unknown name raises
# a `KeyError` that says which name it was.

# %% solution="read_ports"
def read_joint_ports(model, data, joint_names):
    """{"jnt_pos_msr": (n,), "jnt_vel_msr": (n,), "jnt_trq_msr": (n,)} in the order of the names."""
    ### BEGIN SOLUTION
    ids = [model.joint(name).id for name in joint_names]
    q, v = model.jnt_qposadr[ids], model.jnt_dofadr[ids]
    return {
        "jnt_pos_msr": data.qpos[q],
        "jnt_vel_msr": data.qvel[v],
        "jnt_trq_msr": data.qfrc_actuator[v],
    }
    ### END SOLUTION


# %% check="read_ports"
@visible_check("read_ports")
def check_read_ports(check):
    chain = ["platter", "tilt", *(f"arm_joint_{i}" for i in range(1, 8))]
    spec = mujoco.MjSpec.from_file(str(model_path("arm_turntable")))
    for kind in ("JOINTPOS", "JOINTVEL", "JOINTACTFRC"):
        for name in chain:  # MuJoCo's own sensors, nine of each kind
            spec.add_sensor(
                type=getattr(mujoco.mjtSensor, f"mjSENS_{kind}"),
                objtype=mujoco.mjtObj.mjOBJ_JOINT,
                objname=name,
            )
    model = spec.compile()
    data = mujoco.MjData(model)
    rng = np.random.default_rng(4)
    data.qpos[7:] = rng.uniform(-1, 1, model.nq - 7)
    data.qvel[:] = rng.uniform(-1, 1, model.nv)
    data.ctrl[:] = rng.uniform(-1, 1, model.nu)
    mujoco.mj_forward(model, data)
    ports = read_joint_ports(model, data, chain)
    sensed = data.sensordata[-27:].reshape(3, 9)
    for key, wanted in zip(("jnt_pos_msr", "jnt_vel_msr", "jnt_trq_msr"), sensed, strict=True):
        check.close(f"{key} vs joint sensors", ports[key], wanted)
    check.true(
        "addresses of the joints",
        np.any(ports["jnt_pos_msr"] != data.qpos[:9]),
        "these are the first entries of qpos, but a free body comes before the arm",
    )
    check.true(
        "torques at the joints",
        not np.isin(ports["jnt_trq_msr"], data.actuator_force).all(),
        "these are numbers of actuator_force: before the gear, and counted by actuator",
    )
    check.true(
        "copies",
        not np.may_share_memory(np.asarray(ports["jnt_pos_msr"]), data.qpos),
        "the port is a view into data",
    )
    check.raises("an unknown joint", KeyError, read_joint_ports, model, data, ["elbow"])


# %% test="read_ports"
# Hidden tests: free bodies before the arm, names in any order, copies, unknown names.

# %% [markdown]
# ### `write_torque`: a torque through a gear
#
# Write `write_torque(model, data, actuator, torque)`. The actuator is a motor of gain 1 on a joint;
# its gear may be any number but 0, negative too. Write its control so that the joint receives
# `torque` (N m), or as near to it as the limits allow. The control that you write lies within
# `ctrlrange` where that is in force (`actuator_ctrllimited` says so). Return a `bool`: whether the
# command was clamped to `ctrlrange`. A command exactly at a limit was not clamped, and `forcerange`
# does not count for the flag. No other control changes.

# %% solution="write_torque"
def write_torque(model, data, actuator, torque):
    """Write `data.ctrl`, within `ctrlrange`, for a joint torque in N m; return whether it was cut.

    The result is a bool.
    """
    ### BEGIN SOLUTION
    i = model.actuator(actuator).id
    wanted = torque / model.actuator_gear[i, 0]
    low, high = model.actuator_ctrlrange[i]
    command = np.clip(wanted, low, high) if model.actuator_ctrllimited[i] else wanted
    data.ctrl[i] = command
    return bool(command != wanted)
    ### END SOLUTION


# %% check="write_torque"
@visible_check("write_torque")
def check_write_torque(check):
    model = load("arm")
    model.opt.disableactuator = 0b011  # torque mode
    data = mujoco.MjData(model)
    before = data.ctrl.copy()
    for joint, torque in (("joint_1", 25.0), ("joint_3", 25.0), ("joint_6", -7.5)):
        clamped = write_torque(model, data, f"{joint}_torque", torque)
        mujoco.mj_forward(model, data)
        check.close("torque at the joint", data.joint(joint).qfrc_actuator[0], torque)
        without_gear = np.clip(torque, *model.actuator(f"{joint}_torque").ctrlrange)
        check.true(
            "through the gear",
            data.actuator(f"{joint}_torque").ctrl[0] != without_gear,
            "the gear is left out: the joint receives gear times the control",
        )
        check.equal("not clamped within reach", clamped, False)
    clamped = write_torque(model, data, "joint_3_torque", 500.0)
    mujoco.mj_forward(model, data)
    check.close("beyond the limit", data.joint("joint_3").qfrc_actuator[0], 110.0)
    low, high = model.actuator("joint_3_torque").ctrlrange
    check.true(
        "the control itself is within ctrlrange",
        low <= data.actuator("joint_3_torque").ctrl[0] <= high,
        "ctrl holds more than the actuator takes: clamp what you write",
    )
    check.equal("clamped beyond the limit", clamped, True)
    others = [
        model.actuator(i).name[:7] not in ("joint_1", "joint_3", "joint_6") for i in range(21)
    ]
    check.close("other controls", data.ctrl[others], before[others])


# %% test="write_torque"
# Hidden tests: positive and negative gears, both limits and exactly at them, force limits, no limits.

# %% [markdown]
# ### `torque_limits`: what a joint can give
#
# Write `joint_force_limits(model, joint_names)`: for each joint the largest torque (N m) that its
# torque actuator can give in *both* directions. The torque actuator is the one in group 2 on that
# joint; its gain is 1. Four things count: its `ctrlrange`, its `forcerange`, its gear, and the
# joint's own limit `actuatorfrcrange` (in the model `jnt_actfrcrange`); the first two and the last
# only where the model says that they are in force. Nothing in force gives `inf`.

# %% solution="torque_limits"
def joint_force_limits(model, joint_names):
    """(n,) N m: available in both directions from the group-2 actuator of each joint."""
    ### BEGIN SOLUTION
    limits = []
    for name in joint_names:
        j = model.joint(name).id
        on_joint = model.actuator_trnid[:, 0] == j
        [i] = np.flatnonzero(on_joint & (model.actuator_group == 2))
        gear = abs(model.actuator_gear[i, 0])
        sides = [np.inf]
        if model.actuator_ctrllimited[i]:
            sides += list(gear * abs(model.actuator_ctrlrange[i]))
        if model.actuator_forcelimited[i]:
            sides += list(gear * abs(model.actuator_forcerange[i]))
        if model.jnt_actfrclimited[j]:
            sides += list(abs(model.jnt_actfrcrange[j]))
        limits.append(min(sides))
    return np.array(limits)
    ### END SOLUTION


# %% check="torque_limits"
@visible_check("torque_limits")
def check_torque_limits(check):
    model = load("arm")
    model.opt.disableactuator = 0b011  # torque mode
    joints = [f"joint_{i}" for i in range(1, 8)]
    reached = []
    for command in (1e6, -1e6):  # drive MuJoCo to the limit, both ways
        data = mujoco.MjData(model)
        data.ctrl[:] = command
        mujoco.mj_forward(model, data)
        reached.append(data.qfrc_actuator.copy())
    wanted = np.min(np.abs(reached), axis=0)
    limits = joint_force_limits(model, joints)
    check.close("vs MuJoCo driven to the limit", limits, wanted)
    gears = np.array([model.actuator(f"{joint}_torque").gear[0] for joint in joints])
    check.true(
        "times the gear",
        np.median(np.abs(limits * np.abs(gears) - wanted)) > 1e-6,
        "the gear is left out: the joint feels gear times what the actuator gives",
    )


# %% test="torque_limits"
# Hidden tests: gears, each kind of limit alone and together, uneven ranges, no limit.

# %% [markdown]
# ### `control_mode`: switching without a jump
#
# The position actuators of the arm are in group 0, the velocity actuators in group 1, the torque
# actuators in group 2; grippers and other things have higher groups. Write
# `set_control_mode(model, data, mode)` for `mode` `"position"`, `"velocity"` or `"torque"`: of groups
# 0 to 2 only that one acts, and the arm holds still at the switch. So the commands of *all three*
# groups are seeded: gear times the joint's current position, 0 and 0. The bits and the commands of
# other groups stay as they are. Another mode raises `ValueError`. Since only one group acts, what
# `qfrc_actuator` measures is the drive torque in every mode.

# %% solution="control_mode"
def set_control_mode(model, data, mode):
    """Set `opt.disableactuator` and the commands of groups 0 (position), 1, 2; returns None."""
    ### BEGIN SOLUTION
    modes = ("position", "velocity", "torque")
    if mode not in modes:
        raise ValueError(f"unknown mode {mode!r}; there are {', '.join(modes)}")
    others = 0b111 & ~(1 << modes.index(mode))
    model.opt.disableactuator = (model.opt.disableactuator & ~0b111) | others
    for i in range(model.nu):
        if model.actuator_group[i] == 0:
            address = model.jnt_qposadr[model.actuator_trnid[i, 0]]
            data.ctrl[i] = model.actuator_gear[i, 0] * data.qpos[address]
        elif model.actuator_group[i] in (1, 2):
            data.ctrl[i] = 0.0
    ### END SOLUTION


# %% check="control_mode"
@visible_check("control_mode")
def check_control_mode(check):
    model = load("arm")
    data = mujoco.MjData(model)
    data.qpos[:] = np.linspace(-0.8, 0.8, 7)
    data.ctrl[:] = 0.3
    mujoco.mj_forward(model, data)
    for mode, bits in (("torque", 0b011), ("velocity", 0b101), ("position", 0b110)):
        set_control_mode(model, data, mode)
        mujoco.mj_forward(model, data)
        check.equal(f"{mode}: disabled groups", bin(model.opt.disableactuator), bin(bits))
        check.true(
            "no drive torque after the switch",
            np.abs(data.qfrc_actuator).max() < 1e-9,
            "the arm is driven away: a command does not hold the pose",
        )
    servos = model.actuator_group == 0
    check.close(
        "position commands vs actuator_length", data.ctrl[servos], data.actuator_length[servos]
    )
    model.opt.disableactuator |= 1 << 5
    set_control_mode(model, data, "torque")
    check.equal("another group's bit", bool(model.opt.disableactuator >> 5 & 1), True)
    check.raises("an unknown mode", ValueError, set_control_mode, model, data, "impedance")


# %% test="control_mode"
# Hidden tests: every switch, other groups' bits and commands, gears, unknown modes change nothing.

# %% [markdown]
# ### `wrench`: a push at a point
#
# Write `wrench_at_com(model, data, body, force, torque, point)`: a force (N) that acts at a world
# point and a torque (N m), both along the world's axes, as the equivalent wrench at the body's centre
# of mass; shape `(6,)`, force first. Then write `apply_wrench` with the same arguments: it overwrites
# the body's row of `data.xfrc_applied` with that wrench and returns None.

# %% solution="wrench"
def wrench_at_com(model, data, body, force, torque, point):
    """(6,): force (N) and moment about the body's centre of mass (N m), world axes."""
    ### BEGIN SOLUTION
    lever = np.asarray(point, float) - data.xipos[model.body(body).id]
    return np.concatenate([force, np.asarray(torque, float) + np.cross(lever, force)])
    ### END SOLUTION


def apply_wrench(model, data, body, force, torque, point):
    """Overwrite the body's row of `data.xfrc_applied`; returns None."""
    ### BEGIN SOLUTION
    row = wrench_at_com(model, data, body, force, torque, point)
    data.xfrc_applied[model.body(body).id] = row
    ### END SOLUTION


# %% check="wrench"
@visible_check("wrench")
def check_wrench(check):
    model = load("arm")
    data = mujoco.MjData(model)
    rng = np.random.default_rng(5)
    data.qpos[:] = rng.uniform(-1, 1, 7)
    mujoco.mj_forward(model, data)
    body = model.body("link_5").id
    for _ in range(5):
        force, torque = rng.normal(size=3), rng.normal(size=3)
        point = data.xpos[body] + rng.uniform(-0.2, 0.2, 3)
        wanted, got = np.zeros(7), np.zeros(7)
        mujoco.mj_applyFT(model, data, force, torque, point, body, wanted)
        wrench = np.array(wrench_at_com(model, data, "link_5", force, torque, point), float)
        com = data.xipos[body]
        mujoco.mj_applyFT(model, data, wrench[:3], wrench[3:], com, body, got)
        check.close("joint forces vs mj_applyFT at the point", got, wanted)
        from_frame = torque + np.cross(point - data.xpos[body], force)
        check.true(
            "lever arm from the centre of mass",
            np.abs(wrench[3:] - from_frame).max() > 1e-6,
            "it starts at the origin of the body's frame (xpos)",
        )
        check.true(
            "lever arm x force",
            np.abs(wrench[3:] - torque - np.cross(force, point - com)).max() > 1e-6,
            "the two factors are exchanged, which changes the sign",
        )
        apply_wrench(model, data, "link_5", force, torque, point)
        check.close("the body's row", data.xfrc_applied[body], wrench)
    check.close("the other rows", np.delete(data.xfrc_applied, body, axis=0), np.zeros((9, 6)))


# %% test="wrench"
# Hidden tests: bodies whose centre of mass is off their frame, the point at the centre of mass, lists.

# %% [markdown]
# ### `ft_reading`: the load on a wrist sensor
#
# Write `ft_wrench(model, data, force_sensor, torque_sensor, frame_site=None)`. The two sensors sit on
# one site. Return the load on the sensor, force then torque, shape `(6,)`: what a physical sensor
# would report, which is the negative of MuJoCo's reading. Without `frame_site` it stays along the
# axes of the sensor's site; with the name of another site it is turned into that site's axes. Only
# turned: the torque stays about the sensor's origin. (The second frame is an extension of ours; many
# interfaces give the sensor's own frame only.)

# %% solution="ft_reading"
def ft_wrench(model, data, force_sensor, torque_sensor, frame_site=None):
    """(6,): force (N) and torque (N m) on the sensor, along the sensor's or `frame_site`'s axes."""
    ### BEGIN SOLUTION
    sensor = model.sensor(force_sensor)
    load = -np.array([data.sensor(force_sensor).data, data.sensor(torque_sensor).data])
    if frame_site is not None:
        sensor_axes = data.site_xmat[sensor.objid[0]].reshape(3, 3)
        site_axes = data.site(frame_site).xmat.reshape(3, 3)
        load = load @ sensor_axes.T @ site_axes  # each row: site' sensor row
    return load.ravel()
    ### END SOLUTION


# %% check="ft_reading"
@visible_check("ft_reading")
def check_ft_reading(check):
    model = mujoco.MjModel.from_xml_string("""
    <mujoco><compiler angle="degree"/><option gravity="0 0 -10"/><worldbody>
      <site name="level"/>
      <body name="hand" pos="0 0 1">
        <site name="ft" euler="0 30 0"/>
        <inertial pos="0 0 -0.1" mass="2" diaginertia="0.01 0.01 0.01"/>
      </body>
    </worldbody>
    <sensor><clock name="clock"/><force name="f" site="ft"/><torque name="t" site="ft"/></sensor>
    </mujoco>""")
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    level = [0, 0, -20, 0, 0, 0]  # 2 kg pull down with 20 N
    turned = np.array(ft_wrench(model, data, "f", "t", "level"), float)
    check.close("2 kg at rest, level axes", turned, level)
    tilted = [10, 0, -20 * np.cos(np.pi / 6), 0, 0, 0]
    check.close("2 kg at rest, the sensor's axes", ft_wrench(model, data, "f", "t"), tilted)
    for label, angle, looks in (
        ("turned into frame_site", 30, "it is still along the sensor's axes"),
        ("turned the right way", 60, "it is turned the wrong way: the transpose of the rotation"),
    ):
        left = 20 * np.array([np.sin(np.radians(angle)), 0, -np.cos(np.radians(angle))])
        check.true(label, np.abs(np.abs(turned[:3]) - np.abs(left)).max() > 1e-6, looks)


# %% test="ft_reading"
# Hidden tests: sensors anywhere in sensordata, moving arms, turned sites, known weights, unknown names.

# %% [markdown]
# ### `env_step`: a step that ends fresh
#
# Write `env_step(model, data)`: one time step, after which positions, frames and position and velocity
# sensors describe the new instant, while force and acceleration sensors belong to the step just
# taken. The caller has run `mj_forward` before the first call and may have changed `ctrl` since. (Is
# yours also right on an `MjData` on which nothing has been evaluated? Try it; it is not graded.)

# %% solution="env_step"
def env_step(model, data):
    """One step of `opt.timestep`; returns None."""
    ### BEGIN SOLUTION
    mujoco.mj_step2(model, data)
    mujoco.mj_step1(model, data)
    ### END SOLUTION


# %% check="env_step"
@visible_check("env_step")
def check_env_step(check):
    model = load("arm")
    data = mujoco.MjData(model)
    data.qvel[:] = 1.0
    mujoco.mj_forward(model, data)
    one = mujoco.MjData(model)
    one.qvel[:] = 1.0
    mujoco.mj_step(model, one)
    env_step(model, data)
    check.close("qpos vs mj_step", data.qpos, one.qpos)
    check.close("time vs mj_step", data.time, one.time)
    check.close("force sensors vs mj_step", data.sensordata, one.sensordata)
    mujoco.mj_kinematics(model, one)
    check.true(
        "xpos of the new qpos",
        np.abs(data.xpos - one.xpos).max() < 1e-12,
        "frames are still those of the instant before the step",
    )


# %% test="env_step"
# Hidden tests: state, frames and every kind of sensor after the step, commands changed before it.

# %% [markdown]
# ### `owned_inputs`: write yours, leave the rest
#
# Write `write_owned(model, data, ctrl, wrenches)`. `ctrl` maps actuator names to commands in the
# actuators' own control units (no gear here), clamped to `ctrlrange` where it is in force; `wrenches`
# maps body names to `(6,)` wrenches as `xfrc_applied` takes them. Control units are whatever the
# actuator's author chose: the gripper's command is an angle, 0 open and 0.82 rad closed; a motor of
# gear 4 turns a command of 1 into 4 N m.
#
# Write those and nothing else: other commands, other bodies' pushes (a viewer's drag also writes
# `xfrc_applied`) and `qfrc_applied` stay to the last bit. A zero wrench clears its row. An unknown name
# raises `KeyError` before anything has been written.

# %% solution="owned_inputs"
def write_owned(model, data, ctrl, wrenches):
    """Write the named controls (clamped) and rows of `xfrc_applied`; returns None."""
    ### BEGIN SOLUTION
    actuators = [(model.actuator(name).id, value) for name, value in ctrl.items()]
    bodies = [(model.body(name).id, wrench) for name, wrench in wrenches.items()]
    for i, value in actuators:
        if model.actuator_ctrllimited[i]:
            value = np.clip(value, *model.actuator_ctrlrange[i])
        data.ctrl[i] = value
    for i, wrench in bodies:
        data.xfrc_applied[i] = wrench
    ### END SOLUTION


# %% check="owned_inputs"
@visible_check("owned_inputs")
def check_owned_inputs(check):
    model = load("arm")
    data = mujoco.MjData(model)
    data.ctrl[:], data.qfrc_applied[:], data.xfrc_applied[1:] = 0.1, 0.2, 0.3
    push = np.arange(6.0)
    write_owned(model, data, {"joint_2_velocity": 9.0}, {"link_4": push, "link_6": np.zeros(6)})
    ctrl = np.full(model.nu, 0.1)
    ctrl[model.actuator("joint_2_velocity").id] = 1.5
    check.close("the named command, clamped; the others kept", data.ctrl, ctrl)
    check.close("the named wrench", data.body("link_4").xfrc_applied, push)
    check.close("a zero wrench clears", data.body("link_6").xfrc_applied, np.zeros(6))
    check.true(
        "another body's push",
        data.body("link_2").xfrc_applied == 0.3,
        "a row that was not named has changed",
    )
    check.true("qfrc_applied", data.qfrc_applied == 0.2, "it has changed; it is not yours to write")
    check.raises("an unknown name", KeyError, write_owned, model, data, {"gripper": 1.0}, {})


# %% test="owned_inputs"
# Hidden tests: named entries clamped and written, everything else identical to the last bit.

# %% [markdown]
# ### `carry_state`: a rebuild is not a reset
#
# When an object is added to the scene, the model is compiled anew and every address behind it moves.
# Write `carry_state(old_model, old_data, new_model, new_data)`: bring the new data to where the old
# one is.
#
# - `time` goes over.
# - `qpos` and `qvel` go over joint by joint, by *name*, where the new joint has the same type. Mind
#   the sizes: free 7 and 6, ball 4 and 3, slide and hinge 1 and 1.
# - `ctrl` goes over by actuator name, and `act` too where both actuators have equally many (the
#   place of an actuator's activations is `actuator_actadr`, their number `actuator_actnum`).
# - A name that only one of the two models has is passed over: objects come and go.
# - Joints and actuators without a name cannot be told apart: they are not carried. Neither are
#   applied forces, which belong to whoever applies them.
# - What depends on the state is fresh afterwards, and `old_data` is untouched.

# %% solution="carry_state"
def carry_state(old_model, old_data, new_model, new_data):
    """Carry time, joints by name and type, commands and activations by name; returns None."""
    ### BEGIN SOLUTION
    sizes = {0: (7, 6), 1: (4, 3), 2: (1, 1), 3: (1, 1)}  # free, ball, slide, hinge

    def named(model, kind, count):
        names = (mujoco.mj_id2name(model, kind, i) for i in range(count))
        return {name: i for i, name in enumerate(names) if name}

    new_data.time = old_data.time
    joint = mujoco.mjtObj.mjOBJ_JOINT
    new_joints = named(new_model, joint, new_model.njnt)
    for name, i in named(old_model, joint, old_model.njnt).items():
        j = new_joints.get(name)
        if j is None or old_model.jnt_type[i] != new_model.jnt_type[j]:
            continue
        nq, nv = sizes[old_model.jnt_type[i]]
        q, p = old_model.jnt_qposadr[i], new_model.jnt_qposadr[j]
        v, u = old_model.jnt_dofadr[i], new_model.jnt_dofadr[j]
        new_data.qpos[p : p + nq] = old_data.qpos[q : q + nq]
        new_data.qvel[u : u + nv] = old_data.qvel[v : v + nv]
    actuator = mujoco.mjtObj.mjOBJ_ACTUATOR
    new_actuators = named(new_model, actuator, new_model.nu)
    for name, i in named(old_model, actuator, old_model.nu).items():
        j = new_actuators.get(name)
        if j is None:
            continue
        new_data.ctrl[j] = old_data.ctrl[i]
        n = old_model.actuator_actnum[i]
        if n and n == new_model.actuator_actnum[j]:
            a, b = old_model.actuator_actadr[i], new_model.actuator_actadr[j]
            new_data.act[b : b + n] = old_data.act[a : a + n]
    mujoco.mj_forward(new_model, new_data)
    ### END SOLUTION


# %% check="carry_state"
@visible_check("carry_state")
def check_carry_state(check):
    box = '<body name="{0}" pos="{1} 0 1"><freejoint name="{0}"/><geom size="0.1"/></body>'
    arm = """<body name="arm"><joint name="shoulder"/><geom size="0.1" pos="0.3 0 0"/>
    <body pos="0.6 0 0"><joint name="elbow"/><geom size="0.1" pos="0.3 0 0"/></body></body>"""
    scene = """<mujoco><option><flag contact="disable"/></option><worldbody>{}</worldbody><actuator>
    <general name="slow" joint="elbow" dyntype="filter" dynprm="0.1"/></actuator></mujoco>"""
    old = mujoco.MjModel.from_xml_string(scene.format(box.format("box", 1) + arm))
    new = mujoco.MjModel.from_xml_string(
        scene.format(box.format("can", 2) + box.format("box", 1) + arm)
    )
    before, after = mujoco.MjData(old), mujoco.MjData(new)
    before.time, before.ctrl[:], before.act[:] = 3.5, 0.7, 0.2
    before.qvel[:] = np.arange(1.0, 9.0)
    before.qpos[7:] = 0.4, -0.9
    before.xfrc_applied[2] = 5.0
    mujoco.mj_forward(old, before)
    carry_state(old, before, new, after)
    check.close("time", after.time, 3.5)
    for joint in ("box", "shoulder", "elbow"):
        check.close("qpos by name", after.joint(joint).qpos, before.joint(joint).qpos)
        check.close("qvel by name", after.joint(joint).qvel, before.joint(joint).qvel)
    check.close("ctrl and act", [after.ctrl[0], after.act[0]], [0.7, 0.2])
    check.close("the new object at its own place", after.joint("can").qpos[:3], [2, 0, 1])
    check.true(
        "not by index",
        np.any(after.qpos[: old.nq] != before.qpos),
        "this is a copy of the old array, but the new object has moved every address",
    )
    check.true(
        "applied forces stay behind", after.xfrc_applied == 0, "a push came over with the state"
    )
    check.true(
        "derived quantities are fresh",
        np.abs(after.body("arm").xquat - before.body("arm").xquat).max() < 1e-9,
        "frames are not those of the carried state: evaluate the new data at the end",
    )


# %% test="carry_state"
# Hidden tests: objects added, removed, moved; other types, unnamed things, activations, fresh results.

# %% [markdown]
# ### The environment, put together
#
# Nothing below is graded: it is given, and it is short enough to read. First the records that
# describe a scene. Every field says its frame and unit; note that a pose is given in the frame of
# whatever the thing is attached to.

# %%
from dataclasses import dataclass

IDENTITY = (0.0, 0.0, 0.0, 1.0)  # (x, y, z, w)


@dataclass(frozen=True)
class RobotSpec:
    """A robot: its scene, and the chain that its interface speaks of (names without prefix)."""

    name: str  # prefix of all its names: robot "arm" has the joint "arm_joint_1"
    model: str = "arm"
    joints: tuple = tuple(f"joint_{i}" for i in range(1, 8))  # in chain order
    home: tuple = (0.0, 0.1, 0.0, -1.75, 0.0, 1.2915926535897931, 0.0)  # rad
    base: str = "base"  # body: results of the chain are given in its frame
    tip: str = "flange"  # body at the end of the chain
    tip_T_tcp: tuple = ((0.0, 0.0, 0.138), IDENTITY)  # TCP in the frame of the tip
    pos: tuple = (0.0, 0.0, 0.0)  # of the base, in the world
    quat: tuple = IDENTITY


@dataclass(frozen=True)
class AttachmentSpec:
    """A model hung onto a site; pos and quat in that site's frame."""

    name: str
    model: str
    site: str
    pos: tuple = (0.0, 0.0, 0.0)
    quat: tuple = IDENTITY


@dataclass(frozen=True)
class SceneObject:
    """A free body; pos and quat in the world, sizes in m, mass in kg."""

    name: str
    shape: str = "box"  # box, sphere, cylinder
    size: tuple = (0.03, 0.03, 0.03)
    pos: tuple = (0.5, 0.0, 0.5)
    quat: tuple = IDENTITY
    mass: float = 0.1
    rgba: tuple = (0.84, 0.37, 0.0, 1.0)


@dataclass(frozen=True)
class SiteSpec:
    """A frame on a body; pos and quat in that body's frame."""

    name: str
    body: str
    pos: tuple = (0.0, 0.0, 0.0)
    quat: tuple = IDENTITY


@dataclass(frozen=True)
class CameraSpec:
    """A camera on a body ("world" too); fovy in degrees, the exception to radians."""

    name: str
    body: str = "world"
    pos: tuple = (1.5, 0.0, 1.0)
    quat: tuple = IDENTITY
    fovy: float = 45.0


@dataclass(frozen=True)
class SceneSpec:
    """What surrounds the robots; time step in s, gravity in m/s^2, floor height in m (world z)."""

    timestep: float = 0.002
    gravity_z: float = -9.81
    floor_z: float = 0.0
    scenery: tuple = ()  # scenes of the course, as they are
    attachments: tuple = ()
    objects: tuple = ()
    sites: tuple = ()
    cameras: tuple = ()


# %% [markdown]
# Next your functions. Each is called by the name that you gave it; while one is not written, a
# stand-in does what it can, and the labs say so.

# %%
from mjcourse.lab import student


def sensed_ports(model, data, joint_names):
    def read(what):
        return np.array([data.sensor(f"{name} {what}").data[0] for name in joint_names])

    return {"jnt_pos_msr": read("pos"), "jnt_vel_msr": read("vel"), "jnt_trq_msr": read("trq")}


def sensed_pose(model, data, base, body):
    pos, quat = data.sensor(f"{body} pos").data, data.sensor(f"{body} quat").data
    return pos.copy(), xyzw(quat)


def raw_reading(model, data, force_sensor, torque_sensor, frame_site=None):
    return np.concatenate([data.sensor(force_sensor).data, data.sensor(torque_sensor).data])


def as_they_come(model, data, ctrl, wrenches):
    for name, value in ctrl.items():
        data.actuator(name).ctrl = value
    for name, wrench in wrenches.items():
        data.body(name).xfrc_applied = wrench


def through_scipy(scalar_first):
    rotation = scipy.spatial.transform.Rotation
    return lambda quat: rotation.from_quat(quat, scalar_first=not scalar_first).as_quat(
        scalar_first=scalar_first
    )


wxyz = student("wxyz_from_xyzw", through_scipy(True), "SciPy")
xyzw = student("xyzw_from_wxyz", through_scipy(False), "SciPy")
compose = student("compose_pose", lambda parent, child: parent, "the parent's pose alone")
pose_in = student("body_pose_in", sensed_pose, "MuJoCo's frame sensors")
read_ports = student("read_joint_ports", sensed_ports, "MuJoCo's joint sensors")
torque_out = student("write_torque", lambda *_: False, "no torque at all")
torque_limits = student("joint_force_limits", lambda m, names: np.full(len(names), np.nan), "none")
switch_mode = student("set_control_mode", lambda *_: None, "the mode that the model starts in")
at_com = student(
    "wrench_at_com", lambda m, d, b, force, torque, point: np.r_[force, torque], "no lever arm"
)
read_ft = student("ft_wrench", raw_reading, "MuJoCo's reading as it is")
one_step = student("env_step", mujoco.mj_step, "mj_step")
write_inputs = student("write_owned", as_they_come, "unclamped values")
carry = student("carry_state", lambda *_: None, "a scene that starts anew")

STUDENT = tuple(
    call.__name__
    for call in (
        *(wxyz, xyzw, compose, pose_in, read_ports, torque_out, torque_limits),
        *(switch_mode, at_com, read_ft, one_step, write_inputs, carry),
    )
)


def stand_ins(*names):
    """A line on those of the functions that a stand-in has answered for; empty when none."""
    from mjcourse.lab.notebook import unwritten

    return unwritten(names)


# %% [markdown]
# And the environment itself.

# %%
import copy
import time
import warnings

from mjcourse.lab.simulation import quiet_warnings

MODES = ("position", "velocity", "torque")  # actuator groups 0, 1, 2


def read_only(values):
    """A copy that refuses to be written into."""
    values = np.array(values)
    values.flags.writeable = False
    return values


def command_port(name):
    """A port that is assigned as a whole vector, one entry for each joint of the chains."""

    def assign(env, values):
        values = np.array(values, float)
        if values.shape != (len(env.joints),):
            raise ValueError(f"{name} takes {len(env.joints)} values, not shape {values.shape}")
        env._commands[name] = read_only(values)

    return property(lambda env: env._commands[name], assign)


class Env:
    """A robot scene whose interface keeps the conventions of this lesson.

    SI units, radians, quaternions (x, y, z, w). Ports follow the robots' chains; bodies and sites
    are given in the world, results of a chain in its base. The cycle is `update()`, `step()`.
    """

    jnt_pos_cmd = command_port("jnt_pos_cmd")  # rad
    jnt_vel_cmd = command_port("jnt_vel_cmd")  # rad/s
    jnt_trq_cmd = command_port("jnt_trq_cmd")  # N m at the joint

    def __init__(self, robots, scene=None):
        self.robots, self.scene = tuple(robots), scene or SceneSpec()
        self.objects = {thing.name: thing for thing in self.scene.objects}
        self.joints = [f"{r.name}_{joint}" for r in self.robots for joint in r.joints]
        self.actuator_cmd = {}  # scene actuator -> command in its own ctrl units
        self.wrench_cmd = {}  # body -> (6,), world axes, at its centre of mass
        self.tip_T_tcp = {r.name: r.tip_T_tcp for r in self.robots}
        self.view = mujoco.MjvCamera()
        self.carry = carry
        self._commands = {}
        self._compile()
        self.reset()

    # Building: one scene, one set of options ----------------------------------------------

    def _compile(self):
        """A fresh model and data. Objects come first: adding one moves every address after it."""
        spec = mujoco.MjSpec()
        parts = [mujoco.MjSpec.from_file(str(model_path(r.model))) for r in self.robots]
        spec.option, spec.visual, spec.stat = parts[0].option, parts[0].visual, parts[0].stat
        spec.option.timestep = self.scene.timestep
        spec.option.gravity = [0, 0, self.scene.gravity_z]
        for thing in self.objects.values():
            body = spec.worldbody.add_body(name=thing.name, pos=thing.pos, quat=wxyz(thing.quat))
            body.add_freejoint(name=thing.name)
            shape = getattr(mujoco.mjtGeom, f"mjGEOM_{thing.shape.upper()}")
            body.add_geom(type=shape, size=thing.size, mass=thing.mass, rgba=thing.rgba)
        world = spec.worldbody.add_frame()
        ground = spec.worldbody.add_frame(pos=[0, 0, self.scene.floor_z])
        with quiet_warnings(), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for robot, part in zip(self.robots, parts, strict=True):
                part.body(robot.base).pos = robot.pos
                part.body(robot.base).quat = wxyz(robot.quat)
                part.geom("floor").pos = [0, 0, self.scene.floor_z]
                spec.attach(without(part, "keys"), prefix=f"{robot.name}_", frame=world)
                sense_chain(spec, robot)
            for name in self.scene.scenery:
                part = mujoco.MjSpec.from_file(str(model_path(name)))
                part.delete(part.geom("floor"))
                spec.attach(without(part, "keys", "lights"), prefix=f"{name}_", frame=ground)
            for add in self.scene.attachments:
                part = mujoco.MjSpec.from_file(str(model_path(add.model)))
                root = part.worldbody.first_body()
                root.pos, root.quat = add.pos, wxyz(add.quat)
                part = without(part, "keys", "lights")
                spec.attach(part, prefix=f"{add.name}_", site=spec.site(add.site))
            for site in self.scene.sites:
                body = spec.body(site.body)
                body.add_site(name=site.name, pos=site.pos, quat=wxyz(site.quat))
            for seen in self.scene.cameras:
                spec.body(seen.body).add_camera(
                    name=seen.name, pos=seen.pos, quat=wxyz(seen.quat), fovy=seen.fovy
                )
            self.model = spec.compile()
        self.attach_warnings = [str(w.message) for w in caught]
        self.data = mujoco.MjData(self.model)
        self._slots = [  # actuator names by mode, in chain order
            [self._actuator(joint, group) for joint in self.joints] for group in range(len(MODES))
        ]
        self._ids = [[self.model.actuator(name).id for name in slot] for slot in self._slots]
        self._gears = [self.model.actuator_gear[ids, 0] for ids in self._ids]

    def _actuator(self, joint, group):
        on_joint = self.model.actuator_trnid[:, 0] == self.model.joint(joint).id
        [i] = np.flatnonzero(on_joint & (self.model.actuator_group == group))
        return self.model.actuator(i).name

    def add_object(self, thing):
        self._rebuild({**self.objects, thing.name: thing})

    def remove_object(self, name):
        self.wrench_cmd.pop(name, None)
        self._rebuild({key: value for key, value in self.objects.items() if key != name})

    def _rebuild(self, objects):
        """Compile anew with these objects. No reset: state is carried, commands stay."""
        old_model, old_data, mode = self.model, self.data, self.mode
        self.objects = objects
        self._compile()
        self._go_home()
        switch_mode(self.model, self.data, mode)
        mujoco.mj_forward(self.model, self.data)
        self.carry(old_model, old_data, self.model, self.data)
        self._measure()

    # Modes and limits ---------------------------------------------------------------------

    @property
    def opt(self):
        """Physics options of the whole scene; a change lasts until the next rebuild."""
        return self.model.opt

    @property
    def mode(self):
        """The mode whose actuators act."""
        return MODES[[self.opt.disableactuator >> group & 1 for group in range(3)].index(0)]

    def set_mode(self, mode):
        switch_mode(self.model, self.data, mode)
        self._hold()

    @property
    def joint_force_limits(self):
        """(n,) N m: what the actuators of the active mode can give in both directions."""
        model, active = copy.copy(self.model), MODES.index(self.mode)
        group = self.model.actuator_group
        model.actuator_group[:] = np.where(group == active, 2, np.where(group == 2, active, group))
        if active != 2:
            model.actuator_ctrllimited[:] = False  # the range of a servo's target is no torque
        return torque_limits(model, self.joints)

    # The cycle ----------------------------------------------------------------------------

    def update(self):
        """Commands into the inputs that the environment owns, then measurements into ports."""
        group = MODES.index(self.mode)
        inputs, wanted = dict(self.actuator_cmd), ()
        if self.mode == "torque":
            pairs = zip(self._slots[group], self.jnt_trq_cmd, strict=True)
            clamped = [torque_out(self.model, self.data, name, torque) for name, torque in pairs]
        else:
            port = self.jnt_pos_cmd if self.mode == "position" else self.jnt_vel_cmd
            wanted = self._gears[group] * port
            inputs.update(zip(self._slots[group], wanted, strict=True))
        write_inputs(self.model, self.data, inputs, self.wrench_cmd)
        if self.mode != "torque":
            clamped = self.data.ctrl[self._ids[group]] != wanted
        self.jnt_saturated = read_only(clamped)
        self.saturated = {
            name: bool(self.data.actuator(name).ctrl[0] != value)
            for name, value in self.actuator_cmd.items()
        }
        self._measure()

    def step(self):
        one_step(self.model, self.data)

    def pace_realtime(self):
        """Sleep until the wall clock has caught up; stepping itself never does."""
        wall, simulated = self._anchor
        ahead = self.data.time - simulated - (time.perf_counter() - wall)
        time.sleep(max(ahead, 0.0))

    def reset(self, hook=None):
        """MuJoCo's reset, commands that hold, no wrench, the hook, then measurements."""
        mode = self.mode
        mujoco.mj_resetData(self.model, self.data)
        self._go_home()
        switch_mode(self.model, self.data, mode)
        mujoco.mj_forward(self.model, self.data)
        self.wrench_cmd = {}
        self._hold()
        self._anchor = time.perf_counter(), self.data.time
        if hook is not None:
            hook(self)
        self._measure()

    def _go_home(self):
        angles = [angle for robot in self.robots for angle in robot.home]
        for joint, angle in zip(self.joints, angles, strict=True):
            self.data.joint(joint).qpos = angle

    def _hold(self):
        self.jnt_pos_cmd = [self.data.joint(joint).qpos[0] for joint in self.joints]
        self.jnt_vel_cmd = self.jnt_trq_cmd = np.zeros(len(self.joints))
        self.jnt_saturated = read_only(np.zeros(len(self.joints), bool))
        self._measure()

    def _measure(self):
        ports = read_ports(self.model, self.data, self.joints)
        self.jnt_pos_msr, self.jnt_vel_msr, self.jnt_trq_msr = (
            read_only(ports[name]) for name in ("jnt_pos_msr", "jnt_vel_msr", "jnt_trq_msr")
        )
        self.object_pose = {name: self.body_frame(name) for name in self.objects}

    # Poses and wrenches -------------------------------------------------------------------

    def body_frame(self, body):
        """(pos, quat) of a body in the world."""
        return self.data.body(body).xpos.copy(), xyzw(self.data.body(body).xquat)

    def site_frame(self, site):
        """(pos, quat) of a site in the world."""
        quat = np.empty(4)
        mujoco.mju_mat2Quat(quat, self.data.site(site).xmat)
        return self.data.site(site).xpos.copy(), xyzw(quat)

    def set_body_pose(self, body, pos, quat):
        """Put a free body somewhere, at rest; the pose is given in the world."""
        joint = self.model.body(body).jntadr[0]
        if joint < 0 or self.model.jnt_type[joint] != mujoco.mjtJoint.mjJNT_FREE:
            raise ValueError(f"body {body!r} has no free joint; only a free body has a pose to set")
        name = self.model.joint(joint).name
        self.data.joint(name).qpos = [*pos, *wxyz(quat)]
        self.data.joint(name).qvel = 0
        mujoco.mj_forward(self.model, self.data)

    def tip_pose(self, robot):
        """(pos, quat) of the chain's tip in the chain's base."""
        spec = next(r for r in self.robots if r.name == robot)
        bodies = f"{robot}_{spec.base}", f"{robot}_{spec.tip}"
        return pose_in(self.model, self.data, *bodies)

    def tcp_pose(self, robot):
        """(pos, quat) of the tool's point in the chain's base."""
        return compose(self.tip_pose(robot), self.tip_T_tcp[robot])

    def push(self, body, force, torque=(0, 0, 0), point=None):
        """Bind a wrench to a body: it acts from the next `update` on, until it is replaced."""
        point = self.data.body(body).xipos if point is None else point
        self.wrench_cmd[body] = at_com(self.model, self.data, body, force, torque, point)

    def ft_wrench(self, robot, frame_site=None):
        """(6,) load on the wrist sensor."""
        sensors = f"{robot}_ft_force", f"{robot}_ft_torque"
        return read_ft(self.model, self.data, *sensors, frame_site)

    def set_free_camera(self, lookat, distance, azimuth, elevation):
        """Where a person looks from: azimuth and elevation in degrees, the rest in m."""
        self.view.lookat[:], self.view.distance = lookat, distance
        self.view.azimuth, self.view.elevation = azimuth, elevation


def without(spec, *kinds):
    """The spec with all its elements of these kinds deleted."""
    for kind in kinds:
        for element in list(getattr(spec, kind)):
            spec.delete(element)
    return spec


def sense_chain(spec, robot):
    """Sensors that stand in for what is not written yet: joints, and the tip in the base."""
    sensor, thing = mujoco.mjtSensor, mujoco.mjtObj
    kinds = {
        "pos": sensor.mjSENS_JOINTPOS,
        "vel": sensor.mjSENS_JOINTVEL,
        "trq": sensor.mjSENS_JOINTACTFRC,
    }
    for joint in robot.joints:
        for what, kind in kinds.items():
            name = f"{robot.name}_{joint}"
            spec.add_sensor(
                name=f"{name} {what}", type=kind, objtype=thing.mjOBJ_JOINT, objname=name
            )
    for what, kind in (("pos", sensor.mjSENS_FRAMEPOS), ("quat", sensor.mjSENS_FRAMEQUAT)):
        tip, base = f"{robot.name}_{robot.tip}", f"{robot.name}_{robot.base}"
        spec.add_sensor(
            name=f"{tip} {what}",
            type=kind,
            objtype=thing.mjOBJ_XBODY,
            objname=tip,
            reftype=thing.mjOBJ_XBODY,
            refname=base,
        )


# %% [markdown]
# | member of `Env` | convention | built on |
# |---|---|---|
# | `jnt_pos_msr`, `jnt_vel_msr`, `jnt_trq_msr` | chain order; rad, rad/s, N m of the drives; read-only copies | `read_ports` |
# | `jnt_pos_cmd`, `jnt_vel_cmd`, `jnt_trq_cmd` | at the joint, whole vectors; written by `update` in their mode only | `write_torque`, `owned_inputs` |
# | `jnt_saturated`, `saturated` | the last command was clamped to `ctrlrange` | `write_torque` |
# | `mode`, `set_mode` | one of three groups acts; the arm holds still at the switch | `control_mode` |
# | `joint_force_limits` | N m in both directions, of the active mode | `torque_limits` |
# | `actuator_cmd` | scene actuators, own control units before the gear | `owned_inputs` |
# | `wrench_cmd`, `push` | force then torque, world axes, at the centre of mass; until replaced | `wrench`, `owned_inputs` |
# | `body_frame`, `site_frame`, `object_pose`, `set_body_pose` | world, `(x, y, z, w)` | `quaternion_order` |
# | `tip_pose` | the tip in the chain's base | `relative_pose` |
# | `tip_T_tcp`, `tcp_pose` | the TCP in the tip; in the chain's base | `compose_pose` |
# | `ft_wrench` | load on the sensor; its site's axes or another's | `ft_reading` |
# | `update`, then `step` | commands in, measurements out; fresh frames after the step | `env_step` |
# | `pace_realtime` | sleeps; `step` never does | |
# | `reset(hook)` | home, commands that hold, no wrench; then the hook; then measurements | `control_mode` |
# | `add_object`, `remove_object` | a rebuild: state, time and commands stay | `carry_state` |
# | `opt` | one set for the scene; changes last until the next rebuild | |
# | `set_free_camera` | degrees | |
#
# A port does not let itself be misused in silence:

# %%
GRIPPER = AttachmentSpec("gripper", "gripper", "arm_mount")


@experiment
def misuse():
    env = Env([RobotSpec("arm")], SceneSpec(attachments=(GRIPPER,)))
    caught = {}

    def one_element():
        env.jnt_pos_cmd[3] = -1.5

    def too_short():
        env.jnt_pos_cmd = [0.0, 0.1, 0.0]

    def not_free():
        env.set_body_pose("arm_flange", (0, 0, 1), (0, 0, 0, 1))

    for misuse in (one_element, too_short, not_free):
        try:
            misuse()
        except ValueError as error:
            caught[misuse.__name__] = str(error)
            print(f"{misuse.__name__:12} ValueError: {error}")
    return caught


# %% [markdown]
# ### Lab: the ports at work
#
# The arm with its gripper, driven through the environment: that is, through your functions. Choose a
# mode, move a joint's command and watch the measured value follow. Push the flange and let go of the
# slider: the push goes on until you clear it. The read-outs give one load twice, along the axes of the
# sensor's site and along those of the TCP, which is turned by 45 degrees against it: the numbers
# differ, the load does not. Move joint 1 in velocity mode to the end of its slider to see a command
# clamped.

# %%
from types import SimpleNamespace


@experiment
def lab_ports():
    env = Env([RobotSpec("arm")], SceneSpec(attachments=(GRIPPER,)))
    # What a full slider adds to the command that holds: rad, rad/s, N m.
    span = {"position": 1.0, "velocity": 2.0, "torque": 12.0}
    knobs = SimpleNamespace(value=np.zeros(7), start=env.jnt_pos_cmd)

    def restart(model, data):
        env.data = data
        env.reset()
        knobs.start = env.jnt_pos_cmd

    def cycle(model, data):
        env.update()
        env.step()

    def choose(model, data, mode):
        env.set_mode(mode)
        knobs.start, knobs.value = env.jnt_pos_cmd, np.zeros(7)

    def command(joint):
        def on_change(model, data, value):
            knobs.value[joint] = value
            extra = span[env.mode] * knobs.value
            if env.mode == "position":
                env.jnt_pos_cmd = knobs.start + extra
            elif env.mode == "velocity":
                env.jnt_vel_cmd = extra
            else:
                env.jnt_trq_cmd = extra

        return on_change

    def push(model, data, newtons):
        env.push("arm_flange", (0, newtons, 0), point=data.site("arm_tcp").xpos)

    def grip(model, data, angle):
        env.actuator_cmd["gripper_gripper"] = angle

    def clear(model, data):
        env.wrench_cmd["arm_flange"] = np.zeros(6)

    def commanded():
        ports = {"position": env.jnt_pos_cmd, "velocity": env.jnt_vel_cmd}
        return ports.get(env.mode, env.jnt_trq_cmd)

    def measured():
        ports = {"position": env.jnt_pos_msr, "velocity": env.jnt_vel_msr}
        return ports.get(env.mode, env.jnt_trq_msr)

    def rows(model, data):
        return [
            (i + 1, commanded()[i], measured()[i], "clamped" if env.jnt_saturated[i] else "")
            for i in range(7)
        ]

    def force_arrow(model, data, scene):
        from mjcourse.lab import arrow

        force = data.body("arm_flange").xfrc_applied[:3]
        tip = data.site("arm_tcp").xpos
        arrow(scene, tip - force / 60, tip, 0.008, (0.8, 0.47, 0.65, 1))

    return Lab(
        Simulation(env.model, step=cycle, reset=restart, draw=force_arrow),
        title="Ports",
        note="A full slider is 1 rad, 2 rad/s or 12 N m, by mode. A push stays until it is cleared.",
        camera={"azimuth": 130, "elevation": -14, "distance": 1.7, "lookat": (0.2, 0, 0.5)},
        controls=[
            Select("mode", MODES, "position", choose),
            *(Slider(f"joint {i + 1}", -1, 1, 0, 0.05, "", command(i)) for i in (0, 1, 3, 5, 6)),
            Slider("gripper", 0, 0.82, 0, 0.01, "rad", grip),
            Slider("push along y", -30, 30, 0, 1, "N", push),
            Button("Clear the push", clear),
        ],
        readouts=[
            Readout("force, sensor's axes", lambda m, d: env.ft_wrench("arm")[:3], "N", 2),
            Readout("force, TCP's axes", lambda m, d: env.ft_wrench("arm", "arm_tcp")[:3], "N", 2),
            Readout("torque, TCP's axes", lambda m, d: env.ft_wrench("arm", "arm_tcp")[3:], "N m"),
            Readout("TCP in the base", lambda m, d: env.tcp_pose("arm")[0], "m"),
        ],
        tables=[Table("ports", rows, ("joint", "commanded", "measured", "limit"), 2)],
        charts=[
            StripChart(
                "joint 4",
                {"command": lambda m, d: commanded()[3], "measured": lambda m, d: measured()[3]},
            )
        ],
        student=STUDENT,
        playing=True,
    )


lab_ports

# %% [markdown]
# ## Experiment

# %%
ask(
    "The arm holds a pose. A box is added to the scene, which compiles the model anew. Does the arm keep its pose?",
    {
        "yes, always": "The new `MjData` starts at the model's reference pose at time 0. Somebody "
        "has to carry the old state over.",
        "only if the box comes last in qpos": "That is what happens when the state is copied by "
        "index: it works as long as no address moves, and then it does not.",
        "if the state is carried by name": "Yes. Names survive a compile; addresses do not.",
    },
    right="if the state is carried by name",
)


# %% [markdown]
# **Which option wins.** The gripper was made for elliptic friction cones and `impratio="10"`. Attached
# to the arm, it gets the arm's options. Here is what this version of MuJoCo says about it, and what it
# does to a block of 0.4 kg in the gripper's pads: first with the options as the attach left them,
# then with `env.opt` set by hand, then after an object was added, which compiles anew. The creep is
# the speed at which the block slides out of the grip.

# %%
def creep(options):
    """Hold a block for 2.5 s; returns times (s) and how far it has slid (mm)."""
    env = Env([RobotSpec("arm")], SceneSpec(attachments=(GRIPPER,)))
    pos, _ = env.site_frame("gripper_grip")
    env.add_object(SceneObject("block", size=(0.02, 0.02, 0.03), pos=tuple(pos), mass=0.4))
    env.actuator_cmd["gripper_gripper"] = 0.82
    env.opt.gravity[2] = 0.0  # close the pads first, then let the weight act
    for _ in range(250):
        env.update()
        env.step()
    if options != "as attached":
        env.opt.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
        env.opt.impratio = 10.0
    env.opt.gravity[2] = env.scene.gravity_z
    if options == "set, then an object added":
        env.add_object(SceneObject("pebble", size=(0.01, 0.01, 0.01), pos=(0.6, 0.3, 0.02)))
    times, slid = [], []
    for _ in range(1250):
        env.update()
        env.step()
        times.append(env.data.time)
        slid.append(env.site_frame("gripper_grip")[0][2] - env.body_frame("block")[0][2])
    return np.array(times) - times[0], 1000 * (np.array(slid) - slid[0])


@experiment
def attach_conflict():
    import platform

    from mjcourse import style

    env = Env([RobotSpec("arm")], SceneSpec(attachments=(GRIPPER,)))
    print(f"MuJoCo {mujoco.__version__}, NumPy {np.__version__}, {platform.machine()}; no seed:")
    print("nothing here is random.\n")
    print("\n".join(env.attach_warnings), "\n")
    _, plot = style.axes("A block in the grip", "time (s)", "slid out of the grip (mm)")
    wide, speed = {"as attached": {"linewidth": 6, "alpha": 0.4}}, {}
    for options in ("as attached", "set in env.opt", "set, then an object added"):
        times, slid = creep(options)
        half = len(times) // 2
        speed[options] = (slid[-1] - slid[half]) / (times[-1] - times[half])
        plot.plot(times, slid, label=options, **wide.get(options, {}))
        print(f"{options:28} creep {speed[options]:6.3f} mm/s")
    plot.legend()
    plt.show()
    print(stand_ins("carry_state"))
    return SimpleNamespace(warning=env.attach_warnings[0], speed=speed)


# %% [markdown]
# The parent's options win, with a warning and without an error. Setting them on the compiled model
# cures the creep (*our measurement*), until somebody adds a pebble on the other side of the floor. In
# `Env` the options come from one place, the first robot's MJCF; write a gripper's wishes there, and
# read every attach warning (*advice*).
#
# **Of which instant.** The same motion twice, once with `mj_step` and once with your step. After five
# steps the lines compare what `data` says with what belongs to the state in `qpos`.

# %%
@experiment
def instants():
    model = load("arm")
    model.opt.disableactuator = 0b111  # nothing acts: the arm coasts
    stale = {}
    for name, step in (("mj_step", mujoco.mj_step), ("env_step", one_step)):
        data = mujoco.MjData(model)
        mujoco.mj_resetDataKeyframe(model, data, 0)
        data.qvel[:] = 1.0
        mujoco.mj_forward(model, data)
        for _ in range(5):
            step(model, data)
        fresh = copy.copy(data)
        mujoco.mj_forward(model, fresh)
        lag = np.linalg.norm(data.site("tcp").xpos - fresh.site("tcp").xpos)
        force = np.linalg.norm(data.sensor("ft_force").data - fresh.sensor("ft_force").data)
        stale[name] = 1000 * lag, force
        print(f"after {name:9} TCP off by {1000 * lag:7.4f} mm, force sensor by {force:.4f} N")
    cold = mujoco.MjData(model)
    cold.qvel[:] = 1.0
    one_step(model, cold)
    warm = mujoco.MjData(model)
    warm.qvel[:] = 1.0
    mujoco.mj_forward(model, warm)
    one_step(model, warm)
    for name, data in (("without mj_forward", cold), ("with mj_forward", warm)):
        stale[name] = float(np.abs(data.qacc).max())
        print(f"first step {name:19} largest acceleration {stale[name]:6.2f} rad/s^2")
    print(stand_ins("env_step"))
    return stale


# %% [markdown]
# `mj_step` reads one step late: at this speed a millimetre or two. The split step reads the new
# instant for positions, and keeps the force sensor at the step just taken: that reading is of a real
# interval, not of a state in which nothing has happened yet.
#
# Two prices. The split step integrates with Euler, also where the first robot's options ask for RK4
# (see the lesson on the pipeline). And it starts in the middle: on an `MjData` on which nothing has been
# evaluated, `mj_step2` finds no mass matrix and no forces, and the first step goes by without any
# acceleration, and without a warning. Call `mj_forward` once after each change of the state by hand;
# `Env` does so in `reset`, `set_body_pose` and, through `carry_state`, after a rebuild.
#
# **How long a push lasts.** One call, then nothing but steps.

# %%
@experiment
def push_persists():
    env = Env(
        [RobotSpec("arm")], SceneSpec(objects=(SceneObject("puck", mass=1.0),), gravity_z=0.0)
    )
    env.push("puck", (1.0, 0, 0))  # 1 N on 1 kg
    speeds = []
    for second in range(3):
        if second == 2:
            env.wrench_cmd["puck"] = np.zeros(6)
        for _ in range(500):
            env.update()
            env.step()
        speeds.append(float(env.data.joint("puck").qvel[0]))
        print(f"after {second + 1} s: {speeds[-1]:.3f} m/s")
    return speeds


# %% [markdown]
# The puck gains 1 m/s in every second until a zero wrench clears the push.
#
# **What a rebuild does to a pose.** The arm holds its pose for a second; then a box is added, which
# comes first in `qpos`. Three ways to go on: carry the state by name (yours), copy it by index, or
# start from a reset.

# %%
def by_index(old_model, old_data, new_model, new_data):
    """What not to do: copy as many numbers as there are."""
    new_data.time = old_data.time
    for field in ("qpos", "qvel", "act", "ctrl"):
        old, new = getattr(old_data, field), getattr(new_data, field)
        count = min(len(old), len(new))
        new[:count] = old[:count]
    mujoco.mj_forward(new_model, new_data)


def start_anew(old_model, old_data, new_model, new_data):
    """A reset: the home pose that the environment has set already, at time 0."""


def held_pose(carry_over):
    """Hold a pose away from home, add a box after 1 s, go on for 2 s."""
    env = Env([RobotSpec("arm")], SceneSpec(attachments=(GRIPPER,)))
    env.carry = carry_over
    pose = env.jnt_pos_msr + np.array([0.5, 0.2, -0.3, 0.3, 0.4, -0.2, 0.6])
    for joint, angle in zip(env.joints, pose, strict=True):
        env.data.joint(joint).qpos = angle
    env.jnt_pos_cmd = pose
    env.actuator_cmd["gripper_gripper"] = 0.4
    for _ in range(500):  # let the gripper close and the arm settle
        env.update()
        env.step()
    error, at = [], {}
    for count in range(1500):
        if count == 500:
            env.add_object(SceneObject("box", pos=(0.6, 0.3, 0.03)))
            at = {
                "time": env.data.time,  # s; 2 s were simulated
                "ctrl": float(env.data.actuator("arm_joint_4_position").ctrl[0]),
                "jump": float(np.max(np.abs(env.jnt_pos_msr - pose))),
            }
        env.update()
        env.step()
        error.append(np.max(np.abs(env.jnt_pos_msr - pose)))
    return 0.002 * np.arange(1500), np.array(error), at


@experiment
def rebuild():
    from mjcourse import style

    _, plot = style.axes(
        "Adding a box at 1 s", "time (s)", "largest joint error, at least 1e-6 (rad)"
    )
    ways = {"by name": carry, "by index": by_index, "reset": start_anew}
    result = {}
    print("carried over   time after   joint error   command of joint 4")
    for way, carry_over in ways.items():
        times, error, at = held_pose(carry_over)
        plot.plot(times, np.maximum(error, 1e-6), label=way)
        result[way] = at
        print(f"{way:12} {at['time']:10.3f} s {at['jump']:10.6f} rad {at['ctrl']:14.3f}")
    plot.set_yscale("log")
    plot.legend()
    plt.show()
    print(stand_ins("carry_state"))
    return result


# %% [markdown]
# Carried by name, nothing moves: time goes on, and the arm does not notice. By index the seven numbers
# of the box's free joint slide into the arm: seven joint angles become a position and a quaternion,
# and the arm receives what is left. After a reset the arm is at home at time 0, and the servo pulls it
# back to the command that the environment kept.

# %% [markdown]
# ## Break it
#
# The same at your fingers: a table with objects, an arm that holds its pose. Add and remove boxes and
# look at the table of addresses: every box moves the arm by seven places in `qpos`. With the switch
# on, the state is carried by name, by your `carry_state`. Turn it off, and it is copied by index. Then
# compare with the Reset button: which of time, pose and boxes does a reset put back, and which does a
# rebuild leave alone?

# %%
@experiment
def lab_rebuild():
    env = Env([RobotSpec("arm")], SceneSpec(attachments=(GRIPPER,), scenery=("table_objects",)))
    seen = SimpleNamespace(models=[env.model], before={}, count=0)
    spots = [(0.42, 0.24), (0.6, -0.05), (0.74, -0.2), (0.47, -0.05), (0.72, 0.26)]
    colours = [(0, 0.45, 0.7, 1), (0.9, 0.62, 0, 1), (0.34, 0.71, 0.91, 1)]

    def addresses():
        joints = ("arm_joint_1", "arm_joint_7", "table_objects_cube")
        return {name: int(env.model.joint(name).qposadr[0]) for name in joints}

    def restart(model, data):
        env.data = data
        env.reset()

    def cycle(model, data):
        env.update()
        env.step()

    def rebuilt(simulations, change):
        seen.before = addresses()
        change()
        seen.models.append(env.model)
        [simulation] = simulations
        simulation.scene = simulation.model = env.model
        simulation.data = env.data

    def add(simulations):
        spot = spots[seen.count % len(spots)]
        box = SceneObject(
            f"box_{seen.count}",
            size=(0.022, 0.022, 0.022),
            pos=(*spot, 0.345),
            rgba=colours[seen.count % len(colours)],
        )
        seen.count += 1
        rebuilt(simulations, lambda: env.add_object(box))

    def remove(simulations):
        if env.objects:
            rebuilt(simulations, lambda: env.remove_object(next(reversed(env.objects))))

    def choose(model, data, by_name):
        env.carry = carry if by_name else by_index

    def rows(model, data):
        now = addresses()
        return [(name, seen.before.get(name, now[name]), now[name]) for name in now]

    return Lab(
        Simulation(env.model, step=cycle, reset=restart),
        title="Rebuild",
        note="Each box is a free joint declared before the arm. Reset is MuJoCo's, not a rebuild.",
        camera={"azimuth": 138, "elevation": -20, "distance": 1.75, "lookat": (0.35, 0, 0.42)},
        controls=[
            Button("Add a box", add, of="all", play=True),
            Button("Remove a box", remove, of="all", play=True),
            Toggle("carry over by name", True, choose),
        ],
        readouts=[
            Readout("nq", lambda model, data: model.nq),
            Readout("boxes", lambda model, data: len(env.objects)),
            Readout(
                "largest joint error",
                lambda model, data: float(np.max(np.abs(env.jnt_pos_msr - env.jnt_pos_cmd))),
                "rad",
                4,
            ),
        ],
        tables=[Table("address in qpos", rows, ("joint", "before", "now"))],
        charts=[
            StripChart(
                "arm",
                {
                    "joint 2": lambda model, data: env.jnt_pos_msr[1],
                    "joint 4": lambda model, data: env.jnt_pos_msr[3],
                },
                unit="rad",
            )
        ],
        student=STUDENT,
    )


lab_rebuild

# %% [markdown]
# ## Common failures
#
# | symptom | cause | cure |
# |---|---|---|
# | The gripper points the wrong way, yet every quaternion has length 1. | `(x, y, z, w)` was read as `(w, x, y, z)`, or the reverse. | One pair of functions at the boundary; no reordering anywhere else. |
# | A push never ends. | `xfrc_applied` stays until it is overwritten; nobody wrote a zero. | The environment owns the rows it has bound and writes them at every `update`, zero included. |
# | A torque is off by a constant factor, or has the wrong sign. | The gear: joint torque is gear times control. | Divide by the gear, with its sign; clamp afterwards. |
# | After an object was added, the arm jumps, or a controller moves the wrong joint. | An index was stored and the addresses have moved. | Ask for addresses by name, again after each compile. |
# | The force reading has the wrong sign: a hanging weight seems to pull upwards. | MuJoCo reports the force that holds the part, not the load on the sensor. | Change the sign once, in `ft_wrench`. |
# | An attached gripper lets its load slip. | Its `cone` and `impratio` were dropped at the attach: the parent's options stay. | Read the warning; set the options in the first robot's MJCF. |

# %% [markdown]
# ## Knowledge check
#
# ### `knowledge_check`: five questions, one cell
#
# 1. The log says `[0, 0, 0.38, 0.92]`, at the interface of this lesson. `scalar_index`: which entry is
#    the scalar, as a Python index? `angle_degrees`: by how many degrees is the gripper turned?
# 2. `spec_pose_frame`: the `pos` and `quat` of a site or body in a spec are given
#    (a) in the world; (b) in the parent that it attaches to; (c) in the chain's base; (d) at the
#    parent's centre of mass.
# 3. `fresh_sensors`: after `mj_step2` and then `mj_step1`, these describe the new instant:
#    (a) all sensors; (b) none; (c) position and velocity sensors; (d) force and acceleration sensors.
# 4. `winning_option`: a gripper with another `cone` is attached to an arm. The scene has
#    (a) the arm's cone; (b) the gripper's; (c) the safer of the two; (d) each body its own.
# 5. `survives_rebuild`: this survives a rebuild, but a reset clears it:
#    (a) applied forces; (b) a change of `model.opt`; (c) nothing; (d) time, joint state and commands.
#
# Answer with numbers and with letters in quotes.

# %% solution="knowledge_check"
scalar_index = None  # an index, from 0
angle_degrees = None  # degrees
spec_pose_frame = None  # "a", "b", "c" or "d"
fresh_sensors = None
winning_option = None
survives_rebuild = None
### BEGIN SOLUTION
scalar_index = 3
angle_degrees = 2 * np.degrees(np.arccos(0.92))
spec_pose_frame = "b"
fresh_sensors = "c"
winning_option = "a"
survives_rebuild = "d"
### END SOLUTION

# %% test="knowledge_check"
# Hidden tests: the answers above, one by one.

# %% [markdown]
# ## On the real robot
#
# - **Order and frame of every number are in the vendor's manual, and they differ.** ROS messages and
#   KDL put the scalar last; MuJoCo and many papers put it first. Log a pose with a known turn of 90
#   degrees about one axis before you trust a driver.
# - **Torque interfaces differ in what "torque" means**: at the motor or at the joint, with or without
#   gravity. The arm here compensates the weight of its links and its gripper; a zero torque command
#   lets it float. A robot without that compensation falls.
# - **A wrist sensor reports the load, plus its own offset.** It is zeroed with nothing in the hand, and
#   the tool's weight is subtracted by its pose: exactly the rotation of `ft_wrench`.
# - **Commands expire.** Real drives stop when no command arrives for some milliseconds. A simulator
#   holds the last command for ever, so a loop that has died looks like an arm that holds still.
# - **A mode switch is where robots jump.** Seeding the commands with what is measured, as in
#   `set_control_mode`, is what a driver's "hold" does.

# %%
progress()

# %% [markdown]
# ## Takeaways
#
# One page to keep beside the keyboard.
#
# | what | convention |
# |---|---|
# | units | m, rad, s, kg, N, N m |
# | set by eye | a camera's `fovy`, azimuth and elevation: degrees |
# | quaternion outside | `(x, y, z, w)`, identity `(0, 0, 0, 1)` |
# | quaternion inside MuJoCo | `(w, x, y, z)` |
# | body, site, free-body pose | world |
# | floor height; arrows and traces in the picture | world |
# | `pos`, `quat` of a spec | the parent that it attaches to |
# | results of a chain | the chain's base body |
# | tip to TCP | the chain's tip |
# | applied wrench | force then torque, world axes, at the body's centre of mass |
# | force/torque reading | the load (MuJoCo's negative), the sensor's site; turned on request, not moved |
# | joint ports | chain order, by name; read-only copies, whole vectors |
# | measured torque | the drives', in every mode: `qfrc_actuator` |
# | torque command | N m at the joint, divided by the gear, clamped to `ctrlrange`, with a flag |
# | joint force limits | both directions, of the active mode |
# | scene actuator command | its own `ctrl` units, before the gear |
# | mode | one of groups 0, 1, 2 acts; a set bit disables; the switch holds still |
# | options | the first robot's, then the scene's time step and gravity; an attached model's are dropped |
# | a changed `opt` | lasts until the next compile |
# | after a step | positions, frames, position and velocity sensors: new; forces and accelerations: the step taken |
# | integrator of the split step | Euler, also under RK4 |
# | inputs | stay until overwritten; the environment writes only what it owns, never `qfrc_applied` |
# | reset | home, commands that hold, wrenches zero, then the hook, then measurements |
# | rebuild | time, joints by name and type, commands and activations by name stay; forces do not |
# | pacing | stepping never sleeps; a headless loop needs its own end |
#
# When you have finished, run `submit()` in the next cell: it checks the notebook and makes the file
# that you hand in.

# %%
submit()

# %% [markdown]
# ## Sources
#
# - K. M. Lynch, F. C. Park, *Modern Robotics*, Cambridge University Press, 2017: chapter 3.3
#   (rigid-body motions), 3.4 (wrenches), appendix B.3 (unit quaternions).
# - MuJoCo documentation: "Modeling" (Coordinate frames, Group disable, Force limits, Preventing slip),
#   "Computation" (Actuation model, Stages), "Programming, Simulation" (Simulation loop, State and
#   control, Coordinate frames and transformations), "Model Editing" (Attachment, Attribute Merging),
#   "Overview, Clarifications" (Units are unspecified, Floating objects), "XML reference" (`sensor/force`,
#   `option/actuatorgroupdisable`).
# - SciPy documentation: `scipy.spatial.transform.Rotation` (`scalar_first`).
# - ROS REP 103, *Standard units of measure and coordinate conventions*.
