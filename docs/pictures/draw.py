"""Draw the pictures of the README and the social card from the released lessons, in a real browser.

    python docs/pictures/draw.py

Writes `lesson.png` (a lab of the first lesson in JupyterLab) and `social_card.png` (1280 x 640)
beside this file. Needs Chromium, as the browser tests do.
"""

from __future__ import annotations

import base64
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT))

from tests.browser.jupyterlab import Notebook, Server  # noqa: E402

LESSON = "generalized_coordinates"
LAB = "One joint of each type"

CARD = """<!doctype html><meta charset="utf-8"><style>
  * {{ margin: 0; box-sizing: border-box }}
  body {{ width: 1280px; height: 640px; background: #10161d; color: #f4f6f8; overflow: hidden;
         font-family: "DejaVu Sans", sans-serif; display: flex }}
  main {{ width: 590px; padding: 72px 0 0 64px }}
  h1 {{ font-size: 64px; letter-spacing: -1px; margin-bottom: 22px }}
  p {{ font-size: 25px; line-height: 1.5; color: #c9d3dd; margin-bottom: 30px }}
  ul {{ padding: 0 }}
  li {{ list-style: none; font-size: 20px; line-height: 1.95; color: #f4f6f8 }}
  li::before {{ content: ""; display: inline-block; width: 12px; height: 12px; margin-right: 14px;
               border-radius: 3px; background: var(--c) }}
  img {{ position: absolute; left: 660px; top: 60px; width: 556px; border-radius: 8px }}
  .chart {{ position: absolute; left: 660px; top: 492px; width: 556px; color: #dfe6ed }}
  svg {{ width: 556px; height: auto }}
  svg text {{ fill: currentColor; font-size: 11px }} svg .t {{ font-weight: 600 }}
  svg .y {{ text-anchor: end; opacity: .75 }} svg .x {{ text-anchor: middle; opacity: .75 }}
  svg .g {{ stroke: currentColor; opacity: .2; fill: none }}
  svg .s {{ fill: none; stroke-width: 2 }}
</style>
<main><h1>mjcourse</h1>
<p>The foundations of robot simulation with MuJoCo: live labs and exercises in four notebooks, and
an auto-grader that names the mistake.</p>
<ul>
  <li style="--c:#0f85d0">Generalized coordinates</li>
  <li style="--c:#e69f00">Rotations</li>
  <li style="--c:#009e73">The computation pipeline</li>
  <li style="--c:#d55e00">Environment conventions</li>
</ul></main>
<img src="data:image/jpeg;base64,{picture}">
<div class="chart">{chart}</div>"""


def run_lab(page: Any, server: Server) -> Any:
    """The lesson's first lab after a few seconds of play, at rest."""
    shutil.copy(ROOT / "release" / LESSON / f"{LESSON}.ipynb", server.root)
    notebook = Notebook(page, server, f"{LESSON}.ipynb")
    notebook.run_all(300)
    heading = page.get_by_role("heading", name=LAB, exact=True)
    lab = page.locator(".mjl").filter(has=heading)
    lab.scroll_into_view_if_needed()
    lab.get_by_role("button", name="Reset").first.click()
    for name in ("body frames", "joint axes"):
        lab.get_by_label(name).check()
    for name in ("Spin the box", "Swing the ball", "Push the slide", "Turn the hinge"):
        lab.get_by_role("button", name=name).click()
    play = lab.get_by_role("button", name="Play")
    if play.count():
        play.click()
    page.wait_for_timeout(5200)
    lab.get_by_role("button", name="Pause").click()
    page.wait_for_timeout(2000)
    return notebook, lab


def main() -> int:
    """Write both pictures."""
    from playwright.sync_api import sync_playwright

    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium")
    folder = Path(tempfile.mkdtemp(prefix="pictures-"))
    server = Server(folder)
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            page = browser.new_page(viewport={"width": 1280, "height": 1000})
            notebook, lab = run_lab(page, server)
            # The lab at the top of the window, below a line of the text before it.
            lab.evaluate(
                """lab => {
                    const window_ = document.querySelector('.jp-WindowedPanel-outer');
                    window_.scrollTop += lab.getBoundingClientRect().top
                        - window_.getBoundingClientRect().top - 150;
                }"""
            )
            page.mouse.move(5, 990)
            page.evaluate("() => document.activeElement.blur()")
            page.wait_for_timeout(500)
            page.screenshot(path=str(HERE / "lesson.png"))
            picture = lab.locator("img").first.evaluate(
                """async image => {
                    const bytes = new Uint8Array(await (await fetch(image.src)).arrayBuffer());
                    let text = '';
                    for (const byte of bytes) text += String.fromCharCode(byte);
                    return btoa(text);
                }"""
            )
            chart = lab.locator("svg.mjl-chart").first.evaluate("svg => svg.outerHTML")
            notebook.close()
            assert base64.b64decode(picture)[:2] == b"\xff\xd8", "the lab's picture is a JPEG"
            card = browser.new_page(viewport={"width": 1280, "height": 640})
            card.set_content(CARD.format(picture=picture, chart=chart))
            card.wait_for_timeout(500)
            card.screenshot(path=str(HERE / "social_card.png"))
            browser.close()
    finally:
        server.close()
        shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
