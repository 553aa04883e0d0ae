"""The wheel holds what the tree holds: a sub-package that pyproject.toml forgets is a red test."""

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
ROOMS = {"attnspec": "attnspec"} | {
    folder: package.replace(".", "/") for package, folder in PROJECT["tool"]["setuptools"]["package-dir"].items()
}
SHIPPED = {".py", ".json", ".typed", ".html"}


def shipped_files(tree: Path) -> set[str]:
    """The wheel's paths of the files that the rooms of ``tree`` should ship."""
    return {
        f"{package}/{path.relative_to(tree / room).as_posix()}"
        for room, package in ROOMS.items()
        for path in (tree / room).rglob("*")
        if path.suffix in SHIPPED
    }


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A copy of the tree without what earlier builds left in it, which could hide a missing file."""
    copy = tmp_path_factory.mktemp("build") / "tree"
    leftovers = shutil.ignore_patterns("__pycache__", ".*")
    for room in {room.partition("/")[0] for room in ROOMS} | {"tests"}:
        shutil.copytree(ROOT / room, copy / room, ignore=leftovers)
    for file in filter(Path.is_file, ROOT.iterdir()):
        shutil.copy(file, copy)
    return copy


@pytest.fixture(scope="module")
def wheel_names(tree):
    """The files of the wheel built from the sdist, its metadata left out."""
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", tree.parent, tree]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    (wheel,) = tree.parent.glob("*.whl")
    names = ZipFile(wheel).namelist()
    return {name for name in names if ".dist-info/" not in name}


def test_wheel_holds_the_files_of_the_rooms(tree, wheel_names):
    assert wheel_names == shipped_files(tree)


@pytest.mark.parametrize("package", ROOMS.values())
def test_each_room_is_marked_as_typed(package, wheel_names):
    assert f"{package}/py.typed" in wheel_names


def test_tests_are_in_the_sdist_only(wheel_names):
    assert not [name for name in wheel_names if "test_packaging" in name]


def test_the_tests_of_one_run_stay_in_one_process(request):
    if hasattr(request.config, "workerinput"):
        assert request.node.nodeid.endswith("@test_packaging")
