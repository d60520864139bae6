# %% [markdown]
# ## The question
#
# A free body in MuJoCo stores its orientation as **four** numbers, a unit quaternion. Orientation has **three** degrees of freedom: turn about x, about y, about z. Three numbers ought to do, and every camera tripod seems to prove it: one knob for yaw, one for pitch, one for roll.
#
# Below, a camera hangs in three rings. The blue ring turns about the vertical (*yaw*), the green ring about an axis that the blue one carries (*pitch*), the orange shaft about an axis that the green one carries (*roll*). With the three sliders you can point the camera wherever you like.
#
# Try this. Move **pitch to 90 deg**, the end of its slider. Now move yaw, then move roll. Look at the thick blue and at the thick orange arrow, and at what the camera does. (What `E` and the button mean comes later; the lab returns under *Break it*.)

# %%
# Folded: the lab of three knobs. Run the cell and play; reading its code can wait.
import functools


@functools.cache
def spare_gimbal():
    """A model and data of the gimbal to compute with, beside those that the labs show."""
    model = load("gimbal")
    return model, mujoco.MjData(model)


def rates_from_mujoco(pitch, roll):
    """E (3, 3) from MuJoCo's own Jacobian of the camera, columns roll', pitch', yaw'."""
    model, data = spare_gimbal()
    data.qpos[:] = 0.0, pitch, roll
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    jacobian = np.empty((3, model.nv))
    mujoco.mj_jacBody(model, data, None, jacobian, model.body("camera").id)
    return data.body("camera").xmat.reshape(3, 3).T @ jacobian[:, ::-1]


class Knobs:
    """The rings of one lab: posed by sliders, or following a command as fast as they may."""

    def __init__(self):
        self.rate_map = mjcourse.lab.student(
            "euler_rate_matrix", rates_from_mujoco, using="MuJoCo's Jacobian"
        )
        self.limit = 2.0  # rad/s, of each ring
        self.sliders = np.zeros(3)  # what they say, rad: yaw, pitch, roll
        self.forget()

    def forget(self):
        """No command: no goal, nothing asked for."""
        self.rate, self.goal, self.left, self.asked = np.zeros(3), None, 0.0, 0.0

    def reset(self, model, data):
        self.forget()

    def turn(self, ring):
        """What a slider does: end a command that is running, and pose the rings as they say."""

        def on_change(model, data, degrees):
            self.forget()
            self.sliders[ring] = np.deg2rad(degrees)
            data.qpos[:] = self.sliders

        return on_change

    def set_limit(self, model, data, value):
        self.limit = value

    def command(self, model, data):
        """From the sliders' pose, for one second: 1 rad/s about what gets lost at 90 deg."""
        data.qpos[:] = self.sliders
        mujoco.mj_kinematics(model, data)
        roll = data.qpos[2]
        self.rate = np.array([0.0, np.sin(roll), np.cos(roll)])
        self.goal, self.left, self.asked = data.body("camera").xquat.copy(), 1.0, 0.0

    def step(self, model, data, parts=10):
        """One time step: the goal turns as commanded, the rings follow within their limit."""
        h = model.opt.timestep
        if self.left > h / 2:
            for _ in range(parts):
                needed = np.linalg.lstsq(self.E(data), self.rate, rcond=1e-12)[0]
                self.asked = max(self.asked, np.linalg.norm(needed))
                data.qpos[:] += h / parts * np.clip(needed, -self.limit, self.limit)[::-1]
            mujoco.mju_quatIntegrate(self.goal, self.rate, h)
            self.left -= h
        data.time += h
        mujoco.mj_forward(model, data)

    def E(self, data):
        return np.asarray(self.rate_map(data.qpos[1], data.qpos[2]))

    def condition(self, model, data):
        E = self.E(data)
        return np.inf if abs(np.linalg.det(E)) < 1e-12 else np.linalg.cond(E)

    def tracking_error(self, model, data):
        """Angle in deg between the camera and where the command wants it."""
        if self.goal is None:
            return 0.0
        apart = np.empty(3)
        mujoco.mju_subQuat(apart, self.goal, data.body("camera").xquat)
        return np.rad2deg(np.linalg.norm(apart))

    def draw(self, model, data, scene):
        """The shafts of yaw and roll, the camera's axes, and the goal while there is one."""
        arrow, center = mjcourse.lab.arrow, data.body("camera").xpos
        x, y, z = data.body("camera").xmat.reshape(3, 3).T
        up = np.array([0, 0, 1.0])
        arrow(scene, center + 0.30 * up, center + 0.46 * up, 0.011, (0.00, 0.45, 0.70, 1))
        arrow(scene, center + 0.13 * x, center + 0.36 * x, 0.011, (0.90, 0.60, 0.00, 1))
        arrow(scene, center, center + 0.17 * y, 0.006, (0.0, 0.8, 0.2, 1))
        arrow(scene, center, center + 0.17 * z, 0.006, (0.2, 0.3, 1.0, 1))
        if self.goal is not None:
            purple = (0.80, 0.47, 0.65, 0.5)
            mjcourse.lab.ghost_body(scene, model, data, "camera", center, self.goal, purple)


def three_knobs(pitch=0, title="Three knobs"):
    """The lab, starting at a pitch in degrees."""
    knobs = Knobs()

    def slider(name, ring, value, reach):
        turn = knobs.turn(ring)
        return Slider(name, low=-reach, high=reach, value=value, step=1, unit="deg", on_change=turn)

    return Lab(
        "gimbal",
        title=title,
        camera={"azimuth": 128, "elevation": -14, "distance": 1.4, "lookat": (0, 0, 0.58)},
        note="thick arrows: yaw shaft (blue), roll shaft and camera's x, where it looks (orange); "
        "thin: camera's y (green), z (blue); purple: where the command wants the camera",
        controls=[
            slider("yaw", 0, 20, 180),
            slider("pitch", 1, pitch, 90),
            slider("roll", 2, 30, 180),
            Slider("rate limit", 1, 100, 2, 1, "rad/s", on_change=knobs.set_limit),
            Button("Command 1 rad/s about the lost direction", knobs.command, play=True),
        ],
        readouts=[
            Readout("q (w, x, y, z)", lambda model, data: data.body("camera").xquat, digits=2),
            Readout("matrix R", lambda model, data: data.body("camera").xmat.reshape(3, 3)),
            Readout("det E", lambda model, data: np.linalg.det(knobs.E(data)), digits=4),
            Readout(
                "smallest singular value",
                lambda model, data: np.linalg.svd(knobs.E(data))[1][2],
                digits=4,
            ),
            Readout("cond(E)", knobs.condition, digits=2),
            Readout("peak Euler rates", lambda model, data: knobs.asked, unit="rad/s", digits=1),
            Readout("tracking error", knobs.tracking_error, unit="deg", digits=1),
        ],
        charts=[
            StripChart(
                "tracking error",
                {"angle to the goal": knobs.tracking_error},
                window=3.0,
                limits=(0, 60),
                unit="deg",
            )
        ],
        step=knobs.step,
        reset=knobs.reset,
        draw=knobs.draw,
        speed=0.5,
        student=("euler_rate_matrix",),
    )


lab_knobs = three_knobs()
lab_knobs

# %% [markdown]
# At pitch 90 deg the two arrows lie on one line. Yaw and roll now turn the camera about the same line, so two knobs do the work of one, and there is a direction about which no knob can turn it. The camera itself is perfectly free; the *three numbers* have run out. This is gimbal lock, and the question of this lesson is what to do about it.

# %%
ask(
    "A free body has 7 numbers in `qpos` and 6 in `qvel`. Why not 6 and 6?",
    {
        "The quaternion carries a checksum: one number is redundant and could be dropped.": "The length is indeed fixed to 1, but whichever number you drop, the other three lose the sign of the dropped one, and they break where it is zero.",
        "No three numbers describe all orientations without a bad pose; four of fixed length do.": "Orientations form a closed, curved space. Three numbers always tear or fold it somewhere; four numbers on a sphere cover it smoothly. Rates of change at one pose are an ordinary 3-vector, hence 6 velocities.",
        "The seventh number is a spare degree of freedom of the solver.": "A free body moves in six ways. Nothing moves along the seventh number: the length of the quaternion stays 1.",
    },
    right="No three numbers describe all orientations without a bad pose; four of fixed length do.",
)

# %%
ask(
    "A controller commands yaw, pitch and roll *rates*. Gimbal lock is at pitch 90 deg. Is a pitch of 80 deg safe?",
    {
        "Yes: the lock is at 90 deg only, and 10 deg is a wide margin.": "The map is singular at 90 deg only, but it is already bad before. Near the lock some body rates need very fast Euler rates; you will measure how fast.",
        "No: rates needed for some motions are several times larger already.": "At 80 deg a turn of 1 rad/s about the worst direction needs Euler rates of 8 rad/s, and it grows like one over the distance to 90 deg.",
        "It depends on the yaw.": "Yaw turns everything about the vertical and changes nothing in the body's own view. Only pitch matters for how bad it is.",
    },
    right="No: rates needed for some motions are several times larger already.",
)

# %% [markdown]
# ## In plain words
#
# **An orientation is a place, not a sum.** Positions add: 2 m east and then 1 m north is the same as the other way round. Turns do not: lay a book on the table, turn it a quarter about the vertical and then a quarter about the edge nearest to you; now do it in the other order. The book ends in two different poses. Whatever we store for an orientation, putting two together is a kind of *multiplication* in which order counts.
#
# **Four ways to write a turn.**
# - *Axis and angle*: one line that stays put, and how far everything turns about it. Good to think with.
# - *Rotation matrix*: where the three axes of the turned frame point. Nine numbers, no bad pose, easy to use on vectors.
# - *Unit quaternion*: axis and angle packed into four numbers whose squares add to 1. Compact, no bad pose, easy to blend. Each orientation has two of them, `q` and `-q`.
# - *Euler angles*: three turns about chosen axes, one after the other. Easy to show to a person; they break.
#
# **Why three angles break.** Think of a camera on a tripod that follows a plane. While the plane stays low, panning (yaw) and tilting (pitch) do the job. When the plane passes straight overhead, the camera looks up along the pan axis: panning only spins the picture, just as rolling would. To follow a plane that passes a little *beside* the zenith, the tripod must pan half a turn in an instant. The plane did nothing special, and neither did the camera. The lock belongs to the description.
#
# **Why it is a whole neighbourhood.** Straight up is one point. But the closer the camera looks to it, the faster the pan must be for the same motion of the plane. A motor or a controller with a speed limit fails some distance *before* the lock.
#
# **The habit** (*advice*). Store and compose matrices or unit quaternions. Convert to angles only at the last moment, to show a person. Before you trust a logged orientation, convert *one* rotation that you know.

