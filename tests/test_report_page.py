"""The page says what the files say, with everything escaped and nothing to load.

In a browser, where there is one, it opens from disk in dark and light, wide and narrow; screenshots of that are left in
build/report/.
"""

import json
import re
import shutil
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from bench_sample import FAMILIES, KILLS, SIZES, TARGETS, TIMES, UNRANKED, write_sample
from contrast import contrast
from test_table import FLAWED, PATTERNS, attnspec

pytest.importorskip("jinja2")
pytest.importorskip("matplotlib")

from attnspec.benchmarks.compare import compare
from attnspec.benchmarks.run import run_of
from attnspec.conformance.cells import families
from attnspec.reporting.frontier import places
from attnspec.reporting.page import render
from attnspec.reporting.results import read_results
from attnspec.reporting.speed import machine, workloads
from attnspec.targets import expanded
from attnspec.units import digits, seconds, size

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)
FIRST = f"{FAMILIES[0]}-{SIZES[0]}"
"""The workload that has unranked ones too."""

SCREENSHOTS = Path(__file__).parents[1] / "build" / "report"

HOSTILE = '"\'><script>window.hacked = 1</script></style></pre><img src=x onerror=hacked()> {{ 7 * 7 }} $x$ &lt; https://example.org/"x'


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Results of every kind: two implementations, one that is not there, two mutants, benchmarks."""
    folder = tmp_path_factory.mktemp("report")
    (folder / "flawed.py").write_text(FLAWED)
    only = [word for pattern in PATTERNS for word in ("--only", pattern)]
    quick = (*only, "--profile", "quick", "--json")
    assert attnspec("verify", "numpy_naive", folder / "flawed.py", "nonesuch.py", *quick, folder / "run.json") == 2
    assert attnspec("verify", "attnspec.mutants.causal_off_by_one", *quick, folder / "mutants.json") == 1
    mutants, right = (json.loads((folder / name).read_text()) for name in ("mutants.json", "run.json"))
    survivor = {**right["targets"][0], "target": "attnspec.mutants.unseen"}
    survivor["backend"] = {**survivor["backend"], "name": "unseen"}
    mutants["targets"].append(survivor)
    (folder / "mutants.json").write_text(json.dumps(mutants))
    write_sample(folder / "bench.json")
    return folder


@pytest.fixture(scope="module")
def page(folder):
    """The page of all results, and its figures as files."""
    runs = [folder / f"{name}.json" for name in ("run", "mutants", "bench")]
    assert attnspec("report", *runs, "--out", folder / "report.html", "--png", folder / "png") == 0
    return folder / "report.html"


class Reader(HTMLParser):
    """Collects the tags, their attributes, the rows of tables cell by cell, and all text outside of scripts."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.rows, self.text, self.inside = [], [], "", ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.inside = tag
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    handle_startendtag = handle_starttag

    def handle_endtag(self, tag):
        self.inside = ""
        if tag == "table":
            self.rows.append([])  # what follows is no cell's

    def handle_data(self, data):
        if self.inside not in ("script", "style"):
            self.text += data
            if self.rows and self.rows[-1]:
                self.rows[-1][-1] += data.strip()

    def row(self, head, number=0):
        return [row for row in self.rows if row and row[0].startswith(head)][number]


@pytest.fixture(scope="module")
def reader(page):
    return Reader(page.read_text(encoding="utf-8"))


def test_every_figure_is_there_with_words_for_it(reader, page):
    told = [attrs["aria-label"] for tag, attrs in reader.tags if tag == "svg"]
    assert len(told) == len(list((page.parent / "png").glob("*.png"))) == 6  # 3 figures, forward and backward
    for text in told:
        assert all(backend in text for backend in TIMES)
    assert all(file.read_bytes().startswith(b"\x89PNG") for file in (page.parent / "png").iterdir())


