"""From a target to a backend: what is found, and the one line that tells what is wrong."""

import re
import subprocess
import sys
from importlib.metadata import version

import pytest

import attnspec
from attnspec.errors import Unavailable
from attnspec.loading import load
from attnspec.targets import backend_names, expanded
from attnspec.verdict import about

GOOD = 'ARRAYS = "numpy"\n\ndef attention(query, key, value, *, scale=None):\n    return value\n'


@pytest.fixture
def write(tmp_path):
    """Write a stranger's file."""

    def write(text, name="stranger.py"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    return write


def message(target, **options):
    with pytest.raises(ValueError, match=r"\S") as caught:
        load(target, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_importing_attnspec_loads_no_array_library():
    code = "import sys, attnspec; print([m for m in ('numpy', 'jax', 'torch', 'hypothesis') if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_loading_a_numpy_backend_loads_no_framework():
    code = (
        "import sys, attnspec; attnspec.load('numpy_naive'); print([m for m in ('jax', 'torch') if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_public_names():
    assert attnspec.load is load
    assert attnspec.__version__
    with pytest.raises(AttributeError, match=r"attnspec.*nothing_like_it"):
        attnspec.nothing_like_it  # noqa: B018


def test_in_tree_backends_are_the_files_of_impls():
    assert {"numpy_naive", "numpy_blockwise"} <= set(backend_names())
    backend = load("numpy_naive")
    assert backend.name == "numpy_naive"
    assert backend.device == "cpu"


def test_a_file_a_module_and_a_dotted_name(write, monkeypatch):
    path = write(GOOD, "some_package/stranger.py")
    monkeypatch.chdir(path.parents[1])
    for target in (path, str(path), "some_package.stranger"):
        assert load(target).name == "stranger"
    module = sys.modules.pop("some_package.stranger")
    assert load(module).name == "stranger"


def test_a_file_imports_what_lies_beside_it_and_leaves_the_path_clean(write):
    write("FACTOR = 2\n", "beside_the_stranger.py")
    path = write("import beside_the_stranger\n" + GOOD)
    before = list(sys.path)
    assert load(path).function(None, None, 3) == 3
    assert sys.path == before
    del sys.modules["beside_the_stranger"]


def test_two_files_of_one_name_are_two_backends(write):
    first, second = write(GOOD, "one/same.py"), write(GOOD.replace("return value", "return query"), "two/same.py")
    assert load(first).function(1, 2, 3) == 3
    assert load(second).function(1, 2, 3) == 1


def test_two_files_have_siblings_of_one_name(write):
    targets = []
    for folder, factor in (("one", 2), ("two", 3)):
        write(f"FACTOR = {factor}\n", f"{folder}/factor_beside.py")
        text = "from factor_beside import FACTOR\n" + GOOD.replace("return value", "return FACTOR * value")
        targets.append(write(text, f"{folder}/{folder}.py"))
    assert [load(target).function(None, None, 1) for target in targets] == [2, 3]


def test_a_binding_of_its_own(write):
    write("from attnspec.impls.arrays.numpy import *\n", "own_binding.py")
    path = write(GOOD.replace('"numpy"', '"own_binding"'))
    assert load(path).arrays.__name__ == "own_binding"
    del sys.modules["own_binding"]


BROKEN = {
    "syntax": ("def attention(:\n", "came SyntaxError: .*, at line 1$"),
    "raises": ("x = 1\ny = [][1]\n", "came IndexError: list index out of range, at line 2$"),
    "value error": ("\nint('x')\n", "came ValueError: invalid literal.*, at line 2$"),
    "exits": ("import sys\nsys.exit('bye')\n", "came SystemExit: bye, at line 2$"),
    "several lines": (
        "raise RuntimeError('[red]first[/red]\\nsecond')\n",
        r"RuntimeError: \[red\]first\[/red\], at line 1$",
    ),
    "unknown import": (
        "import no_such_module_anywhere\n",
        "ModuleNotFoundError: No module named 'no_such_module_anywhere'",
    ),
    "no attention": ('ARRAYS = "numpy"\n', "wanted a function `attention`, came a module without one$"),
    "no function": ("attention = 3\n", "attention: wanted a function, came int$"),
    "no ARRAYS": (GOOD.replace("ARRAYS", "LIBRARY"), "ARRAYS: wanted .*, came None$"),
    "unknown ARRAYS": (GOOD.replace("numpy", "nunpy"), "ARRAYS: wanted one of jax, mlx, numpy, .* came 'nunpy'$"),
    "no binding": (GOOD.replace("numpy", "json"), "ARRAYS: wanted a module with .*asarray.*, came 'json' without$"),
    "LACKS": (GOOD + "LACKS = {'gqq'}\n", "LACKS: wanted a name .*, came 'gqq'; did you mean 'gqa'.$"),
    "LACKS joined": (
        GOOD + "LACKS = {'mask+casual'}\n",
        "LACKS: wanted a name .*, came 'casual'; did you mean 'is_causal'.$",
    ),
    "LACKS type": (GOOD + "LACKS = 'gqa'\n", "LACKS: wanted a set of feature names, came 'gqa'$"),
    "CONVENTIONS": (
        GOOD + "CONVENTIONS = {'masks': 'attend'}\n",
        "CONVENTIONS: wanted .*, came 'masks'; did .* 'mask'.$",
    ),
    "convention value": (
        GOOD + "CONVENTIONS = {'mask': 'ignore'}\n",
        "CONVENTIONS\\['mask'\\]: wanted .*, came 'ignore'$",
    ),
    "CONVENTIONS type": (GOOD + "CONVENTIONS = ['mask']\n", "CONVENTIONS: wanted a dict .*, came \\['mask'\\]$"),
    "DTYPES": (GOOD + "DTYPES = ('float8',)\n", "DTYPES: wanted a name .*, came 'float8'; did you mean 'float64'.$"),
    "no DTYPES": (GOOD + "DTYPES = ()\n", "DTYPES: wanted at least one dtype, came \\(\\)$"),
    "DEVICES": (GOOD + "DEVICES = 3\n", "DEVICES: wanted a collection of names, came 3$"),
    "KNOWN_ISSUES": (
        GOOD + "KNOWN_ISSUES = {'softmax.rows_sum_to_on': 'why'}\n",
        "came 'softmax.rows_sum_to_on'; did you mean 'softmax.rows_sum_to_one'?",
    ),
    "issue of a device": (
        GOOD + "KNOWN_ISSUES = {'cpu+softmax.rows_sum_to_on': 'why'}\n",
        "KNOWN_ISSUES: wanted ids of invariants, came 'softmax.rows_sum_to_on'; did you mean",
    ),
    "KERNEL": (GOOD + "KERNEL = 3\n", "KERNEL: wanted the name of a kernel, came 3$"),
    "KERNEL unproven": (
        GOOD + "KERNEL = 'fast'\n",
        "kernels: wanted a function that tells what ran, came NoneType$",
    ),
    "kernels": (GOOD + "kernels = {'fast'}\n", "kernels: wanted a function that tells what ran, came set$"),
    "issue type": (GOOD + "KNOWN_ISSUES = ['x']\n", "KNOWN_ISSUES: wanted a dict .*, came \\['x'\\]$"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_what_is_wrong_with_a_file_is_one_line(write, case):
    text, wanted = BROKEN[case]
    path = write(text)
    told = message(path)
    assert told.startswith(f"{path}: ")
    assert re.search(wanted, told), told


def test_a_framework_that_is_not_installed_is_unavailable(write, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)  # what Python makes of it: ModuleNotFoundError
    with pytest.raises(Unavailable, match=r"wanted the package torch.*pip install 'attnspec\[torch\]'"):
        load(write("import torch\n" + GOOD))


def test_a_device_that_is_not_here():
    with pytest.raises(Unavailable, match="device: wanted 'cuda', came a machine where numpy has cpu"):
        load("numpy_naive", device="cuda")


def test_devices_that_are_declared(write):
    with pytest.raises(Unavailable, match="DEVICES: wanted tpu, came a machine where numpy has cpu"):
        load(write(GOOD + "DEVICES = ('tpu',)\n"))
    assert "device: wanted one of those declared, tpu, came 'cpu'" in message(
        write(GOOD + "DEVICES = ('tpu',)\n"), device="cpu"
    )


def test_dtypes_narrow_what_is_declared(write):
    path = write(GOOD + "DTYPES = ('float32', 'float64')\n")
    assert load(path, dtypes=["float64"]).declaration.dtypes == ("float64",)
    told = message(path, dtypes=["float16"])
    assert "dtype: wanted one of those declared, float" in told
    assert told.endswith("came 'float16'")


@pytest.mark.parametrize(
    ("target", "wanted"),
    [
        ("nowhere/to/be/found.py", "wanted a Python file, came a path that does not exist"),
        ("numpy_niave", "did you mean 'numpy_naive'?"),
        ("no.such.module", "wanted a backend, a .py file or a dotted module"),
        ("json.nothing", "ModuleNotFoundError: No module named 'json.nothing'"),
        ("json", "wanted a function `attention`, came a module without one"),
        ("", "wanted a backend"),
        ("a b", "wanted a backend"),
    ],
)
def test_a_target_that_is_none(target, wanted):
    assert wanted in message(target)


def test_a_folder_and_another_kind_of_file(tmp_path):
    assert "wanted a Python file (.py), came a folder" in message(tmp_path)
    (tmp_path / "notes.txt").touch()
    assert "wanted a Python file (.py), came another kind of file" in message(tmp_path / "notes.txt")


def test_a_pattern_stands_for_the_backends_it_matches():
    assert expanded(["my.py", "numpy_*", "numpy_naive"]) == ("my.py", "numpy_blockwise", "numpy_naive", "numpy_naive")
    with pytest.raises(ValueError, match=r"nothing_\*: wanted a pattern .* matches, .*; see attnspec list"):
        expanded(["nothing_*"])


def test_packages_are_names_of_distributions(write):
    backend = load(write(GOOD + '\nPACKAGES = ("hypothesis",)\n'))
    assert about(backend)["packages"] == {"hypothesis": version("hypothesis")}