# %% [markdown]
# ## Mathematics
#
# Frames: $A$, $B$, $C$, all right-handed. A point has coordinates $p_A \in \mathbb{R}^3$ in frame $A$ (m). Angles are in rad unless a number says deg; a positive angle turns as the fingers of the right hand curl when the thumb points along the axis. $e_x, e_y, e_z$ are the unit vectors along the axes, $R_x(\alpha)$, $R_y(\alpha)$, $R_z(\alpha)$ the turns by $\alpha$ about them, and $I$ is the 3 x 3 identity.
#
# ### One matrix, two readings
# *established* (Lynch and Park, *Modern Robotics*, section 3.2). A rotation matrix $R_{AB}$ has as columns the axes of $B$, written in $A$. Its columns are unit vectors at right angles, so $R^\top R = I$, $\det R = 1$, and $R^{-1} = R^\top$.
#
# - *Active*: $R\,p$ is another vector, $p$ turned; the frame stays.
# - *Passive*: $p_A = R_{AB}\,p_B$ and $p_B = R_{AB}^\top\,p_A$ are two descriptions of the same vector.
#
# For $R_z(90°)$ and $(1, 0, 0)$: the active reading gives $(0, 1, 0)$, the vector points along $y$ now. The passive one, $R^\top p$, gives $(0, -1, 0)$: seen from a frame turned to the left, the old $x$ axis lies to the right.
#
# ### Composition, intrinsic and extrinsic
# *established.* $R_{AC} = R_{AB}\,R_{BC}$: the inner letters meet. Read **left to right**, each factor is a turn about the axes reached so far (*intrinsic*); read **right to left**, each is a turn about the fixed axes of $A$ (*extrinsic*). It is one product with two stories. Order matters: $R_z(90°) R_x(90°)$ and $R_x(90°) R_z(90°)$ are 120 deg apart (*our measurement*, printed under *In MuJoCo*).
#
# ### Axis and angle
# *established* (Euler's theorem; Rodrigues). Every rotation is a turn by an angle $\alpha$ about a unit axis $n$. With the skew matrix $K$ of $n$, which means $K v = n \times v$ for every vector $v$,
# $$R = I + \sin\alpha\, K + (1 - \cos\alpha)\, K^2, \qquad K = \begin{pmatrix} 0 & -n_z & n_y \\ n_z & 0 & -n_x \\ -n_y & n_x & 0 \end{pmatrix}.$$
# *derivation.* Split $v$ into the part along $n$, which stays, and the part across, $v_\perp$. $K v$ is $v_\perp$ turned by 90 deg, and $K^2 v$ is $v_\perp$ turned by 180 deg, that is, $-v_\perp$. The turn takes $v_\perp$ to $\cos\alpha\, v_\perp + \sin\alpha\, K v$. So the turned vector is $v + \sin\alpha\, K v + (1 - \cos\alpha)\, K^2 v$.
#
# ### Unit quaternions
# *established* (Lynch and Park, appendix B.3; MuJoCo documentation, Programming: Simulation, "Data layout"). $q = (w, u) = (\cos\tfrac\alpha2,\ \sin\tfrac\alpha2\, n)$ with scalar part $w$ first, vector part $u = (x, y, z)$, and $|q| = 1$. The product of two, and the conjugate $\bar q$, are
# $$(w_a, u_a)(w_b, u_b) = (w_a w_b - u_a \cdot u_b,\ \ w_a u_b + w_b u_a + u_a \times u_b), \qquad \bar q = (w, -u).$$
# A vector $v$ turns into $v'$ by $(0, v') = q\,(0, v)\,\bar q$. **Half the angle**, because $q$ acts from both sides: each side does half of the turn. **Double cover**: $q$ and $-q$ give the same $v'$, since the two signs cancel. So orientations are compared by angle, $\alpha = 2 \arccos |q_0 \cdot q_1|$, never number by number.
#
# *derivation.* Multiplied out, $v' = v + 2 w\, u \times v + 2\, u \times (u \times v)$. Its matrix is $R = I + 2 w\, U + 2\, U^2$, with $U$ the skew matrix of $u$; for $\sin\tfrac\alpha2\, n$ this is Rodrigues' formula again.
#
# ### From a matrix to a quaternion
# *derivation.* Read the entries of that $R$, rows and columns counted from 0. The trace, the sum of the diagonal, gives $4 w^2 = 1 + \operatorname{tr} R$; differences across the diagonal give products with $w$, $R_{21} - R_{12} = 4 w x$; sums give the others, $R_{10} + R_{01} = 4 x y$; and so on in turn. With $w$ known, divide by it. But near 180 deg $w$ goes to zero and the division loses all digits. *established* (Shepperd, 1978): one of $w, x, y, z$ is at least $\tfrac12$ in size, and each has its own square, $4 x^2 = 1 + R_{00} - R_{11} - R_{22}$ and so on. Take the largest, and divide by that.
#
# ### Yaw, pitch, roll and their rates
# Intrinsic z-y'-x'' (a prime for each turn made before): $R = R_z(\psi)\,R_y(\theta)\,R_x(\phi)$ with yaw $\psi$, pitch $\theta$, roll $\phi$. Then $R_{20} = -\sin\theta$, $\psi = \mathrm{atan2}(R_{10}, R_{00})$, $\phi = \mathrm{atan2}(R_{21}, R_{22})$. With $z$ up, a *positive* pitch tips the nose (the body's $x$) down: at 90 deg the camera of the lab looks at the floor, at -90 deg at the sky.
#
# At $\theta = \pm 90°$ these four entries are zero, and atan2 has nothing to go by. What is left of $R$ depends on one angle only, $\psi - \phi$ at +90 deg and $\psi + \phi$ at -90 deg: choose one of the two and the other follows.
#
# *derivation.* The body's angular velocity $\omega$ (rad/s, **body frame**) is the sum of three turns about three axes. Roll turns about the body's own $x$: $e_x$. Pitch turns about the $y$ axis as it was before the roll: $R_x(\phi)^\top e_y$. Yaw turns about the vertical: $R_x(\phi)^\top R_y(\theta)^\top e_z$. With a dot for the rate of each angle, and the three axes as columns,
# $$\omega = E\,(\dot\phi, \dot\theta, \dot\psi)^\top, \qquad E = \begin{pmatrix} 1 & 0 & -\sin\theta \\ 0 & \cos\phi & \sin\phi \cos\theta \\ 0 & -\sin\phi & \cos\phi \cos\theta \end{pmatrix}, \qquad \det E = \cos\theta.$$
# **Why it locks.** At $\theta = 90°$ the first and the third column are opposite, at -90 deg equal: roll and yaw turn about one line. A turn about the direction $(0, \sin\phi, \cos\phi)$ (body frame) is then out of reach; below we call it the *lost direction*.
#
# **How bad it is before.** Feed $E$ with Euler rates of length 1 rad/s in every direction. The largest and the smallest turn rate that come out are its largest and smallest *singular value*. A small one means that some turn of the body needs fast Euler rates: up to one over it. The *condition number*, $\operatorname{cond} E$, is largest over smallest: how unevenly the directions are treated, 1 being even. *derivation:* column 2 is at right angles to the others, and columns 1 and 3 enclose the cosine $-\sin\theta$, so the singular values are $\sqrt{1 + \sin\theta}$, $1$, $\sqrt{1 - \sin\theta}$ (for $\theta \ge 0$), and
# $$\operatorname{cond} E = \sqrt{\frac{1 + \sin\theta}{1 - \sin\theta}} = \frac{1 + \sin\theta}{\cos\theta}.$$
#
# ### Blending two orientations
# *established* (Shoemake, 1985). On the sphere of unit quaternions the shortest way from $q_0$ to $q_1$ is an arc of a great circle, of the angle $h$ with $\cos h = q_0 \cdot q_1$: half the angle between the two orientations. At the fraction $t$ of the way, from 0 to 1,
# $$\operatorname{slerp}(q_0, q_1, t) = \frac{\sin((1 - t) h)}{\sin h}\, q_0 + \frac{\sin(t h)}{\sin h}\, q_1 .$$
# It turns about one axis at constant speed (*slerp* is short for spherical linear interpolation). **The sign check**: if $q_0 \cdot q_1 < 0$, replace $q_1$ by $-q_1$ first. It is the same goal, but $h$ falls below 90 deg and the turn below 180 deg. Without the check a turn of 60 deg is made the other way round, through 300 deg.
#
# | representation | numbers | formula | bad poses | for |
# |---|---|---|---|---|
# | rotation matrix | 9 | columns are axes | none; drifts from orthogonal by rounding | compose, turn vectors |
# | axis and angle | 4 | Rodrigues | no axis at angle 0; two axes at 180 deg | think |
# | unit quaternion | 4 | half angle | none; two signs for each pose | store, compose, blend |
# | Euler angles | 3 | three factors | a whole neighbourhood of middle angle ±90 deg | show |

# %%
ask(
    "Is `Rx(90 deg).T` the active rotation by -90 deg about x, or the passive change of coordinates into a frame turned by +90 deg?",
    {
        "The active rotation by -90 deg.": "It is, and it is the other as well: the numbers are the same.",
        "The passive change into a frame turned by +90 deg.": "It is, and it is the other as well: the numbers are the same.",
        "Both.": "One matrix, two readings. Turning the vector back and turning the frame forth give the same numbers. Say which you mean; the matrix cannot.",
    },
    right="Both.",
)

# %%
ask(
    'URDF\'s roll-pitch-yaw is the *extrinsic* sequence x, y, z (`"XYZ"` in MJCF). At which middle angle is it singular, and which intrinsic sequence gives the same matrix?',
    {
        "Never: extrinsic sequences have no lock, the axes are fixed.": "The axes are fixed, but the product is the same as that of an intrinsic sequence, so the same poses are bad.",
        "Middle angle ±90 deg; intrinsic z-y'-x'' with the angles in reverse order.": "`Rz(c) Ry(b) Rx(a)` read right to left is extrinsic x, y, z; read left to right it is intrinsic z, y', x''. One product, one lock.",
        "Middle angle ±90 deg; intrinsic x-y'-z'' with the same angles.": "Intrinsic x-y'-z'' is `Rx(a) Ry(b) Rz(c)`: the factors stand the other way round, so it is another matrix.",
        "Middle angle 0 or 180 deg.": "That holds for sequences which use one axis twice, such as z-x-z. Three different axes lock at ±90 deg.",
    },
    right="Middle angle ±90 deg; intrinsic z-y'-x'' with the angles in reverse order.",
)


# %% [markdown]
# ## In MuJoCo
#
# (MuJoCo documentation: API reference, "Quaternions" and "Poses"; Modeling, "Frame orientations"; Programming: Simulation, "Data layout" and "Coordinate frames and transformations"; Overview, "Floating objects"; XML reference, `compiler/eulerseq`.)
#
# MuJoCo stores `(w, x, y, z)`. Its small functions write into an array that you give as the *first* argument and return nothing. What each form is for, and who converts:
#
# ```text
# SHOW, THINK                          STORE AND BLEND            COMPOSE, TURN VECTORS
#
# Euler angles -- mju_euler2Quat ----.
#                                     >  quaternion  -- mju_quat2Mat ->  rotation matrix
# axis, angle  -- mju_axisAngle2Quat-'   (w,x,y,z)   <- mju_mat2Quat --  (9,), row by row
#
# between quaternions:
#   mju_mulQuat(out, a, b)      out = a b
#   mju_negQuat(out, q)         the conjugate
#   mju_rotVecQuat(out, v, q)   v turned by q
#   mju_subQuat(out, a, b)      the turn from b to a: axis times angle, frame of b
# ```
#
# There is no function from a quaternion back to Euler angles: MuJoCo has no use for them. `data.xquat` (4 a body) and `data.xmat` (9 a body, **flat**) hold the orientation of every body in the world; `data.xmat[i].reshape(3, 3)` makes a matrix of it.
#
# **The letters of a sequence.** This is where silent mistakes come from:
#
# | | order of components | `zyx` | `ZYX` | matrix |
# |---|---|---|---|---|
# | MuJoCo `mju_euler2Quat`, MJCF `eulerseq` | `(w, x, y, z)` | **intrinsic** | extrinsic | flat, row-major |
# | SciPy `Rotation.from_euler` | `(x, y, z, w)` unless `scalar_first=True` | extrinsic | **intrinsic** | (3, 3) |
#
# MJCF's default is `eulerseq="xyz"`, intrinsic. URDF's roll-pitch-yaw is `"XYZ"`, extrinsic, in MJCF. Nothing complains when they are mixed up; you get another rotation. The next cell measures by how much.

