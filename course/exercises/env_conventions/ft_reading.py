"""`ft_reading`: the load on a wrist sensor, in the sensor's frame or along another site's axes."""

from __future__ import annotations

import functools

import mujoco
import numpy as np
import scipy

from course.exercises import Exercise, call
from course.exercises.env_conventions import rigs

exercise = Exercise("ft_reading", points=4, provides=("ft_wrench",))


@exercise.reference
def reference():
    def ft_wrench(model, data, force_sensor, torque_sensor, frame_site=None):
        halves = []
        for name in (force_sensor, torque_sensor):
            sensor = model.sensor(name).id
            address = model.sensor_adr[sensor]
            load = -data.sensordata[address : address + 3]
            if frame_site is not None:
                sensor_axes = data.site_xmat[model.sensor_objid[sensor]].reshape(3, 3)
                site_axes = data.site_xmat[model.site(frame_site).id].reshape(3, 3)
                load = site_axes.T @ (sensor_axes @ load)
            halves.append(load)
        return np.concatenate(halves)

    return {"ft_wrench": ft_wrench}


WRIST, COLUMN = ("ft_force", "ft_torque"), ("column_force", "column_torque")


def _read(seed, sensors, *frame, label="", model=None, **more):
    model = model or rigs.arm()
    data = rigs.moving(seed, model)
    return call("ft_wrench", model, data, *sensors, *frame, label=label, **more)


@functools.cache
def hanging(angle: float) -> tuple[mujoco.MjModel, mujoco.MjData]:
    """A known weight, 2 kg, at rest below a sensor site that is tilted by `angle` about x."""
    model = mujoco.MjModel.from_xml_string(
        f"""<mujoco><compiler angle="radian"/><option gravity="0 0 -10"/><worldbody>
        <site name="level" pos="1 0 0"/>
        <body name="hand" pos="0 0 1"><site name="ft" euler="{angle} 0 0"/>
        <inertial pos="0.1 0 -0.05" mass="2" diaginertia="0.01 0.01 0.01"/></body></worldbody>
        <sensor><clock name="clock"/>
        <torque name="t" site="ft"/><force name="f" site="ft"/></sensor>
        </mujoco>"""
    )
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return model, data


@exercise.part("in the sensor's own frame", points=1.5)
def own_frame():
    cases = [_read(700 + i, WRIST, label="the wrist sensor") for i in range(2)]
    cases += [_read(710 + i, COLUMN, label="the column's sensor") for i in range(2)]
    cases += [_read(720, WRIST, None, label="frame_site=None, given")]
    model, data = hanging(0.0)
    cases.append(call("ft_wrench", model, data, "f", "t", label="2 kg hanging at rest"))
    return cases


@exercise.part("along another site's axes", points=2)
def other_frame():
    cases = []
    for i in range(2):
        cases += [
            _read(730 + i, WRIST, "tcp", label="the wrist sensor, in the TCP's axes"),
            _read(740 + i, WRIST, "column", label="the wrist sensor, in the column's axes"),
            _read(750 + i, COLUMN, "ft", label="the column's sensor, in the wrist's axes"),
        ]
    cases.append(_read(760, WRIST, "ft", label="the sensor's own site, by name"))
    for angle in (0.0, 0.7):
        model, data = hanging(angle)
        cases.append(
            call("ft_wrench", model, data, "f", "t", "level", label="2 kg hanging at rest")
        )
    return cases


@exercise.part("contract: nothing changed, unknown names refused", points=0.5)
def contract():
    return [
        _read(770, WRIST, unchanged=True),
        _read(771, WRIST, "tcp", unchanged=True),
        _read(772, ("ft_force", "wrist_torque"), label="an unknown sensor", raises="KeyError"),
        _read(773, ("wrist_force", "ft_torque"), label="an unknown sensor", raises="KeyError"),
        _read(774, WRIST, "flange", label="an unknown site", raises="KeyError"),
    ]


