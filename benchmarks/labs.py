"""How live is a live lab? Measured in JupyterLab in Chromium, beside what else a notebook can do.

    python benchmarks/labs.py [--json FILE] [--seconds 8]

One run measures, on the same scene at 480 x 360 and on the same machine:

- the limit: `mj_step`, `Renderer.render()` and JPEG encoding in a plain loop, without a notebook,
  with the flags of a lab's frames in motion and with MuJoCo's default flags;
- a `Lab` with two strip charts: frames a second that the browser shows while it plays, the gaps
  between them, the time from a key on a slider to the new picture, what is left of a flood of
  events, and the memory and OpenGL contexts after 100 runs of its cell;
- a raw websocket client on the same lab, which decodes nothing: the limit for the slider;
- what a notebook author would write: `interact` with mediapy, and with matplotlib.

Times depend on the machine and on what else it does; the ratios travel better.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import sys
import tempfile
import time
import urllib.request
import uuid
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.browser.jupyterlab import Notebook, Server  # noqa: E402

LAB = """
from mjcourse import Button, Lab, Readout, Slider, StripChart
def turn(model, data, value):
    data.joint("hinge").qpos[0] = value
def spin(model, data):
    data.joint("free").qvel[3:6] = 0.5, 1.0, 2.0
def part(index):
    return lambda model, data: data.qpos[3 + index]
lab = Lab(
    "joint_zoo",
    camera={"azimuth": -90, "elevation": 12, "distance": 1.6, "lookat": (0, 0, 0.45)},
    controls=[Slider("hinge angle", low=-3, high=3, step=0.02, on_change=turn),
              Button("Spin the box", spin)],
    readouts=[Readout("free qw", lambda model, data: data.qpos[3], digits=4)],
    charts=[
        StripChart("free quaternion", {name: part(i) for i, name in enumerate("wxyz")},
                   limits=(-1.05, 1.05)),
        StripChart("the same again", {name: part(i) for i, name in enumerate("wxyz")}),
    ],
    show=("frames", "joints"),
)
lab
"""

# What the lab shows, at the same size: the picture with its overlays, and two labelled charts.
# One renderer for each thread: JupyterLab runs callbacks in another thread than the cell, where
# an OpenGL context made in the cell fails.
AUTHOR = """
import threading, mjcourse, mujoco, ipywidgets, collections
model = mjcourse.load("joint_zoo")
data = mujoco.MjData(model)
data.joint("free").qvel[3:6] = 0.5, 1.0, 2.0
camera = mujoco.MjvCamera()
camera.azimuth, camera.elevation, camera.distance = -90, 12, 1.6
camera.lookat = 0, 0, 0.45
option = mujoco.MjvOption()
option.frame = mujoco.mjtFrame.mjFRAME_BODY
option.flags[mujoco.mjtVisFlag.mjVIS_JOINT] = True
renderers = {}
history = collections.deque(maxlen=144)
def pixels():
    mujoco.mj_step(model, data, 21)
    history.append(data.qpos[3:7].copy())
    me = threading.get_ident()
    if me not in renderers:
        renderers[me] = mujoco.Renderer(model, 360, 480)
    renderers[me].update_scene(data, camera, option)
    return renderers[me].render()
"""
MEDIAPY = (
    AUTHOR
    + """
import mediapy
def show(frame):
    mediapy.show_image(pixels())
ipywidgets.interact(show, frame=ipywidgets.Play(interval=42, max=100000));
"""
)
MATPLOTLIB = (
    AUTHOR
    + """
import matplotlib.pyplot as plt
def show(frame):
    figure, axes = plt.subplots(3, 1, figsize=(6.2, 8), height_ratios=(3, 1, 1))
    axes[0].imshow(pixels()); axes[0].axis("off")
    for chart, title in zip(axes[1:], ("free quaternion", "the same again")):
        chart.plot(list(history), label=list("wxyz"))
        chart.set_title(title); chart.legend(loc="lower left", ncols=4)
    axes[1].set_ylim(-1.05, 1.05)
    plt.show()
