"""What a script looks at, as lines of Python: each form's function ``main``, which gives the exit code."""

import numpy as np

from attnspec.bug_report.calls import Written, native
from attnspec.bug_report.failing import Failure
from attnspec.bug_report.forms import Agree, Form, Gives, HasDtype, HasShapes, Refuses, Works
from attnspec.bug_report.literals import Literals, upwards
from attnspec.bug_report.recorder import Call
from attnspec.specs.backend import LOWEST, Backend
from attnspec.specs.malformed import UNCLEAN
from attnspec.specs.problem import Array

HELPERS = ("differs", "main", "function", "returned", "array")

DIFFERS = '''def differs(came, wanted, tolerance, what):
    """Tell where ``came`` is further from ``wanted`` than the tolerance; NaN is only like NaN."""
    if came.shape != wanted.shape:
        print(f"{what}: wanted shape {wanted.shape}, came {came.shape}")
        return True
    came, wanted = np.asarray(came, np.float64), np.asarray(wanted, np.float64)
    with np.errstate(all="ignore"):
        alike = (np.abs(came - wanted) <= tolerance) | (came == wanted) | (np.isnan(came) & np.isnan(wanted))
    for index in np.argwhere(~(alike | np.isposinf(np.broadcast_to(tolerance, wanted.shape))))[:5]:
        place = tuple(index.tolist())
        print(f"{what} at {list(place)}: wanted {wanted[place]:.9g}, came {came[place]:.9g}")
    return not (alike | np.isposinf(tolerance)).all()


'''


def calls_of(form: Form) -> list[Call]:
    """The calls that a form looks at, in the order in which they are made."""
    return [form.other, form.call] if isinstance(form, Agree) else [form.call]


def check_lines(failure: Failure, calls: list[Written], literals: Literals) -> list[str]:
    """The lines of ``main``, and of what it needs."""
    form, backend = failure.form, failure.backend
    match form:
        case Gives():
            lines = _gives(backend, form, calls[0], literals)
        case Agree():
            lines = _agree(backend, form, calls, literals)
        case HasDtype():
            lines = _has_dtype(form, calls[0])
        case HasShapes():
            lines = _has_shapes(backend, form, calls[0])
        case Refuses():
            lines = _refuses(backend, form, calls[0], literals)
        case Works():
            lines = _works(calls[0])
    if isinstance(form, Works) and not form.ends:
        return _apart(calls[0], failure)
    tail = ["", "", 'if __name__ == "__main__":', "    sys.exit(main())"]
    return [*(DIFFERS.splitlines() if any("differs(" in line for line in lines) else []), *lines, *tail]


def _main(*body: str) -> list[str]:
    indented = [f"    {line}" if line else "" for line in body]
    return ["def main():", '    """1 if the bug shows, else 0."""', *indented]


VERDICT = ['print("The bug shows." if shows else "The bug does not show.")', "return int(shows)"]


def _tolerance(array: Array, literals: Literals, hint: str = "tolerance") -> str:
    short = upwards(np.asarray(array, np.float64))
    if short.size and (short == short.reshape(-1)[0]).all():
        value = float(short.reshape(-1)[0])
        return "np.inf" if np.isposinf(value) else repr(value)
    return literals.name(short, hint)


def _lowest(backend: Backend, part: str) -> list[str]:
    """A log-sum-exp as low as can be stands for -inf, where that is the convention."""
    if part != "lse" or backend.conventions["empty_row_lse"] != "lowest":
        return []
    return [f"came = np.where(np.asarray(came, np.float64) <= {LOWEST!r}, -np.inf, came)  # an empty row"]


def _gives(backend: Backend, form: Gives, call: Written, literals: Literals) -> list[str]:
    wanted = literals.name(native(backend, form.part, np.asarray(form.wanted, np.float64), form.call), "wanted")
    tolerance = _tolerance(native(backend, form.part, form.tolerance, form.call), literals)
    lines = [f"came = {call.name}()[{call.index(form.part)}]", *_lowest(backend, form.part)]
    if form.or_nan:
        lines += [f"came = np.where(np.isnan(came), {wanted}, came)  # inf - inf and 0 * inf may well be NaN"]
    return _main(*lines, f'shows = differs(came, {wanted}, {tolerance}, "{form.part}")', *VERDICT)


