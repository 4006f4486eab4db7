"""Structural checks: allowed imports, modules loaded by `import risk_env`, and the size of functions.

import-linter (`lint-imports`, pyproject.toml) checks the layers; this file checks what it cannot say.
"""

import ast
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FOLDERS = ("risk_env", "agents", "training", "benchmarks")
PACKED = {
    "risk_env": "risk_env",
    "risk_agents": "agents/risk_agents",
    "risk_training": "training/risk_training",
}
LONGEST_FUNCTION = 40  # lines, decorators and docstring included
MOST_PARAMETERS, MOST_OF_A_KERNEL = 10, 12  # `self` and `*args` included; `**options` are not counted

Function = ast.FunctionDef | ast.AsyncFunctionDef
# What the files of a folder, or one file, may import besides the standard library.
MAY_IMPORT = {
    "risk_env/compiler": ("numpy", "numba", "llvmlite", "risk_env.compiler"),
    "risk_env/core": ("numpy", "risk_env.compiler", "risk_env.core"),
    "risk_env/engine": ("numpy", "risk_env.compiler", "risk_env.core", "risk_env.engine"),
    "risk_env/bounded_io.py": ("risk_env.messages",),
    "risk_env/messages.py": (),
    "risk_env/splitmix64.py": (),
    "risk_env/board": (
        "numpy",
        "risk_env.core",
        "risk_env.bounded_io",
        "risk_env.messages",
        "risk_env.splitmix64",
        "risk_env.board",
    ),
}
HEAVY = {
    *("torch", "stable_baselines3", "sb3_contrib", "tensorboard", "ray", "matplotlib", "choix", "pygame"),
    # Numba loads a bare scipy
    *("scipy.linalg", "scipy.optimize", "scipy.sparse", "scipy.special", "scipy.stats"),
    *("risk_agents", "risk_training", "benchmarks", "hypothesis", "pytest"),
}


def sources(place: str) -> list[Path]:
    """Return the Python files of a folder, or the one file."""
    path = ROOT / place
    return [path] if path.suffix == ".py" else sorted(path.rglob("*.py"))