ipywidgets.interact(show, frame=ipywidgets.Play(interval=42, max=100000));
"""
)

WATCH_LAB = """() => {
    window.shown = [];
    document.querySelector('.mjl img').addEventListener(
        'load', () => requestAnimationFrame(() => window.shown.push(performance.now())));
    document.addEventListener('keydown', () => { window.pressed = performance.now(); }, true);
}"""

# A new output holds a new <img>; it is shown when it has loaded.
WATCH_OUTPUT = """() => {
    window.shown = [];
    const note = () => requestAnimationFrame(() => window.shown.push(performance.now()));
    new MutationObserver(records => {
        for (const record of records)
            for (const node of record.addedNodes) {
                if (node.nodeType !== 1) continue;
                const images = node.matches('img') ? [node] : node.querySelectorAll('img');
                for (const image of images)
                    if (image.complete) note(); else image.addEventListener('load', note);
            }
    }).observe(document.querySelector('.jp-Notebook'), {childList: true, subtree: true});
}"""


def plain_loop(frames: int = 120) -> dict[str, float]:
    """The limit, in this process: median ms per frame with fast and with default flags."""
    from mjcourse import load  # chooses the back end before mujoco is imported
    from mjcourse.rendering import encode_jpeg

    import mujoco  # isort: skip

    found = {}
    for name, fast in (("loop_ms_per_frame", True), ("loop_default_ms_per_frame", False)):
        model = load("joint_zoo")
        if fast:
            model.vis.quality.offsamples = 0
        data = mujoco.MjData(model)
        with mujoco.Renderer(model, 360, 480) as renderer:
            if fast:
                renderer.scene.flags[mujoco.mjtRndFlag.mjRND_SHADOW] = False
                renderer.scene.flags[mujoco.mjtRndFlag.mjRND_REFLECTION] = False
            times = []
            for _ in range(frames):
                start = time.perf_counter()
                mujoco.mj_step(model, data, 21)  # 42 ms of simulated time
                renderer.update_scene(data)
                encode_jpeg(renderer.render())
                times.append(time.perf_counter() - start)
        found[name] = 1e3 * float(np.median(times))
    return found


def where_the_time_goes(frames: int = 100) -> dict[str, float]:
    """Median ms of the parts of a lab's frame in motion, in this process, without a browser."""
    from mjcourse.lab.readouts import readouts_html
    from mjcourse.lab.stage import stage
    from mjcourse.rendering import encode_jpeg

    space: dict[str, Any] = {}
    exec(LAB.rsplit("lab\n", 1)[0], space)
    lab = space["lab"]
    lab.act("Spin the box")
    lab.advance(6)
    run, parts = lab._run, {}

    def timed(name: str, action: Any) -> Any:
        start = time.perf_counter()
        result = action()
        parts.setdefault(name, []).append(1e3 * (time.perf_counter() - start))
        return result

    def one() -> None:
        timed("physics", lambda: run.simulations[0].advance_to(run.time + 0.042, 1.0))
        timed("sampling", run._sample)
        pixels = timed("drawing", lambda: run.draw(full=False))
        timed("jpeg", lambda: encode_jpeg(pixels))
        timed("charts", lambda: [strip.svg() for strip in run.strips])
        timed("readouts", lambda: (run.measure(), readouts_html([])))

    for _ in range(frames):
        stage().call(one)
    full = timed("full frame at rest", lambda: stage().call(lambda: run.draw(full=True)))
    timed("full frame's jpeg", lambda: encode_jpeg(full, full=True))
    lab.close()
    return {name: round(float(np.median(times)), 2) for name, times in parts.items()}


def gaps(page: Any, seconds: float) -> np.ndarray:
    """Milliseconds between the pictures that the browser shows in so many seconds."""
    page.evaluate("() => { window.shown.length = 0; }")
    page.wait_for_timeout(1000 * seconds)
    return np.diff(page.evaluate("() => window.shown"))


