"""The command line: every command has help, mistakes are one line with status 2, and 0 means success."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

import risk_env
from risk_env import bots, cli
from risk_env.board.maps import MapError
from risk_env.board.rules import OPTIONS, Rules, presets

ROOT = Path(__file__).parent.parent


@pytest.fixture(autouse=True)
def wide_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give tables enough width in every terminal."""
    monkeypatch.setenv("COLUMNS", "100")


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the program in a separate process, as a person starts it."""
    command = [sys.executable, "-m", "risk_env", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, stdin=subprocess.DEVNULL)


def raises(error: BaseException) -> cli.Command:
    """Return a command that fails with `error`, stored in this module under the name of the error."""
    name = f"fail_with_{type(error).__name__}"

    def fail(argv: Sequence[str]) -> None:
        raise error

    globals()[name] = fail
    return cli.Command(__name__, name, "fails")


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch):
    """Add a command `fail` that fails with the given error."""

    def put(error: BaseException) -> None:
        monkeypatch.setitem(cli.COMMANDS, "fail", raises(error))

    return put


def test_help_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        cli.main(["--help"])
    assert stop.value.code == 0
    shown = capsys.readouterr().out
    for name, command in cli.COMMANDS.items():
        assert name in shown
        assert command.help in shown


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_every_command_has_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        cli.main([name, "--help"])
    assert stop.value.code == 0
    assert f"risk-env {name}" in capsys.readouterr().out


def test_version_names_the_program(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        cli.main(["--version"])
    assert stop.value.code == 0
    assert capsys.readouterr().out == f"risk-env {risk_env.__version__}\n"


def test_no_command_prints_the_help_and_is_no_success(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "presets" in printed.err


def test_presets_lists_all_of_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["presets"]) == 0
    first_words = [line.split()[0] for line in capsys.readouterr().out.splitlines() if line.strip()]
    assert tuple(first_words[1 : 1 + len(presets())]) == presets()


@pytest.mark.parametrize("name", presets())
def test_presets_shows_every_option_of_one(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["presets", name]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()[1:]]
    rules = Rules.preset(name)
    assert rows == [[option, repr(getattr(rules, option))] for option in OPTIONS]


def test_presets_takes_players_and_expert(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["presets", "classic", "--players", "5", "--expert"]) == 0
    values = dict(line.split() for line in capsys.readouterr().out.splitlines())
    assert (values["num_players"], values["max_troops"], values["commander"]) == ("5", "12", "True")


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["presets", "clasic"], ["clasic", "classic"]),
        (["presets", "basic_training", "--players", "6"], ["num_players", "6"]),
        (["presets", "command_room", "--expert"], ["expert"]),
    ],
)
def test_a_wrong_value_is_one_line_and_status_2(
    arguments: list[str], named: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("risk-env: error: ")
    assert printed.err.count("\n") == 1
    assert all(word in printed.err for word in named)


@pytest.mark.parametrize(
    "arguments",
    [
        ["nonsense"],
        ["--nonsense"],
        ["presets", "--nonsense"],
        ["presets", "--players", "many"],
        ["presets", "--expert"],
    ],
)
def test_a_wrong_argument_is_status_2(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        cli.main(arguments)
    assert stop.value.code == 2


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (ValueError("bad\nvalue"), 2),
        (MapError("bad map"), 2),
        (FileNotFoundError("no such file"), 2),
        (ImportError("install the extra"), 1),
        (KeyError("a mistake of ours"), 1),
        (ZeroDivisionError("a mistake of ours"), 1),
    ],
)
def test_errors_are_one_line(
    failing, error: Exception, status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    failing(error)
    assert cli.main(["fail"]) == status
    printed = capsys.readouterr().err
    assert printed.count("\n") == 1
    assert "Traceback" not in printed
    assert str(error).split()[-1] in printed


def test_a_missing_extra_is_named_with_its_command(failing, capsys: pytest.CaptureFixture[str]) -> None:
    failing(ModuleNotFoundError("No module named 'torch'", name="torch"))
    assert cli.main(["fail"]) == 1
    assert "pip install 'risk-env[train]'" in capsys.readouterr().err


def test_debug_prints_the_traceback(failing, capsys: pytest.CaptureFixture[str]) -> None:
    failing(ValueError("bad value"))
    assert cli.main(["--debug", "fail"]) == 2
    assert "Traceback" in capsys.readouterr().err


def test_an_interrupt_is_quiet_and_no_success(failing, capsys: pytest.CaptureFixture[str]) -> None:
    failing(KeyboardInterrupt())
    assert cli.main(["fail"]) == 130
    assert capsys.readouterr().err == ""


def give_status(argv: Sequence[str]) -> int:
    """Return the first argument as the status of the command."""
    return int(argv[0])


@pytest.mark.parametrize("status", [0, 3])
def test_a_commands_own_status_is_kept(status: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(cli.COMMANDS, "status", cli.Command(__name__, "give_status", "ends"))
    assert cli.main(["status", str(status)]) == status


def test_the_program_prints_its_help() -> None:
    done = run("--help")
    assert done.returncode == 0
    assert done.stdout.startswith("usage: risk-env")


def test_the_program_ends_with_the_status_of_a_mistake() -> None:
    done = run("presets", "clasic")
    assert done.returncode == 2
    assert done.stdout == ""
    assert "Traceback" not in done.stderr


def test_a_reader_that_stops_early_is_no_error() -> None:
    command = [sys.executable, "-m", "risk_env", "presets", "classic"]
    program = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    program.stdout.close()
    assert program.stderr.read() == ""
    program.stderr.close()
    assert program.wait() == 1


def test_warmup_says_how_long_it_took(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["warmup"]) == 0
    assert " s)" in capsys.readouterr().out


@pytest.mark.long
def test_warmup_compiles_the_bots_too_each_on_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["warmup", "--bots", "--workers", "2"]) == 0
    told = capsys.readouterr().out
    assert all(f"  {part} " in told for part in ("games", "batches", "envs", *bots.names()))
    assert "the first time" in told and "The code of the rules and the agents is compiled" in told
    with pytest.raises(SystemExit):
        cli.main(["warmup", "--workers", "0"])
    assert "--workers=0: must be at least 1" in capsys.readouterr().err
