"""The project's folders of TypeScript: Node.js and npm found, the folder installed and built, every error one line."""

import contextlib
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from racer_env.errors import RacerError
from racer_env.json_files import read_json, shown

INSTALL_TIMEOUT_S = 600.0
START_TIMEOUT_S = 30.0
LOCK_NAME = ".installing"
MAX_LAST_WORDS = 5  # lines of its output that an error quotes


@dataclass(frozen=True)
class NodeProject:
    """A folder with a ``package.json``.

    Attributes:
        what: What is in it, with an article, as in "the bundled bridge"; it begins the messages.
        folder: The folder.
        error: Exception class to raise.
    """

    what: str
    folder: Path
    error: type[RacerError]

    @property
    def installed_mark(self) -> Path:
        """The file that npm writes last in an installation."""
        return self.folder / "node_modules" / ".package-lock.json"

    @property
    def is_installed(self) -> bool:
        """Whether npm has installed what the lock file names."""
        return is_newer(self.installed_mark, [self.folder / "package-lock.json"])

    @property
    def least_node(self) -> str:
        """Oldest version of Node.js that it runs with, as in "20.19": what ``engines`` in its ``package.json`` says.

        Raises:
            RacerError: The file is missing or damaged, or says it in another form than ">=20.19".
        """
        path = self.folder / "package.json"
        package = read_json(path, self.error, "package")
        engines = package.get("engines") if isinstance(package, dict) else None
        wanted = engines.get("node") if isinstance(engines, dict) else None
        least = re.fullmatch(r">=(\d+(\.\d+){0,2})", str(wanted))
        if least is None:
            raise self.error(f'package file {path}: engines.node must be like ">=20.19", got {shown(wanted)}')
        return least[1]

    def tool(self, name: str) -> str:
        """Return the path of ``node`` or ``npm``.

        Raises:
            RacerError: It is not on the PATH.
        """
        path = shutil.which(name)
        if path is None:
            raise self.error(
                f"{self.what} needs {name}, which is not on the PATH; install Node.js {self.least_node} or later"
            )
        return path

    def check_node(self) -> None:
        """Make sure that Node.js is there and recent enough.

        Raises:
            RacerError: It is not.
        """
        command = [self.tool("node"), "--version"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=START_TIMEOUT_S, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise self.error(f"cannot run {command[0]}: {error}") from error
        found = re.match(r"v(\d+)\.(\d+)\.(\d+)", done.stdout)
        least = [int(part) for part in self.least_node.split(".")]
        if found is None or [int(part) for part in found.groups()] < least:
            version = done.stdout.strip() or "something else"
            raise self.error(f"{self.what} needs Node.js {self.least_node} or later; {command[0]} is {version}")

    def install(self, say: Callable[[str], None]) -> None:
        """Install what the lock file names, unless that is done; ``say`` is called before, as it takes some seconds.

        Raises:
            RacerError: npm is missing or fails.
        """
        if not self.is_installed:
            say(f"installing {self.what} with npm, once; this takes some seconds ...")
            self.run_npm("ci", "--no-audit", "--no-fund")
            self.installed_mark.touch()

    def build(self) -> None:
        """Run its build.

        Raises:
            RacerError: npm is missing, or it fails; the next installation is then made anew.
        """
        try:
            self.run_npm("run", "build")
        except self.error:
            self.installed_mark.unlink(missing_ok=True)  # the installation may be broken
            raise

    def run_npm(self, *arguments: str) -> None:
        """Run npm in the folder.

        Raises:
            RacerError: It is missing, fails, or does not end.
        """
        command = [self.tool("npm"), *arguments]
        try:
            done = subprocess.run(
                command,
                cwd=self.folder,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                timeout=INSTALL_TIMEOUT_S,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise self.error(f"cannot install {self.what}: {error}") from error
        if done.returncode:
            lines = [line.strip() for line in done.stdout.splitlines() if line.strip()]
            telling = [line for line in lines if "error" in line.lower()][:MAX_LAST_WORDS] or lines[-MAX_LAST_WORDS:]
            raise self.error(
                f"`npm {' '.join(arguments)}` failed in {self.folder}: {' | '.join(telling)[:500] or 'no output'}"
            )

    @contextlib.contextmanager
    def lock(self) -> Iterator[None]:
        """Let one process at a time install; the system releases the lock of a process that is killed.

        Raises:
            RacerError: Another process holds it for too long, or the folder cannot be written to.
        """
        from filelock import FileLock, Timeout  # takes 0.06 s to load, for what happens once

        with contextlib.ExitStack() as stack:
            try:
                stack.enter_context(FileLock(self.folder / LOCK_NAME, timeout=INSTALL_TIMEOUT_S))
            except Timeout as held:
                raise self.error(
                    f"another process has been installing {self.what} for "
                    f"{INSTALL_TIMEOUT_S:g} s; end it, then try again"
                ) from held
            except OSError as error:
                raise self.error(f"cannot install {self.what} in {self.folder}: {error.strerror}") from error
            yield


def is_newer(path: Path, sources: Sequence[Path]) -> bool:
    """Return whether a file is there, and none of its sources has changed since it was written."""
    return path.is_file() and path.stat().st_mtime >= max(source.stat().st_mtime for source in sources)
