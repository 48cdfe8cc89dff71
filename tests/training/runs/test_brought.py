"""Code of the user's: recorded with a run, remembered by its models, and carried by a run that goes on."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from racer_env.errors import ConfigError, ModelError
from tests.runs import data_of, folders, ppo, rewritten
from training.algorithms.registry import algorithm_named
from training.checkpoints.data import read_model_data
from training.checkpoints.writing import digest_of
from training.runs.options import make_options, make_parser
from training.runs.plan import Plan, make_plan

pytestmark = pytest.mark.timeout(60)
SOURCE = """
from stable_baselines3.common.vec_env import VecEnvWrapper

def own(observations, infos, actions, rewards):
    return 2 * rewards

class Same(VecEnvWrapper):
    def reset(self):
        return self.venv.reset()

    def step_wait(self):
        return self.venv.step_wait()
"""


@pytest.fixture(scope="module")
def trained_own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run ``own`` with a reward and a wrapper; to be read only."""
    folder = tmp_path_factory.mktemp("own")
    (folder / "mine.py").write_text(SOURCE, encoding="utf-8")
    code = ["--reward", f"{folder / 'mine.py'}:own", "--wrapper", f"{folder / 'mine.py'}:Same"]
    assert ppo(folder, "--run-name", "own", "--timesteps", "4096", *code) == 0
    return folder


@pytest.fixture
def own(trained_own: Path) -> Any:
    """That folder, in which the file is put back afterwards."""
    yield trained_own
    (trained_own / "mine.py").write_text(SOURCE, encoding="utf-8")


def plan_of(folder: Path, *arguments: str) -> Plan:
    """Return the plan for a command line."""
    algorithm = algorithm_named("PPO")
    parsed = make_parser(algorithm).parse_args([*arguments, *folders(folder)])
    return make_plan(algorithm, make_options(algorithm, parsed), None)


def test_it_is_recorded_and_remembered(own: Path) -> None:
    """Name, file and digest."""
    file = own / "mine.py"
    record = json.loads((own / "logs" / "own" / "config.json").read_text(encoding="utf-8"))
    for kind, name in (("reward", "own"), ("wrapper", "Same")):
        expected = {"name": f"{file}:{name}", "file": str(file), "digest": digest_of(file)}
        assert record[kind] == expected == data_of(own, "own_final").attributes[kind]


def test_it_is_carried(own: Path) -> None:
    """And told; a new run with the same weights has the game's own reward."""
    plan = plan_of(own, "--resume", "own")
    assert {kind: code.as_document() for kind, code in plan.run.brought.items() if code} == {
        kind: data_of(own, "own_final").attributes[kind] for kind in ("reward", "wrapper")
    }
    assert f"the reward is {own / 'mine.py'}:own, as before" in plan.sentences
    begun = plan_of(own, "--initialize-from", "own")
    assert begun.run.brought == {"reward": None, "wrapper": None}
    assert any(f"the reward is the game's own; {own}" in sentence for sentence in begun.sentences)


@pytest.mark.parametrize(
    ("spoil", "why", "out"),
    [
        (
            lambda file: file.write_text(f"{SOURCE}\n", encoding="utf-8"),
            r"mine.py has changed since \(SHA-256 ",
            "name it with --reward .*mine.py:own",
        ),
        (
            lambda file: file.unlink(),
            "there is no file .*mine.py",
            "put the file back, name where it is now with --reward MODULE_OR_FILE:own",
        ),
    ],
)
def test_a_file_that_is_gone_or_has_changed_is_refused(
    own: Path, spoil: Callable[[Path], Any], why: str, out: str
) -> None:
    """With the ways out, which work."""
    spoil(own / "mine.py")
    out = f"{out}, or go on without it by --no-reward"
    with pytest.raises(
        ConfigError, match=f"own_final.zip was trained with the reward .*mine.py:own, and .*{why}.*; {out}"
    ):
        plan_of(own, "--resume", "own")
    plan = plan_of(own, "--resume", "own", "--no-reward", "--no-wrapper")
    assert plan.run.brought == {"reward": None, "wrapper": None}
    assert f"the reward is the game's own from here on; it was {own / 'mine.py'}:own" in plan.sentences


def test_what_is_named_again_is_taken_as_it_is_now(own: Path) -> None:
    """With both digests; another one with both names."""
    file = own / "mine.py"
    before = digest_of(file)[:8]
    file.write_text(f"{SOURCE}\nother = own\n", encoding="utf-8")
    now = digest_of(file)[:8]
    told = plan_of(own, "--resume", "own", "--no-wrapper", "--reward", f"{file}:own").sentences
    assert f"the reward is {file}:own as it is now ({now}) from here on; it was {file}:own as it was ({before})" in told
    told = plan_of(own, "--resume", "own", "--no-wrapper", "--reward", f"{file}:other").sentences
    assert f"the reward is {file}:other from here on; it was {file}:own" in told


def test_a_model_alone_makes_nothing_run(own: Path, tmp_path: Path) -> None:
    """Without a record of its run that names the same, even if the file is as the model says."""
    sprung = tmp_path / "sprung"
    trap = tmp_path / "trap.py"
    trap.write_text(f"open({str(sprung)!r}, 'w').close()\ndef own(o, i, a, r): return r\n", encoding="utf-8")
    shutil.copytree(own, tmp_path / "copy")
    path = tmp_path / "copy" / "models" / "own_final.zip"
    document = {"name": f"{trap}:own", "file": str(trap), "digest": digest_of(trap)}
    rewritten(path, path.with_suffix(".new"), lambda data: data.update(reward=document)).replace(path)
    with pytest.raises(ConfigError, match="trap.py:own, of which no record of its run in .* tells; name it with"):
        plan_of(tmp_path / "copy", "--resume", "own")
    assert not sprung.exists()
    plan_of(tmp_path / "copy", "--resume", "own", "--reward", f"{trap}:own")
    assert sprung.exists()


@pytest.mark.parametrize("value", ["mine.py:own", {"name": "x"}, {"name": "x", "file": "y", "digest": 3}])
def test_an_odd_attribute_is_named(own: Path, tmp_path: Path, value: Any) -> None:
    """In one line."""
    path = rewritten(own / "models" / "own_final.zip", tmp_path / "o_final.zip", lambda data: data.update(reward=value))
    with pytest.raises(ModelError, match="its reward must be an object of texts name, file and digest or null"):
        read_model_data(path)


def test_modules_are_found_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the folder that a script runs in."""
    (tmp_path / "rewards_of_a_test.py").write_text(SOURCE, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    run = plan_of(tmp_path, "--reward", "rewards_of_a_test:own").run
    assert run.reward is not None
    assert run.reward.file == tmp_path / "rewards_of_a_test.py"
