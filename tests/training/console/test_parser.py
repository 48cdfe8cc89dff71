"""Arguments and exit codes that all scripts share."""

import argparse
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from racer_env.errors import TrackError
from training import benchmark, evaluate, export_onnx, make_tracks, report, train_ppo, train_sac, watch
from training.console.interruption import Interrupted
from training.console.parser import positive_number, run_script, whole_number


@pytest.mark.parametrize(("text", "number"), [("3", 3), ("2_000_000", 2_000_000), ("2e6", 2_000_000), ("1,000", 1000)])
def test_whole_numbers(text: str, number: int) -> None:
    """Underscores, commas and exponents are read."""
    assert whole_number(1)(text) == number


@pytest.mark.parametrize("text", ["0", "-1", "1.5", "nan", "inf", "many", ""])
def test_other_numbers_are_refused(text: str) -> None:
    """What is no whole number from 1 is an argument error."""
    with pytest.raises(argparse.ArgumentTypeError, match="expected"):
        whole_number(1)(text)


@pytest.mark.parametrize("text", ["0", "-2", "nan", "inf", "fast"])
def test_positive_numbers(text: str) -> None:
    """Only finite numbers above 0 pass."""
    with pytest.raises(argparse.ArgumentTypeError, match="above 0"):
        positive_number(text)


def test_an_error_is_one_line_and_exit_code_2(capsys: pytest.CaptureFixture[str]) -> None:
    """The user sees no traceback."""

    def body(arguments: argparse.Namespace) -> int:
        raise TrackError("no such track")

    assert run_script(body, argparse.Namespace()) == 2
    assert capsys.readouterr().err == "error: no such track\n"


@pytest.mark.parametrize("main", [train_ppo.main, train_sac.main, evaluate.main, benchmark.main, export_onnx.main])
def test_help_and_wrong_arguments(main: object, capsys: pytest.CaptureFixture[str]) -> None:
    """--help exits with 0, an unknown flag with 2 and one line."""
    for arguments, code in ((["--help"], 0), (["--no-such-flag"], 2)):
        with pytest.raises(SystemExit) as stop:
            main(arguments)  # type: ignore[operator]
        assert stop.value.code == code
    captured = capsys.readouterr()
    assert "usage: python -m training." in captured.out
    assert captured.err.startswith("error: ")
    assert captured.err.count("\n") == 1


@pytest.mark.parametrize(
    ("main", "arguments", "message"),
    [
        (train_ppo.main, ["--track-id", "nowhere"], "no track 'nowhere'"),
        (train_ppo.main, ["--config", "missing.json"], "configuration file not found: missing.json"),
        (train_ppo.main, ["--resume", "missing"], "no model or run missing"),
        (
            train_ppo.main,
            ["--track-id", "all", "--num-envs", "2"],
            "--num-envs must be at least the number of tracks, 3",
        ),
        (evaluate.main, ["--model", "missing"], "no model or run missing"),
        (train_sac.main, ["--resume", "missing"], "no model or run missing"),
        (train_sac.main, ["--set", "clip_range=1"], "unknown key 'clip_range'"),
        (evaluate.main, ["--model", "missing.onnx"], "no exported driver missing.onnx"),
        (benchmark.main, ["--tracks-dir", "missing"], "tracks folder not found"),
    ],
)
def test_what_users_get_wrong(
    main: object, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str], tmp_path: object
) -> None:
    """Each mistake is one line on stderr and exit code 2."""
    if main in (train_ppo.main, train_sac.main):
        arguments = [*arguments, "--models-dir", str(tmp_path), "--logs-dir", str(tmp_path)]
    assert main(arguments) == 2  # type: ignore[operator]
    error = capsys.readouterr().err
    assert message in error
    assert error.startswith("error: ")
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "is_taken"),
    [
        (["--track-seed", "4"], False),
        (["--track-seed", "4", "--track-id", "track-01"], False),
        (["--track-seed", "4", "--track-id", "procedural-7-1"], False),
        (["--track-seed", "4", "--track-id", "procedural:2"], True),
        (["--track-seed", "4", "--track-id", "track-01", "procedural:2"], True),
        (["--track-seed", "0"], True),
    ],
)
def test_a_seed_of_tracks_is_of_sets_that_are_named(
    arguments: list[str], is_taken: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    """Rather than being passed over."""
    if is_taken:
        evaluate.make_parser().parse_args(["--model", "scripted", *arguments])
        return
    with pytest.raises(SystemExit) as ended:
        evaluate.make_parser().parse_args(["--model", "scripted", *arguments])
    assert ended.value.code == 2
    assert "--track-seed is of sets of generated tracks" in capsys.readouterr().err


def test_missing_package_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    """Wherever it is first imported."""

    def body(arguments: argparse.Namespace) -> int:
        raise ModuleNotFoundError("No module named 'jinja2'", name="jinja2")

    assert run_script(body, argparse.Namespace()) == 2
    assert capsys.readouterr().err == "error: the package jinja2 is missing; `python -m pip install jinja2`\n"


@pytest.mark.parametrize(
    ("main", "arguments", "module"),
    [
        (evaluate.main, ["--model", "scripted", "--video", "lap.mp4"], "imageio_ffmpeg"),
        (evaluate.main, ["--model", "scripted", "--plot", "plots"], "matplotlib"),
        (export_onnx.main, ["--model", "missing"], "onnxscript"),
        (make_tracks.main, [], "pygame"),
        (report.main, ["missing"], "jinja2"),
        (train_ppo.main, [], "tensorboard"),
        (watch.main, ["--model", "scripted"], "pygame"),
    ],
)
def test_missing_package_is_found_before_the_work(
    main: Callable[[list[str]], int],
    arguments: list[str],
    module: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A line with what to install is all that a script prints then."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, module, None)  # type: ignore[arg-type]
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert not captured.out
    assert " needs the package " in captured.err
    assert captured.err.count("\n") == 1


def test_an_interruption_is_one_wherever_it_arrives(capsys: pytest.CaptureFixture[str]) -> None:
    """Compiled code may return as if nothing had been, and Python makes a SystemError of that."""

    def body(interruption: BaseException) -> int:
        try:
            raise SystemError("returned a result with an exception set") from interruption
        except SystemError as first:
            raise SystemError("returned a result with an exception set") from first

    assert run_script(body, KeyboardInterrupt()) == 130
    assert run_script(body, Interrupted(signal.SIGTERM)) == 143
    assert capsys.readouterr().err == "interrupted\ninterrupted\n"
    with pytest.raises(SystemError):
        run_script(body, ValueError())


def test_too_little_memory_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 2, as for everything that cannot be done here."""

    def body(arguments: argparse.Namespace) -> int:
        return len(bytearray(2**62))

    assert run_script(body, argparse.Namespace()) == 2
    assert capsys.readouterr().err.startswith("error: there is not enough memory")


@pytest.mark.parametrize(
    ("given", "meant"),
    [("--total-timesteps", "--timesteps"), ("--name=x", "--run-name"), ("--models_dir", "--models-dir")],
)
def test_an_unknown_option_names_the_nearest_one(given: str, meant: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A user who has other tools' words in mind finds the option without reading all of the help."""
    with pytest.raises(SystemExit):
        train_ppo.main([given])
    assert f"did you mean {meant}?" in capsys.readouterr().err


def test_an_unknown_option_that_is_like_none_names_none(capsys: pytest.CaptureFixture[str]) -> None:
    """A guess that helps nobody is left out."""
    with pytest.raises(SystemExit):
        train_ppo.main(["--zzzzzz"])
    assert "did you mean" not in capsys.readouterr().err