# %%
@experiment
def conventions():
    """Two libraries, the same letters: how far apart their matrices are."""
    from scipy.spatial.transform import Rotation

    def mujoco_matrix(angles, sequence):
        quat, flat = np.empty(4), np.empty(9)
        mujoco.mju_euler2Quat(quat, angles, sequence)
        mujoco.mju_quat2Mat(flat, quat)
        return flat.reshape(3, 3)

    angles = np.random.default_rng(0).uniform(-np.pi, np.pi, (1000, 3))
    ours = np.array([mujoco_matrix(a, "zyx") for a in angles])
    same_letters = np.abs(Rotation.from_euler("zyx", angles).as_matrix() - ours).max()
    other_case = np.abs(Rotation.from_euler("ZYX", angles).as_matrix() - ours).max()
    print(f'MuJoCo "zyx" and SciPy "zyx": largest difference of an entry  {same_letters:.2f}')
    print(f'MuJoCo "zyx" and SciPy "ZYX": largest difference of an entry  {other_case:.1e}')

    Rz, Rx = Rotation.from_euler("z", 90, degrees=True), Rotation.from_euler("x", 90, degrees=True)
    apart = np.rad2deg(((Rz * Rx).inv() * (Rx * Rz)).magnitude())
    print(f"Rz(90) Rx(90) and Rx(90) Rz(90) are {apart:.1f} deg apart")

    x = np.array([1.0, 0, 0])
    active, passive = np.round(Rz.as_matrix() @ x), np.round(Rz.as_matrix().T @ x)
    print(f"Rz(90) and (1, 0, 0): active {active + 0.0}, passive {passive + 0.0}")
    return {
        "same letters": same_letters,
        "other case": other_case,
        "apart": apart,
        "active": active,
        "passive": passive,
    }


# %% [markdown]
# ## Build it
#
# Fourteen exercises make a toolbox of your own, to be compared with MuJoCo and SciPy down to rounding. Everything is **by hand**: NumPy only, no `mujoco.mju_*` and no SciPy `Rotation` in your code (the checks use them). Quaternions are `(w, x, y, z)` and unit unless it says otherwise, angles in rad, matrices (3, 3). Arguments are arrays unless it says otherwise, and stay as they were. Lists and tuples are as good as arrays for a result. A function may call earlier ones of yours; a mistake in an earlier one costs its own points only. Those marked ● in the table at the top are the core; the others can wait.

# %%
# Folded: MuJoCo's functions with a result to return, for the checks.
def from_mujoco(function, size, *args):
    """What a function of MuJoCo writes into its first argument, as a new array (size,)."""
    out = np.empty(size)
    function(out, *args)
    return out


def matrix_from_mujoco(quat):
    """The rotation matrix (3, 3) of a quaternion."""
    return from_mujoco(mujoco.mju_quat2Mat, 9, quat).reshape(3, 3)


# %% [markdown]
# ### `active_passive`: one matrix, two readings
# `rotate_active(R, p)` returns (3,): the vector `p` (3,) turned by `R`. `coordinates_in_rotated_frame(R, p)` returns (3,): the coordinates of the same vector `p` in the frame whose axes are the columns of `R`.

# %% solution="active_passive"
def rotate_active(R, p):
    """The vector p (3,) turned by R (3, 3); the frame stays."""
    ### BEGIN SOLUTION
    return R @ p
    ### END SOLUTION


def coordinates_in_rotated_frame(R, p):
    """Coordinates (3,) of the vector p (3,) in the frame whose axes are the columns of R (3, 3)."""
    ### BEGIN SOLUTION
    return R.T @ p
    ### END SOLUTION


# %% check="active_passive"
@visible_check("active_passive")
def check_active_passive(check):
    def compare(label, got, right, other, sentence):
        check.close(label, got, right) or check.unlike(label, got, other, otherwise=sentence)

    Rz = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])
    x, to_left, to_right = np.array([[1.0, 0, 0], [0, 1, 0], [0, -1, 0]])
    swapped = (
        "this is the passive reading, for the other function",
        "this is the active reading, for the other function",
    )
    turned, seen = rotate_active(Rz, x), coordinates_in_rotated_frame(Rz, x)
    compare("Rz(90 deg) turns (1, 0, 0) into (0, 1, 0)", turned, to_left, to_right, swapped[0])
    compare("seen from the turned frame it is (0, -1, 0)", seen, to_right, to_left, swapped[1])
    R = scipy.spatial.transform.Rotation.random(20, 1)
    for turn, p in zip(R, np.random.default_rng(2).normal(size=(20, 3)), strict=True):
        active, passive = turn.apply(p), turn.apply(p, inverse=True)
        turned = rotate_active(turn.as_matrix(), p)
        seen = coordinates_in_rotated_frame(turn.as_matrix(), p)
        compare("rotate_active vs SciPy apply", turned, active, passive, swapped[0])
        compare("coordinates vs SciPy apply(inverse)", seen, passive, active, swapped[1])


# %% test="active_passive"
# Hidden tests: random rotations and vectors, a quarter turn, inputs left as they were.

# %% [markdown]
# ### `quat_mul`: the product of two quaternions
# `quat_mul(a, b)` returns (4,): the product `a b`. It is the composition `R(a) R(b)`. Quaternions that are not unit multiply by the same formula; nothing is normalised.

# %% solution="quat_mul"
def quat_mul(a, b):
    """The quaternion product a b (4,), scalar first."""
    ### BEGIN SOLUTION
    w, x, y, z = a
    p, q, r, s = b
    return np.array(
        [
            w * p - x * q - y * r - z * s,
            w * q + x * p + y * s - z * r,
            w * r - x * s + y * p + z * q,
            w * s + x * r - y * q + z * p,
        ]
    )
    ### END SOLUTION


# %% check="quat_mul"
@visible_check("quat_mul")
def check_quat_mul(check):
    def product(a, b):
        return from_mujoco(mujoco.mju_mulQuat, 4, a, b)

    def compare(label, a, b):
        got, right = quat_mul(a, b), product(a, b)
        if check.close(label, got, right, up_to_sign=True):
            return
        other = product(b, a)
        check.unlike(label, got, other, otherwise="this is the product `b a`: the other order")
        last = np.roll(product(np.roll(a, 1), np.roll(b, 1)), -1)
        check.unlike(label, got, last, otherwise="this takes the scalar part as the last number")
        for i, j in np.ndindex(4, 4):
            term = a[i] * b[j] * product(np.eye(4)[i], np.eye(4)[j])
            names = f"`{'wxyz'[i]}` of `a` times `{'wxyz'[j]}` of `b`"
            check.unlike(label, got, right - 2 * term, otherwise=f"{names} has the wrong sign")

    for a, b in np.random.default_rng(1).normal(size=(50, 2, 4)):
        compare("quat_mul vs mju_mulQuat (not unit)", a, b)
        a, b = a / np.linalg.norm(a), b / np.linalg.norm(b)
        product_matrix = matrix_from_mujoco(np.asarray(quat_mul(a, b), float))
        both = matrix_from_mujoco(a) @ matrix_from_mujoco(b)
        check.close("R(a b) vs R(a) R(b)", product_matrix, both)
    one = np.array([1.0, 0, 0, 0])
    check.close("the identity changes nothing", quat_mul(one, a), a, up_to_sign=True)


# %% test="quat_mul"
# Hidden tests: random unit quaternions, the identity, quaternions that are not unit, inputs left as they were.

# %% [markdown]
# ### `quat_conj`: the conjugate
# `quat_conj(q)` returns (4,): the conjugate of `q`, which for a unit quaternion is the inverse rotation. In this exercise alone the sign is fixed, number by number. `q` itself stays as it was.

# %% solution="quat_conj"
def quat_conj(q):
    """The conjugate (4,) of q, scalar first."""
    ### BEGIN SOLUTION
    w, x, y, z = q
    return np.array([w, -x, -y, -z])
    ### END SOLUTION


# %% check="quat_conj"
@visible_check("quat_conj")
def check_quat_conj(check):
    for q in scipy.spatial.transform.Rotation.random(20, 1).as_quat(scalar_first=True):
        right, before = from_mujoco(mujoco.mju_negQuat, 4, q), q.copy()
        check.close("quat_conj vs mju_negQuat", quat_conj(q), right)
        check.unchanged("the input is left as it was", before, q)


# %% test="quat_conj"
# Hidden tests: unit quaternions of both signs; the input is left as it was.

# %% [markdown]
# ### `quat_rotate`: turn a vector
# `quat_rotate(q, v)` returns (3,): the vector `v` (3,) turned by `q`, which is the vector part of $q\,(0, v)\,\bar q$.

# %% solution="quat_rotate"
def quat_rotate(q, v):
    """The vector v (3,) turned by the unit quaternion q (4,)."""
    ### BEGIN SOLUTION
    w, u = q[0], np.asarray(q[1:])
    t = 2 * np.cross(u, v)
    return np.asarray(v) + w * t + np.cross(u, t)
    ### END SOLUTION


# %% check="quat_rotate"
@visible_check("quat_rotate")
def check_quat_rotate(check):
    def compare(label, q, v, right):
        got = quat_rotate(q, v)
        if check.close(label, got, right):
            return
        back = from_mujoco(mujoco.mju_rotVecQuat, 3, v, q * [1, -1, -1, -1])
        check.unlike(label, got, back, otherwise="this turns backwards: conj(q) stands on the left")
        half = from_mujoco(mujoco.mju_mulQuat, 4, q, np.array([0.0, *v]))[1:]
        check.unlike(label, got, half, otherwise="only one side is multiplied: conj(q) is missing")

    vectors = np.random.default_rng(2).normal(size=(50, 3))
    turns = scipy.spatial.transform.Rotation.random(50, 1).as_quat(scalar_first=True)
    for q, v in zip(turns, vectors, strict=True):
        right = from_mujoco(mujoco.mju_rotVecQuat, 3, v, q)
        compare("quat_rotate vs mju_rotVecQuat", q, v, right)
        compare("-q turns the same way", -q, v, right)
    half_turn, v = np.array([0.0, 0, 0, 1]), np.array([1.0, 2, 3])
    check.close("half a turn about z", quat_rotate(half_turn, v), [-1, -2, 3])


# %% test="quat_rotate"
# Hidden tests: random rotations, -q, the zero vector, half a turn, no turn, inputs left as they were.

# %% [markdown]
# ### `quat_to_mat`: from a quaternion to a matrix
# `quat_to_mat(q)` returns (3, 3): the rotation matrix of `q`, with the turned axes as its columns.

# %% solution="quat_to_mat"
def quat_to_mat(q):
    """The rotation matrix (3, 3) of the unit quaternion q (4,)."""
    ### BEGIN SOLUTION
    w, x, y, z = q
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )
    ### END SOLUTION


# %% check="quat_to_mat"
@visible_check("quat_to_mat")
def check_quat_to_mat(check):
    for q in scipy.spatial.transform.Rotation.random(50, 1).as_quat(scalar_first=True):
        check.close("quat_to_mat vs mju_quat2Mat", quat_to_mat(q), matrix_from_mujoco(q))
        check.close("-q gives the same matrix", quat_to_mat(-q), matrix_from_mujoco(q))


# %% test="quat_to_mat"
# Hidden tests: random rotations, -q, half a turn, no turn, the input left as it was.

# %% [markdown]
# ### `axis_angle_to_quat`: from axis and angle to a quaternion
# `axis_angle_to_quat(axis, angle)` returns (4,): the quaternion of a turn by `angle` (rad, any size, any sign) about the unit vector `axis`, which may be a list.

# %% solution="axis_angle_to_quat"
def axis_angle_to_quat(axis, angle):
    """The unit quaternion (4,) of a turn by angle (rad) about the unit axis (3,)."""
    ### BEGIN SOLUTION
    return np.array([np.cos(angle / 2), *(np.sin(angle / 2) * np.asarray(axis, float))])
    ### END SOLUTION