def _agree(backend: Backend, form: Agree, calls: list[Written], literals: Literals) -> list[str]:
    other, call = calls
    lines = [f"wanted = {other.name}()[{other.index(form.part)}]", f"came = {call.name}()[{call.index(form.part)}]"]
    tolerance = "0.0"
    if form.tolerance is not None:
        tolerance = _tolerance(native(backend, form.part, form.tolerance, form.call), literals)
    return _main(*lines, f'shows = differs(came, wanted, {tolerance}, "{form.part}, call against call")', *VERDICT)


def _has_dtype(form: HasDtype, call: Written) -> list[str]:
    lines = [f"came = str({call.name}()[{call.index(form.part)}].dtype)", f'shows = came != "{form.wanted}"']
    return _main(*lines, f'print(f"dtype of {form.part}: wanted {form.wanted}, came {{came}}")', *VERDICT)


def _has_shapes(backend: Backend, form: HasShapes, call: Written) -> list[str]:
    shapes = [native(backend, part, np.zeros(shape), form.call).shape for part, shape in form.wanted.items()]
    floats = '("float64", "float32", "float16", "bfloat16")'
    lines = [f"came = {call.name}()", f"wanted = {shapes!r}"]
    lines += [
        f"shows = [part.shape for part in came] != wanted or any(str(part.dtype) not in {floats} for part in came)"
    ]
    lines += [
        'print(f"wanted floating-point numbers of shapes {wanted}, came {[(str(p.dtype), p.shape) for p in came]}")'
    ]
    return _main(*lines, *VERDICT)


def _refuses(backend: Backend, form: Refuses, call: Written, literals: Literals) -> list[str]:
    unclean = ", ".join(kind.__name__ for kind in UNCLEAN)
    wanted = f"with {form.malformed.what}: wanted an error"
    if form.wanted is not None:
        wanted += f" or {form.malformed.meaning}"
    lines = ["try:", f"    came = {call.name}()[0]", f"except ({unclean}) as error:  # no refusal"]
    lines += [f'    print(f"{_escaped(wanted)}, came {{type(error).__name__}}")', "    shows = True"]
    lines += ["except Exception:", "    shows = False", "else:"]
    if form.wanted is None or form.tolerance is None:
        lines += [
            f'    print(f"{_escaped(wanted)}, came {{came.dtype}} numbers of shape {{came.shape}}")',
            "    shows = True",
        ]
        return _main(*lines, *VERDICT)
    name = literals.name(native(backend, "output", np.asarray(form.wanted, np.float64), form.call), "wanted")
    tolerance = _tolerance(native(backend, "output", form.tolerance, form.call), literals)
    lines += [f'    shows = differs(came, {name}, {tolerance}, "{wanted}; output")']
    lines += [
        '    if "float" not in str(came.dtype):',
        '        print(f"wanted floating-point numbers, came {came.dtype}")',
    ]
    return _main(*lines, "        shows = True", *VERDICT)


def _escaped(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}").replace('"', "'")


def _works(call: Written) -> list[str]:
    lines = ["try:", f"    {call.name}()", "except BaseException as error:", "    shows = True"]
    lines += ['    print(f"wanted a result, came {type(error).__name__}: {error}")', "else:", "    shows = False"]
    return _main(*lines, *VERDICT)


def _apart(call: Written, failure: Failure) -> list[str]:
    """The call in a process of its own, for it may not come back."""
    run = ["try:", "    code = subprocess.run([sys.executable, __file__, 'call'], timeout=60, check=False).returncode"]
    run += ["except subprocess.TimeoutExpired:", '    code = "none in 60 s"', "shows = code != 0"]
    run += ['print(f"wanted a call that ends, came exit code {code}")']
    tail = ["", "", 'if __name__ == "__main__":', '    if sys.argv[1:] == ["call"]:', f"        {call.name}()"]
    return [*_main(*run, *VERDICT), *tail, "    else:", "        sys.exit(main())"]