def test_the_table_of_conformance_counts_the_rows_of_the_run(reader, folder):
    for target in json.loads((folder / "run.json").read_text())["targets"][:2]:
        found = Counter((row["invariant"].split(".")[0], row["status"]) for row in target["outcomes"])
        head, cells = reader.rows[0], reader.row(target["backend"]["name"])
        for family in {family for family, _ in found}:
            cell = cells[head.index(family)]
            assert f"✗{found[family, 'failed']}" in cell if found[family, "failed"] else "✗" not in cell
            assert f"k{found[family, 'known issue']}" in cell if found[family, "known issue"] else "k1" not in cell


def test_each_fault_opens_with_its_problem_and_its_command(reader, folder):
    (flawed,) = (t for t in json.loads((folder / "run.json").read_text())["targets"] if "flawed" in t["target"])
    troubles = {row["trouble"]["case"]: row for row in flawed["outcomes"] if row["status"] == "failed"}
    for case, row in troubles.items():
        assert row["trouble"]["message"] in reader.text
        assert row["trouble"]["problem"][0] in reader.text
        assert f"--problem '{case}'" in reader.text
    assert "wanted a Python file, came a path that does not exist" in reader.text


def test_conventions_stand_side_by_side(reader):
    heads = next(row for row in reader.rows if "causal alignmenttop-left" in row)
    assert reader.row("flawed", 1)[heads.index("causal alignmenttop-left")] == "violatedbottom-right ✗"


def test_the_kill_matrix(reader, folder):
    outcomes = json.loads((folder / "mutants.json").read_text())["targets"][0]["outcomes"]
    killers = [row["invariant"] for row in outcomes if row["status"] == "failed"]
    cells = reader.row("causal_off_by_one")
    assert cells[1] == "killed"
    assert sum(int(cell) for cell in cells[2:-1] if cell != "·") == len(killers)
    assert f"{killers[0]} and {len(killers) - 1} more{', '.join(killers[1:])}" == cells[-1]
    assert reader.row("unseen")[1] == "survived"


def test_what_is_not_ok_is_shown_and_never_ranked(reader):
    heads = next(row for row in reader.rows if row and row[0] == "workload")
    cells = reader.row(FIRST)
    for backend, status, reason in UNRANKED:
        assert cells[heads.index(backend)] == status
        assert reader.row(backend)[1:3] == [f"{status}: {reason}", "–"]
    assert [cells[heads.index(backend)] for backend in TIMES] == ["2.00×", "3.00×", "1.00×"]


def test_a_timing_that_is_not_ok_is_not_ranked_though_it_has_a_time(folder):
    data = json.loads((folder / "bench.json").read_text())
    for entry in data["benchmarks"]:
        if entry["extra_info"].get("backend") == "hasty":
            entry["extra_info"]["status"] = "wrong"
    timings = run_of(data).timings
    rows = {row["name"]: row["rows"] for row in workloads(timings)}[FIRST]
    assert {backend for backend, row in rows.items() if row["ratio"] is not None} == {"plain", "careful"}
    assert {place.backend for place in places(timings)} == {"plain", "careful"}


def test_the_frontier_of_known_times(folder):
    timings = run_of(json.loads((folder / "bench.json").read_text())).timings
    found = [(p.backend, round(p.ratio, 9), p.error, p.optimal) for p in places(timings)]
    assert found == [("hasty", 1, 0.3, True), ("plain", 2, 0.5, False), ("careful", 3, 0.004, True)]


def test_the_exponents_of_known_times(reader):
    grown = [row for row in reader.rows if row[1:] == ["2.00", "2.00"]]
    assert sorted(row[0] for row in grown) == sorted([*TIMES] * len(FAMILIES))


def test_the_suite_itself_is_told(reader):
    text = " ".join(reader.text.split())
    assert "The suite itself" in text
    assert "2350 a second" in text
    assert "42 % until each mutant is killed" in text
    assert "2 of 3 killed, the slowest after 2.50 s" in text
    rows = [row for row in reader.rows if row and row[0] in KILLS]
    assert rows == [["immortal", "survived"], ["slow_to_die", "2.50 s"], ["quick_to_die", "250 ms"]]


def test_the_targets_are_told(reader):
    rows = [row for row in reader.rows if row and row[0] in {target["what"] for target in TARGETS}]
    assert rows == [
        ["careful ÷ plain", "≤ 1.15", "1024 1.50, 2048 –", "no"],
        ["share of the peak", "≥ 0.800", "plain 0.930", "yes"],
        ["memory", "≤ 64.0", "plain –", "not measured"],
    ]