# %% check="axis_angle_to_quat"
@visible_check("axis_angle_to_quat")
def check_axis_angle_to_quat(check):
    def quat(axis, angle):
        return from_mujoco(mujoco.mju_axisAngle2Quat, 4, axis, angle)

    label, rng = "axis_angle_to_quat vs mju_axisAngle2Quat", np.random.default_rng(1)
    for axis in rng.normal(size=(50, 3)):
        axis, angle = axis / np.linalg.norm(axis), rng.uniform(-10, 10)
        got = axis_angle_to_quat(axis, angle)
        if not check.close(label, got, quat(axis, angle), up_to_sign=True):
            whole, degrees = quat(axis, 2 * angle), quat(axis, np.deg2rad(angle))
            check.unlike(label, got, whole, otherwise="the angle must be halved")
            check.unlike(label, got, degrees, otherwise="the angle is in rad, not in degrees")
    got, right = axis_angle_to_quat([0, 0, 1], 1.0), quat(np.array([0.0, 0, 1]), 1.0)
    check.close("the axis as a list", got, right, up_to_sign=True)


# %% test="axis_angle_to_quat"
# Hidden tests: angles that are zero, negative, larger than a turn; an axis as a list; the axis left as it was.

# %% [markdown]
# ### `axis_angle_to_mat`: Rodrigues' formula
# `axis_angle_to_mat(axis, angle)` returns (3, 3): the matrix of the same turn. It must hold for tiny angles (1e-9 rad) as well as for 180 deg.

# %% solution="axis_angle_to_mat"
def axis_angle_to_mat(axis, angle):
    """The rotation matrix (3, 3) of a turn by angle (rad) about the unit axis (3,)."""
    ### BEGIN SOLUTION
    x, y, z = axis
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K
    ### END SOLUTION


# %% check="axis_angle_to_mat"
@visible_check("axis_angle_to_mat")
def check_axis_angle_to_mat(check):
    rng = np.random.default_rng(1)
    for axis in rng.normal(size=(50, 3)):
        axis = axis / np.linalg.norm(axis)
        angles = {"": rng.uniform(-4, 4), ", tiny angle": 1e-7, ", 180 deg": np.pi}
        for name, angle in angles.items():
            label = f"axis_angle_to_mat vs SciPy from_rotvec{name}"
            R = scipy.spatial.transform.Rotation.from_rotvec(angle * axis).as_matrix()
            got = axis_angle_to_mat(axis, angle)
            if not check.close(label, got, R) and not name:
                K, KK = (R - R.T) / 2 / np.sin(angle), np.outer(axis, axis) - np.eye(3)
                by_entry = R + (1 - np.cos(angle)) * (K * K - KK)
                told = "K * K is entry by entry: K @ K is meant"
                check.unlike(label, got, by_entry, otherwise=told)
                swapped = np.eye(3) + (1 - np.cos(angle)) * K + np.sin(angle) * KK
                check.unlike(label, got, swapped, otherwise="sin and 1 - cos are exchanged")


# %% test="axis_angle_to_mat"
# Hidden tests: any axis and angle, tiny angles, 180 deg, no angle, the axis left as it was.

# %% [markdown]
# ### `mat_to_quat`: from a matrix to a quaternion
# `mat_to_quat(R)` returns (4,): the unit quaternion of the rotation matrix `R`, with the sign chosen so that `w >= 0`. It must hold at 180 deg and within 1e-9 rad of it, about any axis. At 180 deg exactly `w` is zero and either sign is right.

