"""Live labs: MuJoCo runs in the kernel, the picture is its render, a moved slider shows at once.

Lab(
    "joint_zoo",
    title="One joint of each type",
    controls=[Button("Spin the box", spin)],
    readouts=[Readout("free qw", lambda model, data: data.qpos[3], digits=4)],
    charts=[StripChart("free quaternion", {"qw": lambda model, data: data.qpos[3]})],
)
"""

from mjcourse.lab.charts import StripChart
from mjcourse.lab.controls import Button, Select, Slider, Toggle
from mjcourse.lab.lab import Lab, LabError
from mjcourse.lab.notebook import student
from mjcourse.lab.readouts import Readout, Table
from mjcourse.lab.scenery import arrow, ghost_body, marker
from mjcourse.lab.simulation import Simulation

__all__ = [
    "Button",
    "Lab",
    "LabError",
    "Readout",
    "Select",
    "Simulation",
    "Slider",
    "StripChart",
    "Table",
    "Toggle",
    "arrow",
    "ghost_body",
    "marker",
    "student",
]