def imports(source: str, package: str) -> Iterator[tuple[str, ...]]:
    """Yield each import of a source, lazy ones too, as its possible names: `from a import b` is a and a.b."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from ((alias.name,) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = absolute(node, package)
            yield from ((base, f"{base}.{alias.name}") for alias in node.names)


def absolute(node: ast.ImportFrom, package: str) -> str:
    """Return the full module name of a `from ... import`, which may be relative to `package`."""
    parents = package.split(".")
    base = parents[: len(parents) - node.level + 1] if node.level else []
    return ".".join([*base, *([node.module] if node.module else [])])


def is_in(name: str, packages: tuple[str, ...]) -> bool:
    """Return True if a module is one of `packages`, or inside one of them."""
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def too_high(source: str, package: str, allowed: tuple[str, ...]) -> list[str]:
    """Return the imports of a source that are neither allowed nor of the standard library."""
    allowed += tuple(sys.stdlib_module_names)
    return [
        names[-1] for names in imports(source, package) if not any(is_in(name, allowed) for name in names)
    ]


def package_of(path: Path) -> str:
    """Return the package of a file, by its folder."""
    return ".".join(path.relative_to(ROOT).parent.parts)


@pytest.mark.parametrize("place", MAY_IMPORT)
def test_a_floor_imports_only_what_is_below_it(place: str) -> None:
    wrong = {
        path.name: too_high(path.read_text(), package_of(path), MAY_IMPORT[place]) for path in sources(place)
    }
    assert wrong, f"no Python file in {place}"
    assert not {name: found for name, found in wrong.items() if found}


def modules() -> dict[str, Path]:
    """Return the files of all modules by full name. The file of a package is its `__init__.py`."""
    places = {**PACKED, "benchmarks": "benchmarks"}
    return {
        ".".join([package, *path.relative_to(ROOT / place).with_suffix("").parts]).removesuffix(
            ".__init__"
        ): path
        for package, place in places.items()
        for path in (ROOT / place).rglob("*.py")
    }


def test_no_import_circle() -> None:
    known = modules()
    graph: dict[str, set[str]] = {name: set() for name in known}
    for name, path in known.items():
        package = name if path.name == "__init__.py" else name.rpartition(".")[0]
        for names in imports(path.read_text(), package):
            graph[name] |= set([found for found in names if found in known][-1:]) - {name}
    TopologicalSorter(graph).prepare()  # CycleError names a circle


@pytest.mark.parametrize(
    "start", ["import risk_env", "import risk_env.cli, risk_env.board.rules, risk_env.board.maps"]
)
def test_importing_risk_env_loads_nothing_heavy(start: str) -> None:
    assert HEAVY & loaded_by(start) == set()


def test_importing_a_command_loads_no_bot() -> None:
    found = loaded_by("import risk_agents.tournament.cli, risk_agents.replay")
    assert not [name for name in found if name.startswith(("risk_agents.scripted.", "risk_agents.search."))]


def loaded_by(start: str) -> set[str]:
    """Return the names of all modules that are loaded in a new process after this statement."""
    script = f"{start}\nimport sys\nprint(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


def test_few_contracts_describe_the_imports() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    assert 1 <= len(contracts) <= 8


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_function_is_long(folder: str) -> None:
    assert [
        f"{place}: {length(node)} lines"
        for place, node in functions(folder)
        if length(node) > LONGEST_FUNCTION
    ] == []


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_function_has_many_parameters(folder: str) -> None:
    many = [
        f"{place}: {parameters(node)} parameters"
        for place, node in functions(folder)
        if parameters(node) > (MOST_OF_A_KERNEL if is_kernel(node) else MOST_PARAMETERS)
    ]
    assert many == []


def functions(folder: str) -> Iterator[tuple[str, Function]]:
    """Yield all functions and methods of a folder, each with place and name."""
    for path in sources(folder):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, Function):
                yield f"{path.relative_to(ROOT)}:{node.lineno} {node.name}", node


def length(function: Function) -> int:
    """Return the number of lines of a function, including decorators."""
    first = min(node.lineno for node in (function, *function.decorator_list))
    return (function.end_lineno or first) - first + 1


def parameters(function: Function) -> int:
    """Return the number of parameters of a function; `*args` counts as one, `**options` as none."""
    names = function.args
    return len(names.posonlyargs + names.args + names.kwonlyargs) + bool(names.vararg)


def test_kernels_of_the_core_make_no_arrays() -> None:
    """Kernels have no reference counts (`compiler.pipeline`), so memory of a new array would leak."""
    makers = {"zeros", "empty", "ones", "full", "array", "arange", "copy", "astype", "concatenate"}
    found = [
        f"{path.name}: {function.name} calls {ast.unparse(call.func)}"
        for path in [*sources("risk_env/core"), *sources("risk_env/engine")]
        for function in ast.walk(ast.parse(path.read_text()))
        if isinstance(function, Function) and is_kernel(function)
        for call in ast.walk(function)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in makers
    ]
    assert found == []


def is_kernel(function: Function) -> bool:
    """Return True if a function is compiled."""
    return any(
        ast.unparse(decorator).endswith(("kernel", "inlined", "entry_point"))
        for decorator in function.decorator_list
    )


@pytest.mark.slow
def test_the_wheel_holds_every_file_of_the_packages(tmp_path: Path) -> None:
    pytest.importorskip("setuptools")
    copy = copy_of_what_is_packed(tmp_path / "source")
    build = "import setuptools.build_meta as b, sys; b.build_wheel(sys.argv[1])"
    done = subprocess.run([sys.executable, "-c", build, tmp_path], cwd=copy, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (wheel,) = tmp_path.glob("*.whl")
    assert packed_files(copy) <= set(zipfile.ZipFile(wheel).namelist())


def copy_of_what_is_packed(folder: Path) -> Path:
    """Copy the packages and the inputs of packaging, so that packaging leaves no traces in the tree."""
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        copy_file(ROOT / name, folder / name)
    for place in PACKED.values():
        for path in (ROOT / place).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                copy_file(path, folder / path.relative_to(ROOT))
    return folder


def copy_file(source: Path, target: Path) -> None:
    """Copy a file, and create its folder."""
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(source.read_bytes())


def packed_files(folder: Path) -> set[str]:
    """Return every file of the packages in `folder`, with its path in a wheel."""
    return {
        (Path(package) / path.relative_to(folder / place)).as_posix()
        for package, place in PACKED.items()
        for path in (folder / place).rglob("*")
        if path.is_file()
    }