def lab_in_browser(browser: Any, server: Server, seconds: float) -> dict[str, float]:
    """Play, slider, flood and re-runs of the lab."""
    page = browser.new_page(viewport={"width": 1280, "height": 1000})
    notebook = Notebook(page, server, server.write_notebook("lab.ipynb", [LAB]))
    notebook.run_all()
    page.locator(".mjl img").first.wait_for()
    page.wait_for_timeout(3000)
    page.evaluate(WATCH_LAB)
    found: dict[str, float] = {}

    page.get_by_role("button", name="Spin the box").click()
    page.get_by_role("button", name="Play").click()
    page.wait_for_timeout(2000)
    before = notebook.evaluate("import time; print(time.time(), lab.time)").split()
    between = gaps(page, seconds)
    after = notebook.evaluate("print(time.time(), lab.time)").split()
    wall, simulated = (float(b) - float(a) for a, b in zip(before, after, strict=True))
    found["shown_fps"] = 1e3 / float(between.mean())
    found["gap_p95_ms"] = float(np.percentile(between, 95))
    found["real_time_factor"] = simulated / wall
    page.get_by_role("button", name="Pause").click()
    page.wait_for_timeout(1000)

    handle = page.locator(".widget-slider", has_text="hinge angle").locator("[role=slider]")
    handle.focus()
    random, delays = np.random.default_rng(0), []
    for index in range(80):
        page.evaluate("() => { window.shown.length = 0; }")
        page.keyboard.press("ArrowRight" if index % 40 < 20 else "ArrowLeft")
        # No polling for the picture: it would compete with what is measured.
        page.wait_for_timeout(float(random.uniform(350, 900)))
        page.wait_for_function("() => window.shown.length > 0")
        pressed, shown = page.evaluate("() => [window.pressed, window.shown]")
        delays.append(shown[0] - pressed)
    found["slider_median_ms"] = float(np.median(delays))
    found["slider_p95_ms"] = float(np.percentile(delays, 95))

    floods = [_flood(page, handle) for _ in range(3)]
    found["flood_fps"], found["flood_lag_ms"] = (
        float(np.median(f)) for f in zip(*floods, strict=True)
    )
    found.update(_reruns(notebook))
    notebook.close()
    page.close()
    return found


def _flood(page: Any, handle: Any) -> tuple[float, float]:
    """60 moves a second for 4 s: frames a second shown meanwhile, and how late the last one is.

    The full-quality frame after a quarter of a second of rest is not counted.
    """
    box = handle.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.evaluate("() => { window.shown.length = 0; }")
    start = time.perf_counter()
    for index in range(240):
        page.mouse.move(x + 30 * np.sin(index / 12), y)
        time.sleep(max(0.0, start + (index + 1) / 60 - time.perf_counter()))
    end = page.evaluate("() => performance.now()")
    page.mouse.up()
    page.wait_for_timeout(1000)
    shown = np.array(page.evaluate("() => window.shown"))
    late = shown[(shown > end) & (shown < end + 240)] - end
    rate = float((shown < end).sum() / ((end - shown[0]) / 1e3))
    return rate, float(late.max()) if late.size else 0.0


def _reruns(notebook: Notebook) -> dict[str, float]:
    """Memory of the kernel and OpenGL contexts while the lab's cell runs 100 times."""
    status = """
import gc
from mjcourse.lab.stage import stage
gc.collect()
print(int(open('/proc/self/statm').read().split()[1]) * 4096 / 1e6,
      stage().call(lambda: stage().painter.contexts), len(stage().actors))
"""
    found = {}
    for run in range(1, 101):
        notebook.run_cell(0)
        if run in (10, 50, 100):
            notebook.page.wait_for_timeout(500)
            memory, contexts, labs = map(float, notebook.evaluate(status).split())
            found[f"rerun_{run}_rss_mb"] = memory
            found["rerun_contexts"], found["rerun_labs"] = contexts, labs
    return found


