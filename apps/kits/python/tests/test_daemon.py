"""Runs the sample app under a real daemon, if `pipemux` is built or installed."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).parent
BUILT = HERE.parents[3] / "target/debug/pipemux"
PIPEMUX = os.environ.get("PIPEMUX") or (
    BUILT if BUILT.exists() else shutil.which("pipemux")
)


@unittest.skipUnless(PIPEMUX, "pipemux is neither built nor installed")
class DaemonTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="pmx-")
        self.addCleanup(folder.cleanup)
        self.home = Path(folder.name)
        apps = self.home / ".config/pipemux/apps"
        apps.mkdir(parents=True)
        program = f'command = "{sys.executable}"\nargs = ["{HERE / "sample.py"}"]'
        apps.joinpath("todo.toml").write_text(
            # The kit isn't installed, so the sandbox doesn't know that the app needs it.
            f'id = "todo"\n{program}\npass = ["PYTHONPATH"]\nread = ["{HERE.parent}"]\n'
        )
        self.addCleanup(self.pipemux, 0, "down")

    def pipemux(self, exit: int, *args: str) -> str:
        environment = {"HOME": str(self.home), "XDG_RUNTIME_DIR": str(self.home)}
        environment |= {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(HERE.parent / "src"),
        }
        command = [str(PIPEMUX), *args]
        done = subprocess.run(
            command,
            env=environment,
            cwd=self.home,
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual(done.returncode, exit, done.stdout + done.stderr)
        return done.stdout

    def test_whole_session(self) -> None:
        self.assertIn("0 to do", self.pipemux(0, "open", "todo"))
        self.assertIn("2 to do", self.pipemux(0, "run", "add('milk'); add('bread')"))
        self.assertIn("which one?", self.pipemux(5, "run", "rename()"))
        self.assertIn("a new name for bread?", self.pipemux(5, "answer", "2"))
        self.assertIn("now cake", self.pipemux(0, "answer", "cake"))
        self.assertIn("1 found: [cake]", self.pipemux(0, "ask", "count('cake')"))
        self.assertIn(
            "ValueError: no x (sample.py:", self.pipemux(1, "run", "fail('x')")
        )
        self.assertIn("1 done", self.pipemux(0, "run", "done(['milk'])"))
        view = self.pipemux(0, "view")
        self.assertIn("1 to do · rung 1", view)


if __name__ == "__main__":
    unittest.main()