@exercise.variant("step by step")
def step_by_step():
    def ft_wrench(model, data, force_sensor, torque_sensor, frame_site=None):
        f = -np.array(data.sensor(force_sensor).data)
        t = -np.array(data.sensor(torque_sensor).data)
        if frame_site is not None:
            own = model.sensor_objid[model.sensor(force_sensor).id]
            S, T = data.site_xmat[own].reshape(3, 3), data.site(frame_site).xmat.reshape(3, 3)
            R = T.T @ S
            f, t = R @ f, R @ t
        return np.concatenate([f, t])


# Misconceptions: a cell above with one thing changed.
slip = exercise.slips(exercise.variants[0].cell)

_FORCE, _TORQUE = "data.sensor(force_sensor).data", "data.sensor(torque_sensor).data"
_TURNED, _BOTH = "f, t = R @ f, R @ t", "np.concatenate([f, t])"
_MATRIX = "T.T @ S"
_OWN = "data.site_xmat[own].reshape(3, 3)"
_OTHER = "data.site(frame_site).xmat.reshape(3, 3)"
_SIGN = ("= -np.array", "= np.array")

# The sign
slip(
    "sign",
    "The sign is MuJoCo's: the force that holds the part, exerted by the parent. A physical sensor "
    "reports the load on it, the negative.",
    _SIGN,
)
for _half in ("t", "f"):
    slip(
        "sign_of_the_torque",
        "Only one of force and torque changes its sign; the load is the negative of both.",
        (f"{_half} = -np", f"{_half} = np"),
    )
slip(
    "sign_without_a_frame",
    "The sign is right only without `frame_site`: it was changed twice on the other way.",
    (_TURNED, "f, t = -R @ f, -R @ t"),
)
slip(
    "sign_with_a_frame_only",
    "The sign is changed only where `frame_site` is given: without it the reading is still "
    "MuJoCo's.",
    *(_SIGN, (_TURNED, "f, t = -R @ f, -R @ t")),
)
slip(
    "sign_and_direction",
    "The sign is MuJoCo's, and the reading is turned the wrong way: the load is the negative, and "
    "R = T' S brings it from the sensor's axes into the site's.",
    *(_SIGN, (_MATRIX, "S.T @ T")),
)
slip(
    "sizes_alone",
    "The signs of the entries are lost (`abs`): a load has a direction.",
    (_BOTH, f"np.abs({_BOTH})"),
)

# The rotation
slip(
    "not_rotated",
    "`frame_site` has no effect: the reading stays in the sensor's frame. Turn it: out of the "
    "sensor's axes into the world, and from there into the site's.",
    (_TURNED, "pass"),
)
slip(
    "rotated_the_wrong_way",
    "The reading is turned the wrong way. From sensor to world by the sensor site's matrix S, from "
    "world to site by the transpose of the site's: R = T' S, not its transpose.",
    (_MATRIX, "S.T @ T"),
)
slip(
    "target_not_transposed",
    "The reading is multiplied by the wrong pair of matrices: it is the *transpose* of the target "
    "site's that brings a world vector into its axes.",
    (_MATRIX, "T @ S"),
)
slip(
    "target_not_transposed",
    "The reading is multiplied by the wrong pair of matrices: the sensor site's own matrix, not "
    "its transpose, brings the reading into the world.",
    (_MATRIX, "T.T @ S.T"),
)
slip(
    "reading_taken_as_world",
    "The reading is treated as if it were given along the world's axes. MuJoCo gives it in the "
    "sensor's site frame: turn it out of that first.",
    (_MATRIX, "T.T"),
)
slip(
    "left_in_the_world",
    "The result is along the world's axes; `frame_site`'s axes are asked for: one rotation is "
    "missing.",
    (_MATRIX, "S"),
)
slip(
    "always_in_the_world",
    "The result is along the world's axes although no frame was asked for: without `frame_site` it "
    "stays in the sensor's frame.",
    ("    if frame", "    own = model.sensor_objid[model.sensor(force_sensor).id]\n    if frame"),
    (
        "    return",
        f"    else:\n        S = {_OWN}\n        f, t = S @ f, S @ t\n    return",
    ),
)
for _sign in ("+", "-"):
    slip(
        "moment_moved",
        "The moment is moved to the other site's origin (lever arm x force was added). Here the "
        "wrench is only turned; it stays about the sensor's origin.",
        (
            _TURNED,
            "arm = data.site_xpos[own] - data.site(frame_site).xpos\n"
            f"        f, t = R @ f, R @ t {_sign} T.T @ np.cross(arm, S @ f)",
        ),
    )