def test_numbers_are_three_digits_with_a_unit():
    assert [digits(x) for x in (None, 0, 0.99999, 0.01234, 123.4, 1e-9, float("inf"))] == [
        "–",
        "0",
        "1.00",
        "0.0123",
        "123",
        "1.0e-09",
        "∞",
    ]
    assert [seconds(0.00123), seconds(75.0), size(3 * 2**20), size(0.0)] == ["1.23 ms", "75.0 s", "3.00 MiB", "0 B"]


def spoiled(data):
    """The data with every text but the words that the page knows in the place of names and messages made hostile."""
    if isinstance(data, dict):
        free = (
            "backend",
            "workload",
            "family",
            "mutant",
            "name",
            "group",
            "reason",
            "message",
            "problem",
            "kernels",
            "options",
            "versions",
        )
        return {key: hostile(value) if key in free else spoiled(value) for key, value in data.items()}
    return [spoiled(item) for item in data] if isinstance(data, list) else data


def hostile(value):
    if isinstance(value, str):
        return value + HOSTILE
    if isinstance(value, list):
        return [hostile(item) for item in value]
    if not isinstance(value, dict) or "library" in value:
        return spoiled(value)
    return {key + HOSTILE: str(v) + HOSTILE for key, v in value.items()}


@pytest.fixture(scope="module")
def spoiled_page(folder):
    names = ("run", "mutants", "bench")
    for name in names:
        data = spoiled(json.loads((folder / f"{name}.json").read_text()))
        (folder / f"{name}-hostile.json").write_text(json.dumps(data))
    out = folder / "hostile.html"
    assert attnspec("report", *(folder / f"{name}-hostile.json" for name in names), "--out", out) == 0
    return out


def test_whatever_the_files_say_is_text(spoiled_page, reader):
    found = Reader(spoiled_page.read_text(encoding="utf-8"))
    assert {tag for tag, _ in found.tags} <= {tag for tag, _ in reader.tags}
    assert [tag for tag, _ in found.tags].count("script") == 1
    assert not [name for _, attrs in found.tags for name in attrs if name.startswith("on")]
    assert found.text.count(HOSTILE) > 50


@pytest.mark.parametrize("name", ["page", "spoiled_page"])
def test_nothing_is_loaded_from_anywhere(name, request):
    text = request.getfixturevalue(name).read_text(encoding="utf-8")
    references = [
        (t, k, v) for t, attrs in Reader(text).tags for k, v in attrs.items() if k in ("src", "href", "xlink:href")
    ]
    assert len(references) > 5
    assert [r for r in references if not r[2].startswith("#") and r[:2] != ("a", "href")] == []
    assert not re.search(r"url\((?!#)|@import", text)


def test_ids_stand_once(reader):
    ids = Counter(attrs["id"] for _, attrs in reader.tags if "id" in attrs)
    assert [id for id, count in ids.items() if count > 1] == []


def test_what_is_absent_is_told_with_its_command(tmp_path):
    assert attnspec("report", "--out", tmp_path / "empty.html") == 0
    text = Reader((tmp_path / "empty.html").read_text(encoding="utf-8")).text
    for command in ("verify BACKEND… --json", "verify 'attnspec.mutants.*'", "bench --json", "report RUN.json…"):
        assert f"attnspec {command}" in text


def test_runs_of_benchmarks_are_not_mixed(folder, tmp_path):
    later = json.loads((folder / "bench.json").read_text())
    later["datetime"] = "2999-01-01T00:00:00"
    for entry in later["benchmarks"]:
        entry["stats"]["median"] /= 1000
    (tmp_path / "later.json").write_text(json.dumps(later))
    assert attnspec("report", tmp_path / "later.json", folder / "bench.json", "--out", tmp_path / "two.html") == 0
    reader = Reader((tmp_path / "two.html").read_text(encoding="utf-8"))
    assert [reader.row(FIRST, n).count("1.00×") for n in (0, 1)] == [1, 1]


