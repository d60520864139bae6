"""`ft_reading`: the load on a wrist sensor, in the sensor's frame or along another site's axes."""

from __future__ import annotations

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
    cases = [_read(700 + i, WRIST, label="the wrist sensor") for i in range(4)]
    cases += [_read(710 + i, COLUMN, label="the column's sensor") for i in range(4)]
    cases += [_read(720, WRIST, None, label="frame_site=None, given")]
    model, data = hanging(0.0)
    cases.append(call("ft_wrench", model, data, "f", "t", label="2 kg hanging at rest"))
    return cases


@exercise.part("along another site's axes", points=2)
def other_frame():
    cases = []
    for i in range(4):
        cases += [
            _read(730 + i, WRIST, "tcp", label="the wrist sensor, in the TCP's axes"),
            _read(740 + i, WRIST, "column", label="the wrist sensor, in the column's axes"),
            _read(750 + i, COLUMN, "ft", label="the column's sensor, in the wrist's axes"),
        ]
    cases += [
        _read(760, WRIST, "ft", label="the sensor's own site, by name"),
        _read(761, COLUMN, "column", label="the sensor's own site, by name"),
    ]
    for angle in (0.0, 0.7, np.pi):
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


@exercise.misconception(
    "The sign is MuJoCo's: the force that holds the part, exerted by the parent. A physical sensor "
    "reports the load on it, the negative."
)
def sign():
    def ft_wrench(model, data, force_sensor, torque_sensor, frame_site=None):
        f, t = data.sensor(force_sensor).data.copy(), data.sensor(torque_sensor).data.copy()
        if frame_site is not None:
            S = data.site_xmat[model.sensor(force_sensor).objid[0]].reshape(3, 3)
            R = data.site(frame_site).xmat.reshape(3, 3).T @ S
            f, t = R @ f, R @ t
        return np.concatenate([f, t])


@exercise.misconception(
    "Only one of force and torque changes its sign; the load is the negative of both.",
)
def sign_of_the_torque():
    def ft_wrench(model, data, force_sensor, torque_sensor, frame_site=None):
        f, t = -data.sensor(force_sensor).data, data.sensor(torque_sensor).data.copy()
        if frame_site is not None:
            S = data.site_xmat[model.sensor(force_sensor).objid[0]].reshape(3, 3)
            R = data.site(frame_site).xmat.reshape(3, 3).T @ S
            f, t = R @ f, R @ t
        return np.concatenate([f, t])


@exercise.misconception(
    "Only one of force and torque changes its sign; the load is the negative of both.",
    id="sign_of_the_torque",
)
def sign_of_the_force():
    def ft_wrench(model, data, force_sensor, torque_sensor, frame_site=None):
        f, t = data.sensor(force_sensor).data.copy(), -data.sensor(torque_sensor).data
        if frame_site is not None:
            S = data.site_xmat[model.sensor(force_sensor).objid[0]].reshape(3, 3)
            R = data.site(frame_site).xmat.reshape(3, 3).T @ S
            f, t = R @ f, R @ t
        return np.concatenate([f, t])


@exercise.misconception(
    "`frame_site` has no effect: the reading stays in the sensor's frame. Turn it: out of the "
    "sensor's axes into the world, and from there into the site's."
)
def not_rotated():
    def ft_wrench(model, data, force_sensor, torque_sensor, frame_site=None):
        if frame_site is not None:
            model.site(frame_site)
        return -np.concatenate([data.sensor(force_sensor).data, data.sensor(torque_sensor).data])


@exercise.misconception(
    "The reading is turned the wrong way. From sensor to world by the sensor site's matrix S, from "
    "world to site by the transpose of the site's: R = T' S, not its transpose."
)
def rotated_the_wrong_way():
    def ft_wrench(model, data, force_sensor, torque_sensor, frame_site=None):
        f, t = -data.sensor(force_sensor).data, -data.sensor(torque_sensor).data
        if frame_site is not None:
            S = data.site_xmat[model.sensor(force_sensor).objid[0]].reshape(3, 3)
            R = S.T @ data.site(frame_site).xmat.reshape(3, 3)
            f, t = R @ f, R @ t
        return np.concatenate([f, t])


