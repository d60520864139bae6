"""A JupyterLab server of our own, and a notebook open in it, for tests that need a real browser."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

_START_SECONDS = 90
_QUIET = {
    "@jupyterlab/apputils-extension/notification.jupyterlab-settings": {
        "fetchNews": "false",
        "checkForUpdates": False,
        "doNotDisturbMode": True,
    },
    "@jupyterlab/docmanager-extension/plugin.jupyterlab-settings": {"autosave": False},
    # Every output is on the page at once, so that a test can look at any cell.
    "@jupyterlab/notebook-extension/tracker.jupyterlab-settings": {"windowingMode": "none"},
}


class Server:
    """JupyterLab on localhost at a free port, with its own settings, no token and no news.

    Args:
      folder: settings, runtime files and the notebooks' `root` go below it.
      theme: `"JupyterLab Light"` or `"JupyterLab Dark"`.
      environment: added to the kernels' environment.
    """

    def __init__(
        self,
        folder: Path,
        theme: str = "JupyterLab Light",
        environment: dict[str, str] | None = None,
    ) -> None:
        self.root = folder / "notebooks"
        self.root.mkdir(parents=True)
        settings = folder / "settings"
        themed = {
            **_QUIET,
            "@jupyterlab/apputils-extension/themes.jupyterlab-settings": {"theme": theme},
        }
        for name, values in themed.items():
            path = settings / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(values), encoding="utf-8")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self.headers = {"Content-Type": "application/json"}  # for its REST interface
        self.url = f"http://127.0.0.1:{port}"
        self._log = (folder / "server.log").open("w", encoding="utf-8")
        own = {f"JUPYTER_{k}_DIR": str(folder / k.lower()) for k in ("CONFIG", "DATA", "RUNTIME")}
        self._process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "jupyterlab",
                "--no-browser",
                "--allow-root",
                f"--ServerApp.root_dir={self.root}",
                "--ServerApp.ip=127.0.0.1",
                f"--ServerApp.port={port}",
                "--ServerApp.port_retries=0",
                "--IdentityProvider.token=",
                "--ServerApp.disable_check_xsrf=True",
                "--ServerApp.jpserver_extensions={}",
                "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
                "--LabApp.news_url=None",
                "--LabApp.expose_app_in_browser=True",
                "--LabApp.extension_manager=readonly",
                f"--LabApp.user_settings_dir={settings}",
                f"--LabApp.workspaces_dir={folder / 'workspaces'}",
            ],
            env={
                **os.environ,
                **own,
                "IPYTHONDIR": str(folder / "ipython"),
                "OPENBLAS_NUM_THREADS": "1",
                **(environment or {}),
            },
            cwd=self.root,
            stdout=self._log,
            stderr=subprocess.STDOUT,
        )
        self._wait()

    def write_notebook(self, name: str, cells: list[str]) -> str:
        """Save a notebook of code cells, and return its name for `Notebook`."""
        import nbformat
        from nbformat.v4 import new_code_cell, new_notebook

        notebook = new_notebook(
            cells=[new_code_cell(source, id=f"cell-{i}") for i, source in enumerate(cells)],
            metadata={
                "kernelspec": {
                    "name": "python3",
                    "display_name": "Python 3",
                    "language": "python",
                }
            },
        )
        nbformat.write(notebook, self.root / name)
        return name

    def close(self) -> None:
        """Stop the server and its kernels."""
        request = urllib.request.Request(f"{self.url}/api/shutdown", method="POST")
        try:
            urllib.request.urlopen(request, timeout=10)
            self._process.wait(timeout=20)
        except (urllib.error.URLError, subprocess.TimeoutExpired):
            self._process.terminate()
            self._process.wait(timeout=20)
        self._log.close()

    def _wait(self) -> None:
        deadline = time.monotonic() + _START_SECONDS
        while time.monotonic() < deadline and self._process.poll() is None:
            try:
                urllib.request.urlopen(f"{self.url}/api", timeout=2)
            except (urllib.error.URLError, ConnectionError, TimeoutError):
                time.sleep(0.2)
            else:
                return
        self._log.flush()
        log = Path(self._log.name).read_text(encoding="utf-8")
        self._process.terminate()
        raise RuntimeError(f"JupyterLab did not start:\n{log[-3000:]}")


class Notebook:
    """One notebook open in JupyterLab in a Playwright page."""

    def __init__(self, page: Any, server: Server, name: str) -> None:
        self.page = page
        self._url = f"{server.url}/lab/workspaces/auto-{re.sub(r'[^a-z0-9]', '', name)}/tree/{name}"
        page.goto(f"{self._url}?reset")
        page.locator(".jp-Notebook .jp-Cell").first.wait_for(timeout=60_000)
        # A command that comes before the kernel has answered is dropped without a word.
        page.wait_for_function(
            """() => window.jupyterapp.shell.currentWidget?.sessionContext
                ?.session?.kernel?.status === 'idle'""",
            timeout=60_000,
        )

    def run_all(self, timeout: float = 120.0) -> None:
        """Run every cell and wait until the last has run (seconds)."""
        self._command("notebook:run-all-cells", timeout)

    def run_cell(self, index: int, timeout: float = 60.0) -> None:
        """Run one code cell again, and wait for it (seconds)."""
        self.cell(index).locator(".jp-InputArea-editor").first.click()
        self._command("notebook:run-cell", timeout)

    def cell(self, index: int) -> Any:
        """The locator of the cell at `index` (Markdown cells count)."""
        return self.page.locator(".jp-Notebook .jp-Cell").nth(index)

    def evaluate(self, code: str) -> str:
        """Run code in the kernel beside the notebook's cells, and return what it prints."""
        return self.page.evaluate(
            """async code => {
                const context = window.jupyterapp.shell.currentWidget.sessionContext;
                let text = '';
                const future = context.session.kernel.requestExecute({code});
                future.onIOPub = m => { text += m.content.text || m.content.evalue || ''; };
                await future.done;
                return text;
            }""",
            code,
        )

    def close(self) -> None:
        """Stop the kernel, so that the next notebook has the machine for itself."""
        self.page.evaluate(
            """async () => {
                const sessions = await (await fetch('/api/sessions')).json();
                for (const s of sessions)
                    await fetch('/api/sessions/' + s.id, {method: 'DELETE'});
            }"""
        )

    def _command(self, name: str, timeout: float) -> None:
        """A JupyterLab command; those that run cells end when the cells have."""
        self.page.evaluate(
            """([name, seconds]) => Promise.race([
                window.jupyterapp.commands.execute(name),
                new Promise((_, fail) => setTimeout(
                    () => fail(new Error(`${name} took over ${seconds} s`)), 1000 * seconds)),
            ]).then(() => null)""",
            [name, timeout],
        )