# %% solution="mat_to_quat"
def mat_to_quat(R):
    """The unit quaternion (4,) of the rotation matrix R (3, 3), w >= 0 (Shepperd's method)."""
    ### BEGIN SOLUTION
    R = np.asarray(R, float)
    t = np.trace(R)
    k = int(np.argmax([t, *np.diag(R)]))  # which of w, x, y, z is the largest
    if k == 0:
        q = np.array([1 + t, R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    else:
        i, j, m = k - 1, k % 3, (k + 1) % 3
        q = np.empty(4)
        q[0] = R[m, j] - R[j, m]
        q[1 + i] = 1 + R[i, i] - R[j, j] - R[m, m]
        q[1 + j] = R[i, j] + R[j, i]
        q[1 + m] = R[i, m] + R[m, i]
    q = q / np.linalg.norm(q)  # q held 4 times the largest entry times itself
    return -q if q[0] < 0 else q
    ### END SOLUTION


# %% check="mat_to_quat"
@visible_check("mat_to_quat")
def check_mat_to_quat(check):
    for turn in scipy.spatial.transform.Rotation.random(200, 1):
        R = turn.as_matrix()
        right, got = from_mujoco(mujoco.mju_mat2Quat, 4, R.ravel()), mat_to_quat(R)
        check.close("mat_to_quat vs mju_mat2Quat", got, right, up_to_sign=True)
        check.close("mat_to_quat vs SciPy", got, turn.as_quat(scalar_first=True), up_to_sign=True)
        check.true("w >= 0", got[0] >= -1e-12, "the scalar part is negative: return -q there")
    axes = dict(zip("xyz", np.eye(3), strict=True)) | {"(1, -2, 2)": np.array([1, -2, 2]) / 3}
    for name, n in axes.items():
        label, got = f"180 deg about {name}", mat_to_quat(2 * np.outer(n, n) - np.eye(3))
        if not check.close(label, got, [0, *n], up_to_sign=True):
            no_signs = "R[2, 1] - R[1, 2] and its like are zero here: they have no sign to give"
            check.unlike(label, got, np.zeros(4), [0, *np.abs(n)], otherwise=no_signs)


# %% test="mat_to_quat"
# Hidden tests: rotations in which w, x, y or z is the largest; 180 deg and within 1e-9 rad of it; the matrix left as it was.

# %% [markdown]
# ### `euler_zyx_to_mat`: from yaw, pitch, roll to a matrix
# `euler_zyx_to_mat(yaw, pitch, roll)` returns (3, 3): the matrix of the intrinsic sequence z-y'-x''. Yaw comes first, about z; then pitch, about the y reached; then roll, about the x reached. Mind the order of the arguments.

# %% solution="euler_zyx_to_mat"
def euler_zyx_to_mat(yaw, pitch, roll):
    """Rz(yaw) Ry(pitch) Rx(roll), (3, 3); angles in rad."""
    ### BEGIN SOLUTION
    cy, sy = np.cos(yaw), np.sin(yaw)
    cp, sp = np.cos(pitch), np.sin(pitch)
    cr, sr = np.cos(roll), np.sin(roll)
    Rz = np.array([[cy, -sy, 0], [sy, cy, 0], [0, 0, 1]])
    Ry = np.array([[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]])
    Rx = np.array([[1, 0, 0], [0, cr, -sr], [0, sr, cr]])
    return Rz @ Ry @ Rx
    ### END SOLUTION


# %% check="euler_zyx_to_mat"
@visible_check("euler_zyx_to_mat")
def check_euler_zyx_to_mat(check):
    import itertools

    def scipy_matrix(sequence, *angles):
        return scipy.spatial.transform.Rotation.from_euler(sequence, angles).as_matrix()

    for angles in np.random.default_rng(1).uniform(-np.pi, np.pi, (50, 3)):
        yaw, pitch, roll = angles
        orders = list(itertools.permutations(angles))[1:]
        mistakes = {
            "the extrinsic sequence, Rx Ry Rz": [scipy_matrix("zyx", *angles)],
            "Ry turned backwards: its minus stands below the diagonal": [
                scipy_matrix("ZYX", yaw, -pitch, roll)
            ],
            "an angle in the wrong factor: yaw is for Rz, pitch for Ry, roll for Rx": [
                scipy_matrix(sequence, *order) for order in orders for sequence in ("ZYX", "zyx")
            ],
        }
        quat = from_mujoco(mujoco.mju_euler2Quat, 4, angles, "zyx")
        got = euler_zyx_to_mat(yaw, pitch, roll)
        for label, right in (
            ('euler_zyx_to_mat vs mju_euler2Quat "zyx"', matrix_from_mujoco(quat)),
            ('euler_zyx_to_mat vs SciPy "ZYX"', scipy_matrix("ZYX", *angles)),
        ):
            if not check.close(label, got, right):
                for what, wrong in mistakes.items():
                    check.unlike(label, got, *wrong, otherwise=f"this is {what}")


# %% test="euler_zyx_to_mat"
# Hidden tests: any pose, one angle at a time, the lock, a pitch beyond 90 deg.

# %% [markdown]
# ### `mat_to_euler_zyx`: from a matrix to yaw, pitch, roll
# `mat_to_euler_zyx(R)` returns `(yaw, pitch, roll)` in rad, with the pitch between -pi/2 and pi/2. At the lock, pitch ±90 deg, yaw and roll are not determined one by one: return *any* pair whose matrix is `R`. Rounding may lift the size of `R[2, 0]` a hair beyond 1. The tests look at the lock itself and at poses 1e-3 rad or more from it.

# %% solution="mat_to_euler_zyx"
def mat_to_euler_zyx(R):
    """(yaw, pitch, roll) in rad of the rotation matrix R (3, 3), intrinsic z-y'-x''."""
    ### BEGIN SOLUTION
    pitch = np.arcsin(np.clip(-R[2, 0], -1, 1))
    if np.hypot(R[0, 0], R[1, 0]) < 1e-9:  # cos(pitch): at the lock put all into the yaw
        return (np.arctan2(-R[0, 1], R[1, 1]), pitch, 0.0)
    return (np.arctan2(R[1, 0], R[0, 0]), pitch, np.arctan2(R[2, 1], R[2, 2]))
    ### END SOLUTION


# %% check="mat_to_euler_zyx"
@visible_check("mat_to_euler_zyx")
def check_mat_to_euler_zyx(check):
    from scipy.spatial.transform import Rotation

    rng = np.random.default_rng(1)
    for yaw, pitch, roll in rng.uniform([-3.1, -1.5, -3.1], [3.1, 1.5, 3.1], (100, 3)):
        R = Rotation.from_euler("ZYX", [yaw, pitch, roll]).as_matrix()
        check.close("round trip away from the lock (rad)", mat_to_euler_zyx(R), [yaw, pitch, roll])
    for sine, name in ((1.0, "+90"), (-1.0, "-90"), (1.0 + 4e-16, "+90 and a hair")):
        c, s = np.cos(0.4), np.sin(0.4)
        R = np.array([[0, -s, sine * c], [0, c, sine * s], [-sine, 0, 0]])
        label, back = f"the same matrix at pitch {name} deg", mat_to_euler_zyx(R)
        if not check.close(label, Rotation.from_euler("ZYX", back).as_matrix(), R):
            lost = "yaw and roll are both 0 here: arctan2(0, 0) has nothing to go by"
            check.unlike(label, np.take(back, [0, 2]), np.zeros(2), otherwise=lost)


# %% test="mat_to_euler_zyx"
# Hidden tests: every quadrant, 1e-3 rad from the lock, the lock itself, R[2, 0] a hair beyond 1, the matrix left as it was.

# %% [markdown]
# ### `euler_rate_matrix`: from Euler rates to body rates
# `euler_rate_matrix(pitch, roll)` returns the matrix `E` (3, 3) with body rates `= E @ (roll', pitch', yaw')`: each *column* is the angular velocity (rad/s, body frame) when one of the angles alone changes at 1 rad/s, in the order roll, pitch, yaw.
#
# The check turns each angle a little both ways (central differences) and reads the body rate off $R^\top \dot R$, which is the skew matrix of $\omega$.

# %% solution="euler_rate_matrix"
def euler_rate_matrix(pitch, roll):
    """E (3, 3): body rates (rad/s) = E @ (roll', pitch', yaw')."""
    ### BEGIN SOLUTION
    cp, sp, cr, sr = np.cos(pitch), np.sin(pitch), np.cos(roll), np.sin(roll)
    return np.array([[1, 0, -sp], [0, cr, sr * cp], [0, -sr, cr * cp]])
    ### END SOLUTION


# %% check="euler_rate_matrix"
@visible_check("euler_rate_matrix")
def check_euler_rate_matrix(check):
    from scipy.spatial.transform import Rotation

    h = 1e-5
    for angles in np.random.default_rng(1).uniform(-1.5, 1.5, (20, 3)):
        columns = []
        for k in (2, 1, 0):  # roll, pitch, yaw
            step = h * np.eye(3)[k]
            ahead = Rotation.from_euler("ZYX", angles + step).as_matrix()
            behind = Rotation.from_euler("ZYX", angles - step).as_matrix()
            R = Rotation.from_euler("ZYX", angles).as_matrix()
            W = R.T @ (ahead - behind) / (2 * h)
            columns.append([W[2, 1], W[0, 2], W[1, 0]])
        pitch, roll = angles[1:]
        E, exact = euler_rate_matrix(pitch, roll), rates_from_mujoco(pitch, roll)
        check.close("euler_rate_matrix vs central differences", E, np.array(columns).T)
        label = "euler_rate_matrix vs MuJoCo's Jacobian"
        if not check.close(label, E, exact):
            order = "the columns are for yaw', pitch', roll': the other order is asked for"
            check.unlike(label, E, exact[:, ::-1], otherwise=order)
            world = "these are rates about the world's axes, at yaw 0, not about the body's"
            world_axes = Rotation.from_euler("ZYX", [0, pitch, roll]).as_matrix()
            check.unlike(label, E, world_axes @ exact, otherwise=world)
        check.close("det E vs cos(pitch)", np.linalg.det(E), np.cos(pitch))


# %% test="euler_rate_matrix"
# Hidden tests: any pitch and roll, zero angles, close to the lock, the lock itself.

# %% [markdown]
# ### `slerp`: the shortest turn at constant speed
# `slerp(q0, q1, t)` returns (4,): the orientation at the fraction `t` (0 to 1) of the *shortest* turn from `q0` to `q1`. Three things to mind: the sign check; two equal quaternions (no division by zero); and the switch to a linear blend for small angles that many codes make at a dot product of 0.9995. That blend is off by up to 1e-6 rad. Here the result must be exact to 1e-9 at every angle above 1e-6 rad.

# %% solution="slerp"
def slerp(q0, q1, t):
    """The unit quaternion (4,) at fraction t of the shortest turn from q0 to q1."""
    ### BEGIN SOLUTION
    q0, q1 = np.asarray(q0, float), np.asarray(q1, float)
    if q0 @ q1 < 0:
        q1 = -q1  # the same goal, the short way
    aside = q1 - (q0 @ q1) * q0  # the part of q1 at right angles to q0, of length sin(h)
    size = np.linalg.norm(aside)
    if size < 1e-15:
        return q0.copy()
    h = np.arctan2(size, q0 @ q1)
    return np.cos(t * h) * q0 + np.sin(t * h) * aside / size
    ### END SOLUTION


# %% check="slerp"
@visible_check("slerp")
def check_slerp(check):
    from scipy.spatial.transform import Rotation, Slerp

    rng = np.random.default_rng(1)

    def compare(label, start, turn):
        ends = Rotation.concatenate([start, start * turn])
        q0, q1 = ends.as_quat(scalar_first=True) * rng.choice([-1, 1], (2, 1))
        right, v = Slerp([0, 1], ends), turn.as_rotvec()
        for t in (0.0, 0.2, 0.7, 1.0):
            got = slerp(q0, q1, t)
            if not check.close(label, got, right(t).as_quat(scalar_first=True), up_to_sign=True):
                v_long = v - 2 * np.pi * v / np.linalg.norm(v)
                long = (start * Rotation.from_rotvec(t * v_long)).as_quat(scalar_first=True)
                check.unlike(label, got, long, -long, otherwise="it takes the long way round")
                for sign in (1, -1):
                    line = (1 - t) * q0 + sign * t * q1
                    check.unlike(label, got, line, otherwise="a straight line: its length is not 1")
                    line /= np.linalg.norm(line)
                    too_coarse = "a straight line, made unit again: it does not turn evenly"
                    check.unlike(label, got, line, -line, otherwise=too_coarse)

    for start, axis in zip(
        Rotation.random(20, 1), Rotation.random(20, 2).as_matrix()[:, 0], strict=True
    ):
        compare(
            "slerp vs SciPy Slerp, signs as they come",
            start,
            Rotation.from_rotvec(rng.uniform(0.2, 3) * axis),
        )
        compare("3 deg apart", start, Rotation.from_rotvec(0.05 * axis))
        compare("1e-5 rad apart", start, Rotation.from_rotvec(1e-5 * axis))
        q = start.as_quat(scalar_first=True)
        check.close("identical ends", slerp(q, q, 0.3), q, up_to_sign=True)
        check.close("q and -q", slerp(q, -q, 0.3), q, up_to_sign=True)


# %% test="slerp"
# Hidden tests: both signs, identical ends, 1e-10 rad apart, t = 0 and 1, 180 deg (either way round), every angle from 1e-6 rad on; inputs left as they were.

# %% [markdown]
# ### `quat_angle`: how far apart two orientations are
# `quat_angle(q0, q1)` returns a float between 0 and pi (rad): the angle of the turn from one orientation to the other. The double cover must not show. `2 arccos` is accepted, though it loses half of its digits below 1e-3 rad; `arctan2` does better, as the experiment shows.

# %% solution="quat_angle"
def quat_angle(q0, q1):
    """The angle (rad) in [0, pi] between two orientations, unit quaternions (4,)."""
    ### BEGIN SOLUTION
    q0, q1 = np.asarray(q0, float), np.asarray(q1, float)
    w = q0 @ q1
    u = q0[0] * q1[1:] - q1[0] * q0[1:] - np.cross(q0[1:], q1[1:])  # vector part of conj(q0) q1
    return float(2 * np.arctan2(np.linalg.norm(u), abs(w)))
    ### END SOLUTION


# %% check="quat_angle"
@visible_check("quat_angle")
def check_quat_angle(check):
    from scipy.spatial.transform import Rotation

    for first, second in zip(Rotation.random(50, 1), Rotation.random(50, 2), strict=True):
        q0, q1 = first.as_quat(scalar_first=True), second.as_quat(scalar_first=True)
        right = (first.inv() * second).magnitude()
        for label, q in (("quat_angle vs SciPy magnitude", q0), ("one of them negated", -q0)):
            got = quat_angle(q, q1)
            if not check.close(label, got, right):
                signed = "q and -q are one orientation: take the absolute value of the dot product"
                check.unlike(label, got, 2 * np.pi - right, otherwise=signed)
        check.close("identical: 0, not NaN", quat_angle(q0, q0), 0.0, atol=1e-7)


# %% test="quat_angle"
# Hidden tests: random pairs, one negated, identical, close together, 180 deg, inputs left as they were.

# %% [markdown]
# ### `interp_branch`: blending angles with the nearer branch
# Every orientation has *two* triples of Euler angles: `(yaw, pitch, roll)` and `(yaw ± pi, pi - pitch, roll ± pi)`. Set one against the other in `euler_zyx_to_mat` and see.
#
# `naive_euler_path(e0, e1, t)` returns (len(t), 3): a straight line in Euler angles from `e0` towards `e1`, both `(yaw, pitch, roll)` in rad. Take `e1` itself or its other triple, whichever has the difference `d` from `e0` of the smaller Euclidean norm, after wrapping **all three** entries of the difference into (-pi, pi]. The path is `e0 + t d`, not wrapped again and not folded back, even where the pitch leaves ±90 deg.

# %% solution="interp_branch"
def naive_euler_path(e0, e1, t):
    """Angles (len(t), 3) on the straight line from e0 to the nearer branch of e1, both (3,)."""
    ### BEGIN SOLUTION
    e0, e1 = np.asarray(e0, float), np.asarray(e1, float)

    def wrapped(difference):
        return np.pi - (np.pi - difference) % (2 * np.pi)

    other = np.array([e1[0] + np.pi, np.pi - e1[1], e1[2] + np.pi])
    d = min(wrapped(e1 - e0), wrapped(other - e0), key=np.linalg.norm)
    return e0 + np.outer(t, d)
    ### END SOLUTION


# %% check="interp_branch"
@visible_check("interp_branch")
def check_interp_branch(check):
    from scipy.spatial.transform import Rotation

    t = np.linspace(0, 1, 5)
    for e0, e1 in np.random.default_rng(1).uniform([-3.1, -1.5, -3.1], [3.1, 1.5, 3.1], (40, 2, 3)):
        path = np.asarray(naive_euler_path(e0, e1, t))
        check.equal("shape", path.shape, (5, 3))
        check.close("it starts at e0", path[0], e0)
        goal = Rotation.from_euler("ZYX", path[-1]).as_matrix()
        check.close(
            "it ends at the orientation of e1", goal, Rotation.from_euler("ZYX", e1).as_matrix()
        )
        check.true(
            "no difference exceeds pi",
            np.abs(path[-1] - path[0]) <= np.pi + 1e-12,
            "wrap all three differences into (-pi, pi]",
        )
        turns = 2 * np.pi * (np.stack(np.unravel_index(range(27), (3, 3, 3)), axis=1) - 1)
        to_e1, to_other = (
            np.linalg.norm(triple + turns - e0, axis=1).min()
            for triple in (e1, e1 * [1, -1, 1] + np.pi)
        )
        label, length = "it takes the nearer branch", np.linalg.norm(path[-1] - path[0])
        if not check.close(label, length, min(to_e1, to_other)):
            told = "it goes to the farther triple; wrap first, then compare"
            check.unlike(label, length, max(to_e1, to_other), otherwise=told)


# %% test="interp_branch"
# Hidden tests: wraps, flips with pitch of both signs, near the lock, one time and many; inputs left as they were.

# %% [markdown]
# ## Experiment
#
# Predict first, then run. Every figure in this section is *our measurement*, computed here.

# %%
ask(
    "At which pitch does the map from Euler rates to body rates become a problem: 45 deg, 80 deg, or only 90 deg?",
    {
        "45 deg": "There `cond E` is 2.4: uneven, but a controller hardly notices.",
        "80 deg": "`cond E` is above 11 there and the needed rates are eight times the body rate. What counts as a problem depends on your motors; what is certain is that it comes well before 90.",
        "only 90 deg": "Only there is `E` singular. But the needed rates grow like one over the distance to 90 deg, and motors have limits.",
    },
    right="80 deg",
)

# %%
ask(
    "A start and a goal are 60 deg apart. How far can a straight line in Euler angles stray from the shortest turn on its way?",
    {
        "A few degrees": "Typical where the pitch stays small, but not the worst case.",
        "At most 60 deg: the distance between the two": "Between two points that are close, the detour can be much longer than their distance.",
        "Up to 180 deg, the farthest there is": "Where the goal lies beyond pitch 90 deg, its yaw and roll jump by about half a turn, and the blend follows them round.",
    },
    right="Up to 180 deg, the farthest there is",
)


# %%
@experiment
def setting():
    """What everything below was run on."""
    import platform

    print(
        f"MuJoCo {mujoco.__version__}, NumPy {np.__version__}, SciPy {scipy.__version__},",
        f"Python {platform.python_version()}",
    )
    print(
        f"{platform.system()} on {platform.machine()};",
        "random numbers from fixed seeds, printed with each table",
    )


# %%
def angle_by_mujoco(q0, q1):
    """The angle (rad) between two orientations, from MuJoCo's rotation vector."""
    apart = np.empty(3)
    mujoco.mju_subQuat(apart, np.asarray(q0, float), np.asarray(q1, float))
    return np.linalg.norm(apart)


def matrix_by_scipy(yaw, pitch, roll):
    """Rz(yaw) Ry(pitch) Rx(roll), (3, 3), from SciPy."""
    return scipy.spatial.transform.Rotation.from_euler("ZYX", [yaw, pitch, roll]).as_matrix()


def pairs_60_deg_apart(start_pitch_deg, pairs, seed):
    """Starts as angles (pairs, 3) and as rotations, and turns by 60 deg (pairs, 3), body frame."""
    rng = np.random.default_rng(seed)
    e0 = rng.uniform(-np.pi, np.pi, (pairs, 3))  # yaw, pitch, roll
    e0[:, 1] = np.deg2rad(start_pitch_deg)
    axis = rng.normal(size=(pairs, 3))
    turn = np.deg2rad(60) * axis / np.linalg.norm(axis, axis=1, keepdims=True)
    return e0, scipy.spatial.transform.Rotation.from_euler("ZYX", e0), turn


def straight_path(e0, e1, t):
    """Angles (len(t), 3) on the straight line from e0 to e1, the difference wrapped."""
    wrapped = np.pi - (np.pi - (e1 - e0)) % (2 * np.pi)
    return e0 + np.outer(t, wrapped)


# Your functions, or these where yours are not written yet.
angle_between = mjcourse.lab.student("quat_angle", angle_by_mujoco, using="MuJoCo")
matrix_of_angles = mjcourse.lab.student("euler_zyx_to_mat", matrix_by_scipy, using="SciPy")


# %% [markdown]
# ### Rounding: your toolbox against MuJoCo and SciPy
# One thousand random rotations, the largest difference of any number. Then a thousand compositions in a row: rounding adds up, and a product of matrices drifts away from a rotation.

# %%
# Folded: every conversion, a thousand times.
@experiment
def rounding():
    """Largest errors of the toolbox over 1000 rotations (seed 10)."""
    from scipy.spatial.transform import Rotation

    rng = np.random.default_rng(10)
    turns = Rotation.random(1000, rng)
    quats, matrices, vectors = (
        turns.as_quat(scalar_first=True),
        turns.as_matrix(),
        turns.as_rotvec(),
    )
    angles = np.column_stack(
        [
            rng.uniform(-np.pi, np.pi, 1000),
            rng.uniform(-1.5, 1.5, 1000),
            rng.uniform(-np.pi, np.pi, 1000),
        ]
    )
    q4, m9 = np.empty(4), np.empty(9)

    def far(a, b):
        return np.abs(np.subtract(a, b)).max()

    def up_to_sign(a, b):
        return min(far(a, b), far(np.negative(a), b))

    def both_signs(q):
        return np.subtract(quat_to_mat(-q), quat_to_mat(q))

    def out_of_order(a, b):
        return quat_to_mat(quat_mul(a, b)) - np.matmul(quat_to_mat(a), quat_to_mat(b))

    errors = {}

    def note(name, distance, right, function, *args):
        """Keep the largest distance from `right`; NaN for a function that is not written yet."""
        try:
            errors[name] = max(errors.get(name, 0.0), distance(function(*args), right))
        except NotImplementedError:
            errors[name] = np.nan

    for q, R, v, e in zip(quats, matrices, vectors, angles, strict=True):
        mujoco.mju_quat2Mat(m9, q)
        note("quat_to_mat vs MuJoCo", far, m9.reshape(3, 3), quat_to_mat, q)
        note("quat_to_mat vs SciPy", far, R, quat_to_mat, q)
        mujoco.mju_mat2Quat(q4, R.ravel())
        note("mat_to_quat vs MuJoCo", up_to_sign, q4, mat_to_quat, R)
        note("mat_to_quat vs SciPy", up_to_sign, q, mat_to_quat, R)
        angle = np.linalg.norm(v)
        turn = v / angle, angle
        mujoco.mju_axisAngle2Quat(q4, *turn)
        note("axis_angle_to_quat vs MuJoCo", up_to_sign, q4, axis_angle_to_quat, *turn)
        note("axis_angle_to_quat vs SciPy", up_to_sign, q, axis_angle_to_quat, *turn)
        mujoco.mju_quat2Mat(m9, q4)
        note("axis_angle_to_mat vs MuJoCo", far, m9.reshape(3, 3), axis_angle_to_mat, *turn)
        note("axis_angle_to_mat vs SciPy", far, R, axis_angle_to_mat, *turn)
        mujoco.mju_euler2Quat(q4, e, "zyx")
        mujoco.mju_quat2Mat(m9, q4)
        known = matrix_by_scipy(*e)
        note("euler_zyx_to_mat vs MuJoCo", far, m9.reshape(3, 3), euler_zyx_to_mat, *e)
        note("euler_zyx_to_mat vs SciPy", far, known, euler_zyx_to_mat, *e)
        note("mat_to_euler_zyx round trip (rad)", far, e, mat_to_euler_zyx, known)
    for a, b in zip(quats, quats[::-1], strict=True):
        note("R(-q) vs R(q)", far, 0.0, both_signs, a)
        note("R(a b) vs R(a) R(b)", far, 0.0, out_of_order, a, b)
    for name, error in errors.items():
        print(f"{name:<36}{error:9.1e}" if error >= 0 else f"{name:<36}not written yet")

    R = np.eye(3)
    for step in matrices:
        R = R @ step
    drift = np.abs(R.T @ R - np.eye(3)).max()
    print(f"|R^T R - I| after 1000 compositions {drift:9.1e}")
    half_turn = np.asarray(mat_to_quat(np.diag([1.0, -1, -1])))
    print(f"180 deg about x (trace -1)           {half_turn + 0.0}")
    return {"errors": errors, "drift": drift, "half turn": half_turn}


# %%
@experiment
def small_angles():
    """Errors of the angle between two orientations close together, each way (seed 11)."""

    def by_arccos(q0, q1):
        return 2 * np.arccos(min(1.0, abs(q0 @ q1)))

    ways = {"2 arccos": by_arccos, "MuJoCo (arctan2)": angle_by_mujoco, "yours": quat_angle}
    rng = np.random.default_rng(11)
    print("angle (rad)" + "".join(f"{name:>19}" for name in ways))
    rows = {}
    for size in (1e-2, 1e-4, 1e-6, 1e-8):
        errors = dict.fromkeys(ways, 0.0)
        for axis, q in zip(rng.normal(size=(100, 3)), rng.normal(size=(100, 4)), strict=True):
            q0, half, q1 = q / np.linalg.norm(q), np.empty(4), np.empty(4)
            mujoco.mju_axisAngle2Quat(half, axis / np.linalg.norm(axis), size)
            mujoco.mju_mulQuat(q1, q0, half)
            for name, way in ways.items():
                try:
                    errors[name] = max(errors[name], abs(way(q0, q1) - size))
                except NotImplementedError:
                    errors[name] = np.nan
        rows[size] = errors
        print(f"{size:11.0e}" + "".join(f"{error:19.1e}" for error in errors.values()))
    if np.isnan(errors["yours"]):
        print("quat_angle is not written yet")
    return rows


# %% [markdown]
# ### Two poses that become one
# Two different pairs of yaw and roll, the same difference between them. How far apart are their matrices at pitch 89 deg, and at 90 deg?

# %%
@experiment
def lock_pairs():
    """Largest difference of an entry between the matrices of two pairs (yaw, roll)."""
    rows = {}
    for pitch in (0.0, 60.0, 89.0, 90.0):
        p = np.deg2rad(pitch)
        apart = np.abs(
            np.subtract(matrix_of_angles(0.7, p, 0.3), matrix_of_angles(0.9, p, 0.5))
        ).max()
        rows[pitch] = apart
        print(
            f"pitch {pitch:4.0f} deg: (yaw, roll) = (0.7, 0.3) and (0.9, 0.5) rad differ by {apart:.1e}"
        )
    return rows


# %% [markdown]
# ### The rate map near the lock
# First `E` itself, at roll `r` = 30 deg. Then the length of the Euler rates which a body rate of 1 rad/s about the lost direction `(0, sin r, cos r)` needs. At 90 deg there is no solution.

# %%
@experiment
def rate_table():
    """det E, smallest singular value and cond E at roll 30 deg; needed Euler rates."""
    roll = np.deg2rad(30)
    lost = np.array([0.0, np.sin(roll), np.cos(roll)])
    rows = {}
    print("pitch (deg)    det E    smallest s.v.      cond E    Euler rates for 1 rad/s (rad/s)")
    for pitch in (0.0, 60.0, 80.0, 85.0, 89.0, 89.9, 89.99, 90.0):
        E = np.asarray(euler_rate_matrix(np.deg2rad(pitch), roll))
        smallest, det = np.linalg.svd(E)[1][-1], np.linalg.det(E)
        if abs(det) < 1e-12:
            rows[pitch] = (det, smallest, np.inf, np.inf)
            print(f"{pitch:8.2f}    {det:9.4f}    {smallest:11.4f}      singular          none")
            continue
        rows[pitch] = (det, smallest, np.linalg.cond(E), np.linalg.norm(np.linalg.solve(E, lost)))
        print(
            f"{pitch:8.2f}    {det:9.4f}    {smallest:11.4f}    {rows[pitch][2]:10.3f}    {rows[pitch][3]:10.1f}"
        )
    return rows


# %%
# Folded: the plot of this table.
@experiment
def rate_plot():
    """cond E and needed rates against the distance to 90 deg."""
    distance = np.geomspace(0.005, 90, 80)
    roll = np.deg2rad(30)
    lost = np.array([0.0, np.sin(roll), np.cos(roll)])
    maps = [np.asarray(euler_rate_matrix(np.deg2rad(90 - d), roll)) for d in distance]
    cond = [np.linalg.cond(E) for E in maps]
    rates = [np.linalg.norm(np.linalg.solve(E, lost)) for E in maps]
    _, plot = mjcourse.style.axes(
        "Close to the lock everything grows like 1 / distance",
        "distance of the pitch to 90 deg (deg)",
        "cond E, and Euler rates (rad/s)",
    )
    plot.loglog(distance, cond, label="condition number of E")
    plot.loglog(distance, rates, label="Euler rates for 1 rad/s")
    plot.plot(10, np.interp(10, distance, cond), "o", color="black", linestyle="none")
    plot.annotate(
        "80 deg",
        (10, np.interp(10, distance, cond)),
        (12, 30),
        arrowprops={"arrowstyle": "-", "color": "0.4"},
    )
    plot.invert_xaxis()
    plot.legend(frameon=False)
    plt.show()
    return {"distance": distance, "cond": np.array(cond), "rates": np.array(rates)}


# %% [markdown]
# ### Blending: how far from the shortest turn
# Start: yaw and roll uniform, pitch fixed. Goal: the start, turned by 60 deg about a random axis of the body. One path is slerp. The other is the *naive* one: extract yaw, pitch and roll of both, wrap the differences of yaw and roll into (-180, 180] deg, and go straight. At 101 equal times: the largest angle between the two (*deviation*) and the length of the Euler path, in units of the 60 deg.
#
# `race` below does this for many pairs at once, with SciPy's vectorised rotations. It is the same computation as your `slerp` and `quat_angle`; the cell after it says how closely they agree.

# %%
def race(start_pitch_deg, pairs=300, seed=9, path=straight_path):
    """Deviation (deg) and relative path length of Euler blending, both (pairs,)."""
    from scipy.spatial.transform import Rotation

    e0, start, turn = pairs_60_deg_apart(start_pitch_deg, pairs, seed)
    e1 = (start * Rotation.from_rotvec(turn)).as_euler("ZYX")
    t = np.linspace(0, 1, 101)
    angles = np.concatenate([path(a, b, t) for a, b in zip(e0, e1, strict=True)])
    euler = Rotation.from_euler("ZYX", angles)
    turned = Rotation.from_rotvec((t[:, None] * turn[:, None]).reshape(-1, 3))
    shortest = Rotation.from_quat(np.repeat(start.as_quat(), 101, axis=0)) * turned
    euler, shortest = (r.as_quat().reshape(pairs, 101, 4) for r in (euler, shortest))

    def angle(a, b):
        return 2 * np.arccos(np.clip(np.abs((a * b).sum(-1)), 0, 1))

    deviation = np.rad2deg(angle(euler, shortest)).max(axis=1)
    path = np.rad2deg(angle(euler[:, 1:], euler[:, :-1])).sum(axis=1) / 60
    return deviation, path


@experiment
def interpolation():
    """The table: 300 pairs a row, seed 9."""
    rows = {}
    print("300 pairs 60 deg apart, seed 9: deviation of Euler blending from slerp")
    print(
        "start pitch (deg)   median     p95     max    path/60: median   longest   pairs over 90 deg"
    )
    for pitch in (0, 30, 60, 85, 89):
        deviation, path = race(pitch)
        row = (
            np.median(deviation),
            np.percentile(deviation, 95),
            deviation.max(),
            np.median(path),
            path.max(),
            int((deviation > 90).sum()),
        )
        rows[pitch] = row
        print(
            f"{pitch:10d}      {row[0]:10.1f} {row[1]:8.1f} {row[2]:7.1f}    {row[3]:12.2f} {row[4]:12.2f} {row[5]:12d}"
        )
    return rows


@experiment
def same_paths():
    """Your slerp and quat_angle on ten of these pairs, beside the table's own computation."""
    from scipy.spatial.transform import Rotation

    e0, starts, turn = pairs_60_deg_apart(60, 300, 9)
    times = np.linspace(0, 1, 101)
    worst = 0.0
    for e, start, v, found in zip(e0[:10], starts[:10], turn[:10], race(60)[0][:10], strict=True):
        goal = start * Rotation.from_rotvec(v)
        q0, q1 = start.as_quat(scalar_first=True), goal.as_quat(scalar_first=True)
        euler = Rotation.from_euler("ZYX", straight_path(e, goal.as_euler("ZYX"), times))
        deviation = max(
            angle_between(slerp(q0, q1, t), q)
            for t, q in zip(times, euler.as_quat(scalar_first=True), strict=True)
        )
        worst = max(worst, abs(np.rad2deg(deviation) - found))
    print(f"ten pairs with your slerp and quat_angle: the deviations agree to {worst:.1e} deg")
    return worst


# %%
# Folded: the plot of this table, with more pitches.
@experiment
def deviation_plot():
    """Deviation against start pitch: median, 95th percentile, maximum (300 pairs each, seed 9)."""
    pitches = np.array([0, 10, 20, 30, 40, 50, 60, 70, 75, 80, 85, 89])
    found = [race(p)[0] for p in pitches]
    _, plot = mjcourse.style.axes(
        "Euler blending strays from the shortest turn",
        "start pitch (deg)",
        "largest deviation (deg)",
    )
    curves = {
        "maximum": [d.max() for d in found],
        "95th percentile": [np.percentile(d, 95) for d in found],
        "median": [np.median(d) for d in found],
    }
    for marker, (name, value) in zip("os^", curves.items(), strict=True):
        plot.plot(pitches, value, marker=marker, markersize=5, label=name)
    plot.axhline(60, color="0.5", linewidth=0.8)
    plot.text(0, 63, "distance from start to goal", color="0.35", fontsize=9)
    plot.set_yticks(range(0, 181, 30))
    plot.legend(frameon=False, loc="upper left", bbox_to_anchor=(0.0, 0.95))
    plt.show()
    return dict(zip(pitches.tolist(), found, strict=True))


# %% [markdown]
# Two different things happen in the table and the plot.
#
# **A straight line in Euler angles is no shortest turn**, even at pitch 0, where nothing is singular: the median deviation there is a few degrees. It grows with the pitch, as $E$ gets more uneven.
#
# **The jump.** Once the start pitch is above 30 deg, a turn of 60 deg can take the goal over the top, beyond pitch 90 deg. Those pairs stray by nearly 180 deg. The pitch that is *extracted* cannot exceed 90 deg, so it comes back down the other side, and the extracted yaw and roll jump by about 180 deg. The straight line follows the jump: the gripper goes nearly all the way round for a goal that is 60 deg away.

# %%
ask(
    "The jump can be avoided by taking the nearer of the two Euler triples, as your `naive_euler_path` does. With it, does the largest deviation at start pitch 85 deg fall below 90 deg, and does the median reach zero?",
    {
        "Below 90, and the median reaches zero: the branch was the whole problem.": "The jump is gone, but a straight line in Euler angles is still no shortest turn.",
        "Below 90, but the median stays well above zero.": "The branch removes the jump; the largest deviation is about 23 deg. The bending stays; the median is about 8 deg.",
        "Neither: near the lock nothing helps.": "The branch does help: it removes the jump.",
    },
    right="Below 90, but the median stays well above zero.",
)


# %%
@experiment
def with_branch():
    """The same pairs at start pitch 85 deg, along your naive_euler_path (seed 9)."""
    rows = {}
    paths = {"without the branch": straight_path, "with the branch": naive_euler_path}
    for name, path in paths.items():
        deviation, _ = race(85, path=path)
        rows[name] = (np.median(deviation), deviation.max())
        print(f"start pitch 85 deg, {name:<18}", end="   ")
        print(f"median {rows[name][0]:5.1f}, largest {rows[name][1]:6.1f} deg")
    return rows


# %% [markdown]
# ### The sign check
# The same goals, with signs of the quaternions as they happen to come from a log: random. How far does slerp turn with the check and without?

# %%
def slerp_without_check(q0, q1, t):
    """Slerp along the arc that the signs happen to choose."""
    h = np.arccos(np.clip(q0 @ q1, -1, 1))
    return (np.sin((1 - t) * h) * q0 + np.sin(t * h) * q1) / np.sin(h)


@experiment
def sign_check():
    """Degrees travelled between ends 60 deg apart with random signs (300 pairs, seed 12)."""
    from scipy.spatial.transform import Rotation

    rng = np.random.default_rng(12)
    start = Rotation.random(300, rng)
    axis = rng.normal(size=(300, 3))
    goal = start * Rotation.from_rotvec(
        np.deg2rad(60) * axis / np.linalg.norm(axis, axis=1, keepdims=True)
    )
    signs = rng.choice([-1, 1], (300, 2, 1))
    times, travelled, negative = np.linspace(0, 1, 21), {"with": [], "without": []}, 0
    for q0, q1, sign in zip(
        start.as_quat(scalar_first=True), goal.as_quat(scalar_first=True), signs, strict=True
    ):
        q0, q1 = sign * [q0, q1]
        negative += bool(q0 @ q1 < 0)
        for name, way in (("with", slerp), ("without", slerp_without_check)):
            path = [np.asarray(way(q0, q1, t)) for t in times]
            travelled[name].append(np.rad2deg(sum(map(angle_between, path[:-1], path[1:]))))
    print(f"{negative} of 300 pairs have q0 . q1 < 0")
    for name, found in travelled.items():
        print(f"{name:>8} the sign check: {min(found):6.1f} to {max(found):6.1f} deg travelled")
    return {"negative": negative, **{name: np.array(found) for name, found in travelled.items()}}


# %% [markdown]
# ### See it: the slerp race
# Two grippers start together and go for the same goal (the faint green one), 60 deg away. The **blue** one uses your `slerp`, the **orange** one goes straight in Euler angles. The dots are where their fingers pointed. Press *New goal 60 deg away*, which also starts the race; try start pitches of 0, 60 and 85 deg. *A goal over the top* picks a goal with the jump of the table (it needs a start pitch above 30 deg): the orange gripper goes nearly all the way round. With *nearer Euler branch* it follows your `naive_euler_path`, and the jump is gone.

# %%
# Folded: the slerp race. Run the cell and play; reading its code can wait.
def slerp_by_scipy(q0, q1, t):
    from scipy.spatial.transform import Rotation, Slerp

    return Slerp([0, 1], Rotation.from_quat([q0, q1], scalar_first=True))(t).as_quat(
        scalar_first=True
    )


class Race:
    """The state of the slerp race: start, goal, and what each gripper has travelled."""

    SECONDS = 4.0

    def __init__(self, pitch_deg, sign_check):
        self.slerp = mjcourse.lab.student("slerp", slerp_by_scipy, using="SciPy")
        self.angle = mjcourse.lab.student("quat_angle", angle_by_mujoco, using="MuJoCo")
        self.nearer = mjcourse.lab.student(
            "naive_euler_path", straight_path, using="the plain straight line"
        )
        self.pitch_deg, self.sign_check, self.branch = pitch_deg, sign_check, False
        self.rng = np.random.default_rng(3)
        self.draw_goal()

    def draw_goal(self):
        """A start at the chosen pitch and a goal 60 deg away; the stored signs are random."""
        yaw, roll = self.rng.uniform(-np.pi, np.pi, 2)
        axis = self.rng.normal(size=3)
        self.turn = np.deg2rad(60) * axis / np.linalg.norm(axis)
        self.yaw, self.roll, self.sign = yaw, roll, self.rng.choice([-1.0, 1.0])
        self.place()

    def place(self):
        from scipy.spatial.transform import Rotation

        self.e0 = np.array([self.yaw, np.deg2rad(self.pitch_deg), self.roll])
        start = Rotation.from_euler("ZYX", self.e0)
        goal = start * Rotation.from_rotvec(self.turn)
        self.q0 = start.as_quat(scalar_first=True)
        self.q1 = goal.as_quat(scalar_first=True)
        self.q1 = self.sign * np.copysign(1.0, self.q0 @ self.q1) * self.q1
        self.e1 = goal.as_euler("ZYX")
        self.restart()

    def restart(self):
        self.travelled, self.largest, self.trail = np.zeros(2), 0.0, []
        self.now = self.at(0.0)

    def at(self, t):
        """The two orientations (2, 4) at fraction t."""
        from scipy.spatial.transform import Rotation

        way = self.slerp if self.sign_check else slerp_without_check
        path = self.nearer if self.branch else straight_path
        angles = np.asarray(path(self.e0, self.e1, [t]))[0]
        blended = Rotation.from_euler("ZYX", angles).as_quat(scalar_first=True)
        return np.array([way(self.q0, self.q1, t), blended])

    def deviation(self):
        return np.rad2deg(self.angle(*self.now))

    def step(self, model, data):
        data.time += model.opt.timestep
        if data.time <= self.SECONDS + model.opt.timestep:
            new = self.at(min(data.time / self.SECONDS, 1.0))
            self.travelled += [
                np.rad2deg(self.angle(a, b)) for a, b in zip(self.now, new, strict=True)
            ]
            self.now = new
            self.largest = max(self.largest, self.deviation())
        self.pose(model, data)
        if not self.trail or data.time - self.trail[-1][0] > 0.05:
            self.trail.append(
                (data.time, data.site("slerp_tip").xpos.copy(), data.site("euler_tip").xpos.copy())
            )

    def pose(self, model, data):
        data.mocap_quat[:] = self.now
        mujoco.mj_forward(model, data)

    def reset(self, model, data):
        self.restart()
        data.mocap_quat[:] = self.now

    def draw(self, model, data, scene):
        for _, blue, orange in self.trail:
            mjcourse.lab.marker(scene, blue, 0.008, (0.00, 0.45, 0.70, 1))
            mjcourse.lab.marker(scene, orange, 0.008, (0.84, 0.37, 0.00, 1))
        for name in ("slerp", "euler"):
            mjcourse.lab.ghost_body(
                scene, model, data, name, data.body(name).xpos, self.q1, (0.00, 0.62, 0.45, 0.35)
            )

    def change(self, **settings):
        """A control moved: set it, and put both grippers back to the start."""

        def on_change(model, data, value):
            for name in settings:
                setattr(self, name, value)
            self.place()
            data.time = 0.0
            data.mocap_quat[:] = self.now

        return on_change

    def strays(self):
        """Whether the Euler path leaves the shortest turn by more than 90 deg."""
        return any(self.angle(*self.at(t)) > np.pi / 2 for t in (0.3, 0.5, 0.7))

    def goal_over_the_top(self, model, data):
        """A goal for which the extracted yaw and roll jump; the last of 500 if there is none."""
        for _ in range(500):
            self.draw_goal()
            if self.strays():
                break
        data.time = 0.0
        data.mocap_quat[:] = self.now

    def new_goal(self, model, data):
        self.draw_goal()
        data.time = 0.0
        data.mocap_quat[:] = self.now


def slerp_race(pitch=60, sign_check=True, title="The slerp race"):
    """The lab, starting at a pitch in degrees, with or without the sign check."""
    state = Race(pitch, sign_check)
    return Lab(
        "two_grippers",
        title=title,
        camera={"azimuth": 90, "elevation": -14, "distance": 1.22, "lookat": (0, 0, 0.36)},
        note="blue: slerp; orange: straight in yaw, pitch, roll; green: the goal, 60 deg from the start",
        controls=[
            Slider(
                "start pitch",
                low=0,
                high=89,
                value=pitch,
                step=1,
                unit="deg",
                on_change=state.change(pitch_deg=True),
            ),
            Button("New goal 60 deg away", state.new_goal, play=True),
            Button("A goal over the top", state.goal_over_the_top, play=True),
            Toggle("sign check", value=sign_check, on_change=state.change(sign_check=True)),
            Toggle(
                "nearer Euler branch",
                value=False,
                on_change=state.change(branch=True),
            ),
        ],
        readouts=[
            Readout("deviation now", lambda model, data: state.deviation(), unit="deg", digits=1),
            Readout("largest so far", lambda model, data: state.largest, unit="deg", digits=1),
            Readout(
                "slerp (blue) travelled",
                lambda model, data: state.travelled[0],
                unit="deg",
                digits=1,
            ),
            Readout(
                "Euler (orange) travelled",
                lambda model, data: state.travelled[1],
                unit="deg",
                digits=1,
            ),
            Readout("q0 . q1", lambda model, data: state.q0 @ state.q1, digits=3),
        ],
        charts=[
            StripChart(
                "deviation of orange from blue",
                {"angle": lambda model, data: state.deviation()},
                window=10.0,
                limits=(0, 185),
                unit="deg",
            )
        ],
        step=state.step,
        reset=state.reset,
        draw=state.draw,
        student=("slerp", "quat_angle", "naive_euler_path"),
    )


lab_race = slerp_race()
lab_race

# %% [markdown]
# ## Break it
#
# **Without the sign check.** In the race below the check is off. Press *New goal* a few times and watch `q0 . q1`: whenever it is negative, the blue gripper, the good one, turns through 300 deg for a goal at 60. About half of the goals do this. In a log or from a neural network you do not choose the signs.

# %%
lab_no_check = slerp_race(pitch=0, sign_check=False, title="The slerp race without the sign check")
lab_no_check

# %% [markdown]
# **One degree before the lock.** The three knobs start at pitch 89 deg. Press the button: it asks for a turn of 1 rad/s about the lost direction, for one second, and the rings do what their rate limit allows. Compare the goal (the purple ghost) with the camera. Then raise the rate limit and press it again, until the camera keeps up, and read how fast the rings had to be. Set the pitch to 60 deg and do it once more.

# %%
lab_lock = three_knobs(pitch=89, title="Three knobs at 89 deg")
lab_lock

# %% [markdown]
# ## Common failures
#
# | symptom | cause | cure |
# |---|---|---|
# | Small angles look right, large ones are wild; no error anywhere | The letter case of a sequence: `"zyx"` is intrinsic in MuJoCo and extrinsic in SciPy; roll-pitch-yaw of a URDF is `"XYZ"` in MJCF | Convert one rotation that you know, with all three angles different from zero. Write `intrinsic` or `extrinsic` beside every sequence |
# | `matmul` complains about shape (9,), or a product of "matrices" gives numbers that mean nothing | A flat `xmat` used as a matrix: MuJoCo stores nine numbers, row by row | `data.xmat[i].reshape(3, 3)`; `.ravel()` on the way in |
# | A tracker reports an error of 2 for two equal poses; a loss jumps between frames | Quaternions compared number by number: `q` and `-q` are one rotation | Compare by angle, `2 arctan2` or `2 arccos(abs(q0 @ q1))`; along a log, flip signs so that neighbours have a positive dot product |
# | A gripper swings through 300 deg for a small correction | An interpolation that takes the long way: no sign check | `if q0 @ q1 < 0: q1 = -q1`, before every blend |
# | A policy or a teleoperated arm behaves well until the tool points straight up or down, then jerks | An interface that speaks roll-pitch-yaw: actions, labels or set-points in Euler angles, near their lock | Command rotation vectors relative to the present pose, quaternions, or two columns of the matrix; show Euler angles to people only |
# | An orientation is wrong by a mirror image or by an odd angle after loading a data set | The scalar part last instead of first | Look at the identity: `(1, 0, 0, 0)` or `(0, 0, 0, 1)`? SciPy: `scalar_first=True` |

# %% [markdown]
# ## Knowledge check
#
# Type a letter in quotes, or a number.
#
# 1. `why_seven_and_six`: a free body has 7 numbers in `qpos` and 6 in `qvel`, because
#    - `"a"` the fourth number of the quaternion is a redundant copy, kept to check the others;
#    - `"b"` the body has seven degrees of freedom and one of them cannot be driven;
#    - `"c"` no three numbers describe every orientation without a bad pose, so four of fixed length are stored, while the possible angular velocities at a pose are a plain 3-vector;
#    - `"d"` an angular velocity is the derivative of the quaternion with `w` left out.
# 2. `cond_at_80_deg`: is a pitch of 80 deg safe for a controller that commands Euler rates? Give the condition number of `E` there, to two decimals, and judge.
# 3. `letter_case`: between MuJoCo's and SciPy's `"zyx"`, what flips?
#    - `"a"` the order of the components, scalar first or last;
#    - `"b"` whether lower case means intrinsic or extrinsic;
#    - `"c"` degrees and radians;
#    - `"d"` nothing, they give the same matrix.
# 4. `why_shepperd`: Shepperd's method chooses among four branches, because
#    - `"a"` it is faster than the trace formula;
#    - `"b"` it fixes the sign of the quaternion;
#    - `"c"` it repairs a matrix that is not quite orthogonal;
#    - `"d"` dividing by `w` fails near 180 deg, and one of the four numbers is always large enough to divide by.
# 5. `long_way_deg`: two orientations are 60 deg apart, and their quaternions have a negative dot product. Through how many degrees does slerp without the sign check turn?
# 6. `jump_to_180`: in the table of the interpolation, what is the jump to a deviation of nearly 180 deg?
#    - `"a"` the goal's pitch went beyond ±90 deg, so its extracted yaw and roll jump by about 180 deg and the blend follows them;
#    - `"b"` slerp took the long way round;
#    - `"c"` rounding near the lock;
#    - `"d"` yaw and roll differences that were not wrapped.

# %% solution="knowledge_check"
why_seven_and_six = None  # "a", "b", "c" or "d"
cond_at_80_deg = None  # a number
letter_case = None  # "a", "b", "c" or "d"
why_shepperd = None  # "a", "b", "c" or "d"
long_way_deg = None  # a number, in degrees
jump_to_180 = None  # "a", "b", "c" or "d"
### BEGIN SOLUTION
why_seven_and_six = "c"
cond_at_80_deg = 11.43
letter_case = "b"
why_shepperd = "d"
long_way_deg = 300
jump_to_180 = "a"
### END SOLUTION

# %% check="knowledge_check"
@visible_check("knowledge_check")
def check_knowledge_check(check):
    letters = {
        "why_seven_and_six": why_seven_and_six,
        "letter_case": letter_case,
        "why_shepperd": why_shepperd,
        "jump_to_180": jump_to_180,
    }
    for name, value in letters.items():
        is_letter = isinstance(value, str) and value.strip(" ().:\n").lower() in (
            "a",
            "b",
            "c",
            "d",
        )
        check.true(f"{name} is one of a, b, c, d", is_letter, "type a letter in quotes")
    for name, value in (("cond_at_80_deg", cond_at_80_deg), ("long_way_deg", long_way_deg)):
        check.true(
            f"{name} is a number",
            np.ndim(value) == 0 and np.isreal(value) and value is not None,
            "type a number",
        )


# %% test="knowledge_check"
# Hidden tests: the six answers, each by itself.

# %% [markdown]
# ## On the real robot
#
# - **An arm of hinges has no gimbal lock in its joints**; seven angles of seven motors are what they are. Its *task-space targets* do, as soon as they are written as roll, pitch and yaw. And a wrist of three axes that meet has its own lock: a real singularity of the mechanism, at which no change of notation helps.
# - **Roll-pitch-yaw hides** in teleoperation interfaces, in labels of data sets and in the actions of policies. A parallel gripper that points straight down sits at pitch ±90 deg in many tool frames, which is the pose of most grasps from above. Ask for the convention, and test it on one known pose.
# - **An IMU is noisy.** Its gyroscope gives body rates; integrating them as quaternions has no bad pose, while $E^{-1}$ multiplies its noise by up to one over the smallest singular value of $E$. Renormalise the quaternion now and then: rounding and integration lengthen it.
# - **Signs in a stream.** Drivers may flip the sign of a quaternion between two messages. It is the same pose, but a filter that averages the numbers sees a jump of length 2. Make neighbours agree before you filter.
# - **Before trusting a logged orientation, convert one known rotation.** Put the tool or the board flat, then tip it by 90 deg about one axis that you can name, and look at the numbers. It takes a minute and saves the week.

# %%
progress()

# %% [markdown]
# ## Takeaways
#
# - One matrix has two readings; one product has two stories, left to right intrinsic, right to left extrinsic. Say which you mean.
# - Store and compose matrices or unit quaternions, blend with slerp and the sign check, compare by angle. Euler angles are for people to look at.
# - Gimbal lock is a fault of the description, and it reaches far from 90 deg: at pitch 80 deg the worst direction already costs Euler rates eight times as fast as the turn, and a blend between poses 60 deg apart can stray by 180 deg.
# - Every library has its conventions and none warns you: the order of components, the case of the letters, flat or square.
#
# When you are done, save the notebook and run the cell below: `submit()` checks it and packs it for handing in.

# %%
submit()

# %% [markdown]
# ## Sources
#
# - K. M. Lynch and F. C. Park, *Modern Robotics*, Cambridge University Press, 2017: section 3.2 (rotations and angular velocities), appendix B (other representations of rotations: Euler angles, roll-pitch-yaw, unit quaternions).
# - S. W. Shepperd, "Quaternion from rotation matrix", *Journal of Guidance and Control* 1(3), 1978.
# - K. Shoemake, "Animating rotation with quaternion curves", *SIGGRAPH* 1985 (slerp).
# - MuJoCo documentation: Modeling, "Frame orientations"; XML reference, `compiler/eulerseq`; API reference, "Quaternions" and "Poses"; Programming: Simulation, "Data layout" and "Coordinate frames and transformations"; Overview, "Floating objects".
# - SciPy documentation: `scipy.spatial.transform.Rotation` (`from_euler`, `as_quat`), `Slerp`.