@exercise.misconception(
    "The reading is multiplied by the wrong pair of matrices: it is the *transpose* of the target "
    "site's that brings a world vector into its axes."
)
def target_not_transposed():
    def ft_wrench(model, data, force_sensor, torque_sensor, frame_site=None):
        f, t = -data.sensor(force_sensor).data, -data.sensor(torque_sensor).data
        if frame_site is not None:
            S = data.site_xmat[model.sensor(force_sensor).objid[0]].reshape(3, 3)
            R = data.site(frame_site).xmat.reshape(3, 3) @ S
            f, t = R @ f, R @ t
        return np.concatenate([f, t])


@exercise.misconception(
    "The reading is multiplied by the wrong pair of matrices: the sensor site's own matrix, not "
    "its transpose, brings the reading into the world.",
    id="target_not_transposed",
)
def source_transposed():
    def ft_wrench(model, data, force_sensor, torque_sensor, frame_site=None):
        f, t = -data.sensor(force_sensor).data, -data.sensor(torque_sensor).data
        if frame_site is not None:
            S = data.site_xmat[model.sensor(force_sensor).objid[0]].reshape(3, 3)
            R = data.site(frame_site).xmat.reshape(3, 3).T @ S.T
            f, t = R @ f, R @ t
        return np.concatenate([f, t])


@exercise.misconception(
    "The reading is treated as if it were given along the world's axes. MuJoCo gives it in the "
    "sensor's site frame: turn it out of that first."
)
def reading_taken_as_world():
    def ft_wrench(model, data, force_sensor, torque_sensor, frame_site=None):
        f, t = -data.sensor(force_sensor).data, -data.sensor(torque_sensor).data
        if frame_site is not None:
            R = data.site(frame_site).xmat.reshape(3, 3).T
            f, t = R @ f, R @ t
        return np.concatenate([f, t])


@exercise.misconception(
    "The result is along the world's axes; `frame_site`'s axes are asked for: one rotation is "
    "missing."
)
def left_in_the_world():
    def ft_wrench(model, data, force_sensor, torque_sensor, frame_site=None):
        f, t = -data.sensor(force_sensor).data, -data.sensor(torque_sensor).data
        if frame_site is not None:
            model.site(frame_site)
            S = data.site_xmat[model.sensor(force_sensor).objid[0]].reshape(3, 3)
            f, t = S @ f, S @ t
        return np.concatenate([f, t])


@exercise.misconception(
    "The result is along the world's axes although no frame was asked for: without `frame_site` it "
    "stays in the sensor's frame."
)
def always_in_the_world():
    def ft_wrench(model, data, force_sensor, torque_sensor, frame_site=None):
        f, t = -data.sensor(force_sensor).data, -data.sensor(torque_sensor).data
        R = data.site_xmat[model.sensor(force_sensor).objid[0]].reshape(3, 3)
        if frame_site is not None:
            R = data.site(frame_site).xmat.reshape(3, 3).T @ R
        return np.concatenate([R @ f, R @ t])


@exercise.misconception(
    "The moment is moved to the other site's origin (lever arm x force was added). Here the wrench "
    "is only turned; it stays about the sensor's origin."
)
def moment_moved():
    def ft_wrench(model, data, force_sensor, torque_sensor, frame_site=None):
        f, t = -data.sensor(force_sensor).data, -data.sensor(torque_sensor).data
        if frame_site is not None:
            site = model.sensor(force_sensor).objid[0]
            S, T = data.site_xmat[site].reshape(3, 3), data.site(frame_site).xmat.reshape(3, 3)
            F, M = S @ f, S @ t
            M = M + np.cross(data.site_xpos[site] - data.site(frame_site).xpos, F)
            f, t = T.T @ F, T.T @ M
        return np.concatenate([f, t])


@exercise.misconception(
    "The moment is moved to the other site's origin (lever arm x force was added). Here the wrench "
    "is only turned; it stays about the sensor's origin.",
    id="moment_moved",
)
def moment_moved_backwards():
    def ft_wrench(model, data, force_sensor, torque_sensor, frame_site=None):
        f, t = -data.sensor(force_sensor).data, -data.sensor(torque_sensor).data
        if frame_site is not None:
            site = model.sensor(force_sensor).objid[0]
            S, T = data.site_xmat[site].reshape(3, 3), data.site(frame_site).xmat.reshape(3, 3)
            F, M = S @ f, S @ t
            M = M - np.cross(data.site_xpos[site] - data.site(frame_site).xpos, F)
            f, t = T.T @ F, T.T @ M
        return np.concatenate([f, t])