DAMAGED = {
    "cut": (lambda data: json.dumps(data)[:200], "wanted JSON, came text that breaks off"),
    "other": (lambda data: '{"a": 1}', "wanted a JSON object with 'targets'"),
    "no machine": (lambda data: json.dumps({**data, "machine_info": 3}), "wanted benchmarks with 'machine_info'"),
    "older": (lambda data: json.dumps(data).replace('"family"', '"kind"'), "damaged, or of an older attnspec"),
    "no stats": (lambda data: json.dumps(data).replace('"stats"', '"times"'), "with 'stats', came none"),
    "word": (
        lambda data: json.dumps(data).replace('"gflops": ', '"gflops": "x", "g": '),
        "'gflops' as a number, came 'x'",
    ),
    "huge": (
        lambda data: json.dumps(data).replace('"gflops": ', f'"gflops": {10**400}, "g": '),
        "'gflops' as a number, came 1",
    ),
    "no median": (lambda data: json.dumps(data).replace('"median"', '"middle"'), "with 'median' above 0, came {"),
    "shape": (lambda data: json.dumps(data).replace('"S"', '"T"'), "with 'S' above 0, came {"),
}


@pytest.mark.parametrize("kind", DAMAGED)
def test_a_damaged_file_is_one_line_and_exit_code_2(folder, tmp_path, kind, capsys):
    damage, told = DAMAGED[kind]
    (tmp_path / "bench.json").write_text(damage(json.loads((folder / "bench.json").read_text())))
    assert attnspec("report", tmp_path / "bench.json", "--out", tmp_path / "report.html") == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"attnspec: {tmp_path / 'bench.json'}: wanted ")
    assert told in line
    assert not (tmp_path / "report.html").exists()


def places_in(data, way=()):
    """The way to every value, of a list's the first alone."""
    if way:
        yield way
    inner = data.items() if isinstance(data, dict) else enumerate(data[:1]) if isinstance(data, list) else ()
    for key, value in inner:
        yield from places_in(value, (*way, key))


def replaced(data, way, value):
    """A copy of the data with the value at the end of the way, or nothing there for "none"."""
    changed, (key, *rest) = data.copy(), way
    if value == "none" and not rest:
        del changed[key]
    else:
        changed[key] = replaced(data[key], rest, value) if rest else value
    return changed


def made(file):
    """All of the page but the figures, which take long."""
    results = read_results([file])
    render(replace(results, benches=[]))
    [(machine(run), workloads(run.timings)) for run in results.benches]


def compared(file):
    """The tables of the command line."""
    compare([file], None)


def complaint(use, file):
    """What is said of the file; "" where it can be used."""
    try:
        use(file)
    except ValueError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("value", ["none", None, [3]], ids=str)
@pytest.mark.parametrize(("name", "use"), [("run", made), ("bench", made), ("bench", compared), ("suite", made)])
def test_whatever_is_damaged_is_used_or_one_line_says_why(folder, tmp_path, name, use, value):
    data, file = json.loads((folder / f"{name.replace('suite', 'bench')}.json").read_text()), tmp_path / "file.json"
    if name != "run":
        data["machine_info"]["cpu"] = {"count": 2}
        shown = slice(-1, None) if name == "suite" else slice(1)
        data |= {part: data[part][shown] for part in ("benchmarks", "unranked")}
    for target in data.get("targets", ()):
        target["outcomes"] = sorted(target["outcomes"], key=lambda row: row["trouble"] is None)[:2]
    data.get("targets", []).sort(key=lambda target: target["exit_code"] != 1)  # the flawed one first
    told = set()
    for way in places_in(data):
        file.write_text(json.dumps(replaced(data, way, value)))
        told.add(complaint(use, file))
    assert [line for line in told - {""} if "\n" in line or not line.startswith(f"{file}: wanted ")] == []
    assert len(told) > 10


def test_a_violation_without_its_problem_is_damage(folder, tmp_path, capsys):
    text = (folder / "run.json").read_text().replace('"case"', '"cases"')
    (tmp_path / "run.json").write_text(text)
    assert attnspec("report", tmp_path / "run.json", "--out", tmp_path / "report.html") == 2
    assert "wanted a violation with 'case', came none" in capsys.readouterr().err