def author_in_browser(browser: Any, server: Server, name: str, cell: str, seconds: float) -> float:
    """Frames a second shown by `interact` with a `Play` widget."""
    page = browser.new_page(viewport={"width": 1280, "height": 1000})
    notebook = Notebook(page, server, server.write_notebook(f"{name}.ipynb", [cell]))
    notebook.run_all()
    page.evaluate(WATCH_OUTPUT)
    page.locator(".jupyter-widgets.widget-play button, .widget-play button").first.click()
    page.wait_for_timeout(3000)
    between = gaps(page, seconds)
    notebook.close()
    page.close()
    return 1e3 / float(between.mean()) if between.size else 0.0


async def raw_slider(server: Server, events: int = 80) -> dict[str, float]:
    """Slider to new picture for a client that only waits for the bytes: median and p95 in ms."""
    from tornado.websocket import websocket_connect

    def ask(method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        request = urllib.request.Request(
            server.url + path,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers=server.headers,
        )
        text = urllib.request.urlopen(request, timeout=60).read()
        return json.loads(text) if text else None

    kernel = ask("POST", "/api/kernels", {"name": "python3"})["id"]
    session = uuid.uuid4().hex
    address = server.url.replace("http", "ws") + f"/api/kernels/{kernel}/channels"
    socket = await websocket_connect(f"{address}?session_id={session}", max_message_size=2**26)

    async def send(kind: str, content: dict[str, Any]) -> str:
        header = {
            "msg_id": uuid.uuid4().hex,
            "msg_type": kind,
            "session": session,
            "username": "",
            "version": "5.3",
            "date": "",
        }
        message = {
            "header": header,
            "parent_header": {},
            "metadata": {},
            "content": content,
            "channel": "shell",
            "buffers": [],
        }
        await socket.write_message(json.dumps(message))
        return str(header["msg_id"])

    def parse(frame: str | bytes) -> dict[str, Any]:
        if isinstance(frame, str):
            return json.loads(frame)
        first, second = np.frombuffer(frame[4:12], ">u4")  # buffers' offsets: JSON is the first
        return json.loads(frame[first:second])

    request = {"code": LAB, "silent": False, "store_history": True, "allow_stdin": False}
    await send("execute_request", {**request, "user_expressions": {}})
    models: dict[str, str] = {}
    deadline = time.perf_counter() + 60
    while time.perf_counter() < deadline:
        try:
            frame = await asyncio.wait_for(socket.read_message(), 3)
        except TimeoutError:
            break
        message = parse(frame)
        if message["header"]["msg_type"] == "comm_open":
            state = message["content"]["data"]["state"]
            name = state.get("_model_name")
            if name == "ImageModel" or str(state.get("description", "")).startswith("hinge angle"):
                models[name] = message["content"]["comm_id"]
    random, delays, value = np.random.default_rng(0), [], 0.0
    for index in range(events):
        value += 0.02 if index % 40 < 20 else -0.02
        start = time.perf_counter()
        change = {"method": "update", "state": {"value": value}}
        await send("comm_msg", {"comm_id": models["FloatSliderModel"], "data": change})
        while True:
            message = parse(await asyncio.wait_for(socket.read_message(), 10))
            if (
                message["header"]["msg_type"] == "comm_msg"
                and message["content"]["comm_id"] == models["ImageModel"]
                and message["content"]["data"].get("buffer_paths") == [["value"]]
            ):
                delays.append(1e3 * (time.perf_counter() - start))
                break
        # The full-quality picture and the words are read and forgotten.
        until = time.perf_counter() + float(random.uniform(0.35, 0.9))
        while (left := until - time.perf_counter()) > 0:
            try:
                await asyncio.wait_for(socket.read_message(), left)
            except TimeoutError:
                break
    socket.close()
    ask("DELETE", f"/api/kernels/{kernel}")
    return {
        "raw_median_ms": float(np.median(delays)),
        "raw_p95_ms": float(np.percentile(delays, 95)),
    }


def measure(seconds: float) -> dict[str, Any]:
    """Everything, one after the other."""
    from playwright.sync_api import sync_playwright

    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium")
    found: dict[str, Any] = dict(plain_loop())
    found["where_ms"] = where_the_time_goes()
    folder = Path(tempfile.mkdtemp(prefix="labs-"))
    server = Server(folder)
    try:
        found.update(asyncio.run(raw_slider(server)))
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=chromium, args=["--no-sandbox", "--force-device-scale-factor=1"]
            )
            found.update(lab_in_browser(browser, server, seconds))
            mediapy = author_in_browser(browser, server, "mediapy", MEDIAPY, seconds)
            matplotlib = author_in_browser(browser, server, "matplotlib", MATPLOTLIB, seconds)
            browser.close()
    finally:
        server.close()
        shutil.rmtree(folder, ignore_errors=True)
    found["mediapy_fps"], found["matplotlib_fps"] = mediapy, matplotlib
    found["ratio_to_mediapy"] = found["shown_fps"] / max(mediapy, 1e-9)
    found["ratio_to_matplotlib"] = found["shown_fps"] / max(matplotlib, 1e-9)
    found["load_average"] = os.getloadavg()[0]
    found["cpus"] = os.cpu_count()
    return found