@exercise.misconception("The torque comes first; a wrench here is force, then torque.")
def torque_first():
    def ft_wrench(model, data, force_sensor, torque_sensor, frame_site=None):
        f, t = -data.sensor(force_sensor).data, -data.sensor(torque_sensor).data
        if frame_site is not None:
            S = data.site_xmat[model.sensor(force_sensor).objid[0]].reshape(3, 3)
            R = data.site(frame_site).xmat.reshape(3, 3).T @ S
            f, t = R @ f, R @ t
        return np.concatenate([t, f])


@exercise.misconception("Only the force is turned; the torque is a vector too and turns with it.")
def only_the_force_turned():
    def ft_wrench(model, data, force_sensor, torque_sensor, frame_site=None):
        f, t = -data.sensor(force_sensor).data, -data.sensor(torque_sensor).data
        if frame_site is not None:
            S = data.site_xmat[model.sensor(force_sensor).objid[0]].reshape(3, 3)
            f = data.site(frame_site).xmat.reshape(3, 3).T @ S @ f
        return np.concatenate([f, t])


@exercise.misconception(
    "The sensor's id is used as its address. Sensors have different sizes: a sensor's place in "
    "`sensordata` is `sensor_adr[id]`."
)
def id_as_address():
    def ft_wrench(model, data, force_sensor, torque_sensor, frame_site=None):
        i, j = model.sensor(force_sensor).id, model.sensor(torque_sensor).id
        f, t = -data.sensordata[i : i + 3], -data.sensordata[j : j + 3]
        if frame_site is not None:
            S = data.site_xmat[model.sensor(force_sensor).objid[0]].reshape(3, 3)
            R = data.site(frame_site).xmat.reshape(3, 3).T @ S
            f, t = R @ f, R @ t
        return np.concatenate([f, t])


@exercise.misconception(
    "The sensor's id is used as its address. Sensors have different sizes: a sensor's place in "
    "`sensordata` is `sensor_adr[id]`.",
    id="id_as_address",
)
def three_times_the_id():
    def ft_wrench(model, data, force_sensor, torque_sensor, frame_site=None):
        i, j = 3 * model.sensor(force_sensor).id, 3 * model.sensor(torque_sensor).id
        padded = np.concatenate([data.sensordata, np.zeros(40)])
        f, t = -padded[i : i + 3], -padded[j : j + 3]
        if frame_site is not None:
            S = data.site_xmat[model.sensor(force_sensor).objid[0]].reshape(3, 3)
            R = data.site(frame_site).xmat.reshape(3, 3).T @ S
            f, t = R @ f, R @ t
        return np.concatenate([f, t])


@exercise.misconception(
    "Six numbers are read from the force sensor's address, as if the torque came right after it. "
    "Each sensor has its own address."
)
def torque_taken_as_next():
    def ft_wrench(model, data, force_sensor, torque_sensor, frame_site=None):
        model.sensor(torque_sensor)
        a = model.sensor(force_sensor).adr[0]
        six = np.concatenate([data.sensordata, np.zeros(6)])[a : a + 6]
        f, t = -six[:3], -six[3:]
        if frame_site is not None:
            S = data.site_xmat[model.sensor(force_sensor).objid[0]].reshape(3, 3)
            R = data.site(frame_site).xmat.reshape(3, 3).T @ S
            f, t = R @ f, R @ t
        return np.concatenate([f, t])


@exercise.misconception(
    "The first numbers of `sensordata` are read: other sensors come before. Look the address up."
)
def first_six_numbers():
    def ft_wrench(model, data, force_sensor, torque_sensor, frame_site=None):
        model.sensor(torque_sensor)
        f, t = -data.sensordata[:3], -data.sensordata[3:6]
        t = np.concatenate([t, np.zeros(3)])[:3]
        if frame_site is not None:
            S = data.site_xmat[model.sensor(force_sensor).objid[0]].reshape(3, 3)
            R = data.site(frame_site).xmat.reshape(3, 3).T @ S
            f, t = R @ f, R @ t
        return np.concatenate([f, t])