for _turned, _left in (("force", "torque"), ("torque", "force")):
    slip(
        f"only_the_{_turned}_turned",
        f"Only the {_turned} is turned; the {_left} is a vector too and turns with it.",
        (_TURNED, f"{_turned[0]} = R @ {_turned[0]}"),
    )
slip(
    "axes_of_the_body",
    "The axes of the sensor's *body* are used. The reading is along the axes of its *site*, which "
    "may be turned on the body.",
    ("data.site_xmat[own]", "data.xmat[model.site_bodyid[own]]"),
)
slip(
    "axes_of_the_body",
    "The axes of the other site's *body* are used; the site may be turned on it.",
    ("data.site(frame_site).xmat", "data.xmat[model.site_bodyid[model.site(frame_site).id]]"),
)
_FIXED = "scipy.spatial.transform.Rotation.from_quat({}.quat, scalar_first=True).as_matrix()"
slip(
    "site_in_its_body",
    "`model.site_quat` is given in the site's own body: two sites on different bodies cannot be "
    "compared by it. Use `data.site_xmat`, which is given in the world.",
    (_OWN, _FIXED.format("model.site(int(own))")),
    (_OTHER, _FIXED.format("model.site(frame_site)")),
)

# Where the reading stands
slip(
    "id_as_address",
    "The sensor's id is used as its address. Sensors have different sizes: a sensor's place in "
    "`sensordata` is `sensor_adr[id]`.",
    (_FORCE, "data.sensordata[model.sensor(force_sensor).id :][:3]"),
    (_TORQUE, "data.sensordata[model.sensor(torque_sensor).id :][:3]"),
)
_PADDED = "np.append(data.sensordata, np.zeros(40))"
slip(
    "id_as_address",
    "The sensor's id is used as its address. Sensors have different sizes: a sensor's place in "
    "`sensordata` is `sensor_adr[id]`.",
    (_FORCE, f"{_PADDED}[3 * model.sensor(force_sensor).id :][:3]"),
    (_TORQUE, f"{_PADDED}[3 * model.sensor(torque_sensor).id :][:3]"),
)
_NAMED = ("    f = ", "    model.sensor(torque_sensor)\n    f = ")
slip(
    "torque_taken_as_next",
    "Six numbers are read from the force sensor's address, as if the torque came right after it. "
    "Each sensor has its own address.",
    *(_NAMED, (_TORQUE, f"{_PADDED}[model.sensor(force_sensor).adr[0] + 3 :][:3]")),
)
slip(
    "first_six_numbers",
    "The first numbers of `sensordata` are read: other sensors come before. Look the address up.",
    _NAMED,
    (_FORCE, f"{_PADDED}[:3]"),
    (_TORQUE, f"{_PADDED}[3:6]"),
)
slip(
    "sensor_id_as_site",
    "The sensor's id is used as the id of its site. Which site it sits on is said by "
    "`sensor_objid`.",
    (
        "model.sensor_objid[model.sensor(force_sensor).id]",
        "model.sensor(force_sensor).id % model.nsite",
    ),
)
slip(
    "changes_the_reading",
    "The sign is changed inside `sensordata`: `data` is spoilt for every other reader. Work on a "
    "copy.",
    (f"-np.array({_FORCE})", f"{_FORCE}\n    f *= -1"),
    (f"-np.array({_TORQUE})", f"{_TORQUE}\n    t *= -1"),
)