def report(found: dict[str, Any]) -> str:
    """The table for people: what, measured, wanted."""
    f = found
    rows = [
        ("frames shown while playing, 1/s", f["shown_fps"], "at least 22"),
        ("gap between frames, p95, ms", f["gap_p95_ms"], f"under {1.5e3 / 24:.1f}"),
        ("simulated seconds per second", f["real_time_factor"], "1"),
        ("slider to picture, median, ms", f["slider_median_ms"], _times(2.5, f["raw_median_ms"])),
        ("slider to picture, p95, ms", f["slider_p95_ms"], _times(4, f["raw_p95_ms"])),
        ("  raw websocket client, median, ms", f["raw_median_ms"], ""),
        ("  raw websocket client, p95, ms", f["raw_p95_ms"], ""),
        ("lag after a flood of moves, median of 3, ms", f["flood_lag_ms"], "under 100"),
        ("plain loop, a lab's flags, ms a frame", f["loop_ms_per_frame"], ""),
        ("plain loop, default flags, ms a frame", f["loop_default_ms_per_frame"], ""),
        ("interact with mediapy, 1/s", f["mediapy_fps"], ""),
        ("  frames of a lab for one of it", f["ratio_to_mediapy"], ""),
        ("interact with matplotlib, 1/s", f["matplotlib_fps"], ""),
        ("  frames of a lab for one of it", f["ratio_to_matplotlib"], "at least 10"),
        ("memory after 10 re-runs of the cell, MB", f["rerun_10_rss_mb"], ""),
        ("  after 50", f["rerun_50_rss_mb"], "the same"),
        ("  after 100", f["rerun_100_rss_mb"], "the same"),
        ("OpenGL contexts after 100", f["rerun_contexts"], "1"),
        ("labs driven after 100", f["rerun_labs"], "1"),
    ]
    lines = [f"{'':44}{'measured':>9}   wanted"]
    lines += [f"{name:44}{value:9.1f}   {wanted}" for name, value, wanted in rows]
    where = ", ".join(f"{name} {ms:g}" for name, ms in f["where_ms"].items())
    lines.append(f"median ms of a frame in motion, without a browser: {where}")
    lines.append(f"{f['cpus']} CPUs, load average {f['load_average']:.1f} at the end")
    return "\n".join(lines)


def _times(factor: float, limit: float) -> str:
    return f"under {factor * limit:.1f} ({factor:g} times the raw client's)"


def main() -> int:
    """Measure, print the table, write the JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, help="write every figure here")
    parser.add_argument("--seconds", type=float, default=8.0, help="length of a play")
    arguments = parser.parse_args()
    found = measure(arguments.seconds)
    print(report(found))
    if arguments.json:
        arguments.json.parent.mkdir(parents=True, exist_ok=True)
        arguments.json.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