@exercise.misconception(
    "The sign is changed inside `sensordata`: `data` is spoilt for every other reader. Work on a "
    "copy."
)
def changes_the_reading():
    def ft_wrench(model, data, force_sensor, torque_sensor, frame_site=None):
        f, t = data.sensor(force_sensor).data, data.sensor(torque_sensor).data
        f *= -1
        t *= -1
        if frame_site is not None:
            S = data.site_xmat[model.sensor(force_sensor).objid[0]].reshape(3, 3)
            R = data.site(frame_site).xmat.reshape(3, 3).T @ S
            f, t = R @ f, R @ t
        return np.concatenate([f, t])


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


_wrong = exercise.slips(exercise.variants[-1].cell)


_wrong(
    "only_the_torque_turned",
    "Only the torque is turned; the force is a vector too and turns with it.",
    ("f, t = R @ f, R @ t", "t = R @ t"),
)
_wrong(
    "sign_without_a_frame",
    "The sign is right only without `frame_site`: it was changed twice on the other way.",
    ("f, t = R @ f, R @ t", "f, t = -R @ f, -R @ t"),
)
_wrong(
    "sign_with_a_frame_only",
    "The sign is changed only where `frame_site` is given: without it the reading is still "
    "MuJoCo's.",
    ("f = -np", "f = np"),
    ("t = -np", "t = np"),
    ("f, t = R @ f, R @ t", "f, t = -R @ f, -R @ t"),
)
_wrong(
    "sign_and_direction",
    "The sign is MuJoCo's, and the reading is turned the wrong way: the load is the negative, and "
    "R = T' S brings it from the sensor's axes into the site's.",
    ("f = -np", "f = np"),
    ("t = -np", "t = np"),
    ("T.T @ S", "S.T @ T"),
)
_wrong(
    "axes_of_the_body",
    "The axes of the sensor's *body* are used. The reading is along the axes of its *site*, which "
    "may be turned on the body.",
    ("data.site_xmat[own]", "data.xmat[model.site_bodyid[own]]"),
)
_wrong(
    "axes_of_the_body",
    "The axes of the other site's *body* are used; the site may be turned on it.",
    ("data.site(frame_site).xmat", "data.xmat[model.site_bodyid[model.site(frame_site).id]]"),
)
_wrong(
    "sensor_id_as_site",
    "The sensor's id is used as the id of its site. Which site it sits on is said by "
    "`sensor_objid`.",
    (
        "model.sensor_objid[model.sensor(force_sensor).id]",
        "model.sensor(force_sensor).id % model.nsite",
    ),
)
_wrong(
    "frame_is_required",
    "`frame_site` has no default: called without it, the function must give the sensor's own "
    "frame.",
    ("frame_site=None", "frame_site"),
)
_wrong(
    "not_six_numbers",
    "Force and torque come as two vectors; one of shape (6,) is asked for.",
    ("np.concatenate([f, t])", "np.array([f, t])"),
)
_wrong(
    "not_six_numbers",
    "Force and torque come as two vectors; one of shape (6,) is asked for.",
    ("np.concatenate([f, t])", "(f, t)"),
)
_wrong(
    "force_alone",
    "Only three numbers come back: force *and* torque are asked for.",
    ("np.concatenate([f, t])", "f"),
)
_wrong(
    "sizes_alone",
    "The signs of the entries are lost (`abs`): a load has a direction.",
    ("np.concatenate([f, t])", "np.abs(np.concatenate([f, t]))"),
)


@exercise.misconception(
    "`model.site_quat` is given in the site's own body: two sites on different bodies cannot be "
    "compared by it. Use `data.site_xmat`, which is given in the world."
)
def site_in_its_body():
    from scipy.spatial.transform import Rotation

    def ft_wrench(model, data, force_sensor, torque_sensor, frame_site=None):
        force = -data.sensor(force_sensor).data
        torque = -data.sensor(torque_sensor).data
        if frame_site is not None:
            own = model.site_quat[model.sensor(force_sensor).objid[0]]
            other = model.site(frame_site).quat
            turn = Rotation.from_quat(other, scalar_first=True).inv() * Rotation.from_quat(
                own, scalar_first=True
            )
            force, torque = turn.apply(force), turn.apply(torque)
        return np.concatenate([force, torque])