@pytest.mark.parametrize(("option", "wanted"), [("--out", "a file to write"), ("--png", "a folder for PNGs")])
def test_a_place_that_cannot_be_written_is_one_line(folder, tmp_path, option, wanted, capsys):
    (tmp_path / "file").write_text("")
    words = {"--out": tmp_path / "report.html", option: tmp_path / "file" / "in"}
    assert attnspec("report", folder / "run.json", *(word for pair in words.items() for word in pair)) == 2
    assert f"report: wanted {wanted}, came" in capsys.readouterr().err


def test_half_a_character_is_replaced(folder, tmp_path):
    """JSON may have one, UTF-8 may not."""
    for name in ("run", "bench"):
        text = (folder / f"{name}.json").read_text()
        (tmp_path / f"{name}.json").write_text(re.sub('"(numpy_naive|careful)"', r'"\\ud800"', text))
    files = [tmp_path / f"{name}.json" for name in ("run", "bench")]
    assert attnspec("report", *files, "--out", tmp_path / "report.html", "--png", tmp_path / "png") == 0
    assert attnspec("table", files[0], "--out", tmp_path / "table.md") == 0
    for written in ("report.html", "table.md"):
        assert re.search("[>`][?][<`]", (tmp_path / written).read_text(encoding="utf-8"))


def test_figures_stay_in_their_folder(folder, tmp_path):
    text = (folder / "bench.json").read_text().replace('"float32"', '"../../float32"')
    (tmp_path / "bench.json").write_text(text)
    out = tmp_path / "here" / "and" / "there"
    words = ("--out", tmp_path / "report.html", "--png", out)
    assert attnspec("report", tmp_path / "bench.json", *words) == 0
    assert {path.parent for path in tmp_path.rglob("*.png")} == {out}


def test_a_pattern_of_modules():
    found = expanded(["attnspec.mutants.causal_off*", "torch_sdpa"])
    assert found == ("attnspec.mutants.causal_off_by_one", "torch_sdpa")
    with pytest.raises(ValueError, match=r"attnspec\.mutants\.nonesuch\*: wanted a pattern"):
        expanded(["attnspec.mutants.nonesuch*"])


def test_colours_are_told_from_the_ground_in_light_and_dark(page):
    light, dark = re.findall(
        r"--text: (#\w+); --back: (#\w+); --faint: (#\w+);.*?\n(.*?\n)?.*?--hue-0", page.read_text()
    )
    assert light[1] != dark[1]
    for ground, colours in zip(
        (light[1], dark[1]), re.findall(r"((?:--hue-\d: #\w+; ?)+)", page.read_text()), strict=True
    ):
        for colour in re.findall(r"#\w+", colours):
            assert contrast(colour, ground) > 4
    for ink, paper, faint, *_ in (light, dark):
        assert contrast(ink, paper) > 7
        assert contrast(faint, paper) > 4.5


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api")
    if CHROMIUM is None:
        pytest.skip("wanted Chromium, came none: none of its names is on the path")
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=CHROMIUM)
        yield opened
        opened.close()


@pytest.fixture
def visit(browser):
    """Open a file, and hold it to what no page may do: ask for anything but itself, or complain."""
    visits, told, asked, opened = [], [], [], []

    def call(file, width=1280, scheme="light", scripts=True):
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, java_script_enabled=scripts
        )
        visits.append(context)
        opened.append(file.as_uri())
        view = context.new_page()
        view.on("console", lambda message: told.append(message.text))
        view.on("pageerror", lambda error: told.append(str(error)))
        view.on("dialog", lambda dialog: told.append(dialog.message))
        view.on("request", lambda request: asked.append(request.url))
        view.goto(file.as_uri())
        return view

    yield call
    for context in visits:
        context.close()
    assert (told, asked) == ([], opened)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_it_opens_in_any_light_on_any_screen(visit, page, width, scheme):
    view = visit(page, width, scheme)
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    view.screenshot(path=SCREENSHOTS / f"{scheme}-{width}.png", full_page=True)
    assert view.evaluate("document.documentElement.scrollWidth") == width
    ground = view.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, ground[4:-1].split(","))) > 3 * 128) == (scheme == "light")
    figures = [figure.bounding_box() for figure in view.locator("svg[role=img]").all()]
    assert len(figures) == 6
    assert min(box["height"] for box in figures) > 80
    assert view.evaluate("matchMedia('(prefers-color-scheme: dark)').matches") == (scheme == "dark")