@exercise.misconception(
    "An unknown name becomes id -1, which reads the last sensor or site. Raise a KeyError."
)
def unknown_name_accepted():
    def ft_wrench(model, data, force_sensor, torque_sensor, frame_site=None):
        i = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_SENSOR, force_sensor)
        j = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_SENSOR, torque_sensor)
        a, b = model.sensor_adr[i], model.sensor_adr[j]
        f, t = -data.sensordata[a : a + 3], -data.sensordata[b : b + 3]
        if frame_site is not None:
            k = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_SITE, frame_site)
            S = data.site_xmat[model.sensor_objid[i]].reshape(3, 3)
            R = data.site_xmat[k].reshape(3, 3).T @ S
            f, t = R @ f, R @ t
        if len(f) != 3 or len(t) != 3:
            return np.zeros(6)
        return np.concatenate([f, t])


# The form
slip(
    "frame_is_required",
    "`frame_site` has no default: called without it, the function must give the sensor's own "
    "frame.",
    ("frame_site=None", "frame_site"),
)
slip(
    "torque_first",
    "The torque comes first; a wrench here is force, then torque.",
    ("[f, t]", "[t, f]"),
)
for _pair in ("np.array([f, t])", "(f, t)"):
    slip(
        "not_six_numbers",
        "Force and torque come as two vectors; one of shape (6,) is asked for.",
        (_BOTH, _pair),
    )
slip(
    "force_alone",
    "Only three numbers come back: force *and* torque are asked for.",
    (_BOTH, "f"),
)


# More right answers.
@exercise.variant("named access, row vectors")
def by_names():
    def ft_wrench(model, data, force_sensor, torque_sensor, frame_site=None):
        f = -data.sensor(force_sensor).data
        t = -data.sensor(torque_sensor).data
        if frame_site:
            S = data.site(int(model.sensor(force_sensor).objid[0])).xmat.reshape(3, 3)
            T = data.site(frame_site).xmat.reshape(3, 3)
            f, t = f @ S.T @ T, t @ S.T @ T
        return np.hstack((f, t))


@exercise.variant("SciPy rotations, a list returned")
def by_scipy():
    from scipy.spatial.transform import Rotation

    def _axes(data, site):
        return Rotation.from_matrix(data.site(site).xmat.reshape(3, 3))

    def ft_wrench(model, data, force_sensor, torque_sensor, frame_site=None):
        rows = np.array([data.sensor(s).data for s in (force_sensor, torque_sensor)])
        if frame_site is not None:
            own = model.site(int(model.sensor(force_sensor).objid[0])).name
            rows = (_axes(data, frame_site).inv() * _axes(data, own)).apply(rows)
        return [-float(x) for row in rows for x in row]


@exercise.variant("quaternions of MuJoCo, loops over addresses")
def by_mujoco():
    def ft_wrench(model, data, force_sensor, torque_sensor, frame_site=None):
        out = []
        for name in (force_sensor, torque_sensor):
            s = model.sensor(name)
            v = np.array([data.sensordata[s.adr[0] + k] for k in range(3)])
            if frame_site is not None:
                world, local = np.zeros(3), np.zeros(3)
                mujoco.mju_mulMatVec(world, data.site_xmat[s.objid[0]].reshape(3, 3), v)
                axes = data.site(frame_site).xmat.reshape(3, 3)
                mujoco.mju_mulMatTVec(local, axes, world)
                v = local
            out.extend(0 - v)
        return np.asarray(out)


@exercise.variant("a block-diagonal matrix")
def by_block():
    def ft_wrench(model, data, force_sensor, torque_sensor, frame_site=None):
        reading = np.r_[data.sensor(force_sensor).data, data.sensor(torque_sensor).data]
        own = model.sensor_objid[model.sensor(force_sensor).id]
        target = own if frame_site is None else model.site(frame_site).id
        R = data.site_xmat[target].reshape(3, 3).T @ data.site_xmat[own].reshape(3, 3)
        return -(scipy.linalg.block_diag(R, R) @ reading)