def test_figures_follow_the_light(visit, page):
    ink = "[...document.querySelectorAll('svg text')].map(text => getComputedStyle(text).fill)"
    marks = "[...document.querySelectorAll('svg [data-backend] use')].map(mark => getComputedStyle(mark).stroke)"
    light, dark = (visit(page, scheme=scheme) for scheme in ("light", "dark"))
    assert not set(light.evaluate(ink)) & set(dark.evaluate(ink))
    assert not set(light.evaluate(marks)) & set(dark.evaluate(marks))


def test_tables_scroll_by_themselves_with_the_names_in_sight(visit, page):
    view = visit(page, 390)
    region = view.get_by_role("region", name="Conformance")
    assert region.evaluate("part => part.scrollWidth > part.clientWidth")
    head = region.get_by_role("rowheader", name="numpy_naive")
    before = head.bounding_box()["x"]
    region.focus()
    region.evaluate("part => part.scrollLeft = 300")
    assert region.evaluate("part => part.scrollLeft") > 100
    assert head.bounding_box()["x"] == before


def test_filters(visit, page):
    view = visit(page)
    rows = view.locator("#conformance tbody tr:visible")
    backend = view.get_by_role("searchbox", name="Backend")
    family, status = (view.get_by_role("combobox", name=name) for name in ("Family", "Status"))
    assert rows.count() == 3
    backend.fill("NUMPY_na")
    assert rows.all_inner_texts()[0].startswith("numpy_naive")
    assert rows.count() == 1
    assert view.locator("svg g[data-backend]:visible").count() == 0
    assert "shows" in view.get_by_role("status").inner_text()
    backend.fill("hasty")
    assert rows.count() == 0
    assert {g.get_attribute("data-backend") for g in view.locator("svg g[data-backend]:visible").all()} == {"hasty"}
    backend.fill("")
    status.select_option("violated")
    assert [text.split()[0] for text in rows.all_inner_texts()] == ["flawed"]
    assert view.locator("#mutants tbody tr:visible").count() == 0
    status.select_option("survived")
    assert view.locator("#mutants tbody tr:visible").count() == 1
    status.select_option("all")
    family.select_option("softmax")
    heads = view.locator("#mutants thead th:visible").all_inner_texts()
    assert [head for head in heads if head in families()] == ["softmax"]
    family.select_option("all")
    assert view.locator("#mutants thead th:visible").count() == len(families()) + 3
    assert view.get_by_role("status").inner_text() == ""


def test_a_failure_opens_from_the_keyboard(visit, page):
    view = visit(page)
    failure = view.locator("details[data-backend=flawed]", has_text="definition.output").first
    command = failure.get_by_text("attnspec verify").last
    assert not command.is_visible()
    failure.locator("summary").focus()
    view.keyboard.press("Enter")
    assert command.is_visible()
    assert "--problem" in command.inner_text()


def test_it_is_readable_without_scripts(visit, page):
    view = visit(page, scripts=False)
    assert not view.locator("#filters").is_visible()
    assert view.locator("#conformance tbody tr:visible").count() == 3
    assert view.locator("svg[role=img]:visible").count() == 6
    view.locator("summary", has_text=FIRST).first.click()
    assert view.get_by_role("region", name=FIRST, exact=True).is_visible()


def test_nothing_that_files_say_is_run(visit, spoiled_page):
    view = visit(spoiled_page, 390)
    assert view.evaluate("window.hacked") is None
    assert view.evaluate("document.documentElement.scrollWidth") == 390
    assert HOSTILE in view.locator("body").inner_text()
