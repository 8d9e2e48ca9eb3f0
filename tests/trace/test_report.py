"""The page of a trace: what its text says, and what it shows and does in a browser that opens it from disk."""

import re

import numpy as np
import pytest
from browser import Browser, find_browser
from hand_made import suspended, trace_of, waiting, with_gpu
from synthetic_trace import synthetic

from plaq.trace.model import LINK, MESSAGE, READY, Counter
from plaq.trace.on_worker import OnWorker
from plaq.trace.profile import profile
from plaq.trace.report import write_report
from plaq.trace.timeline import Timeline

in_browser = pytest.mark.skipif(find_browser() is None, reason="no Chromium on this machine")


@pytest.fixture(scope="module")
def browser():
    with Browser() as browser:
        yield browser


@pytest.fixture
def opened(browser, tmp_path):
    """open(trace) -> the browser, showing the page of a trace."""

    def open_page(trace):
        write_report(trace, tmp_path / "report.html")
        browser.requests.clear()
        browser.open(tmp_path / "report.html")
        return browser

    yield open_page
    assert browser.errors == []
    assert browser.requests == [(tmp_path / "report.html").as_uri()]


@pytest.fixture(scope="module")
def made():
    return synthetic(6000, 2, 3, seed=4)


def text_of(browser, name):
    lines = browser.evaluate(f"document.getElementById('{name}').innerText").split("\n")
    return [line for line in lines if line]


def place_of(browser, lane, level, time):
    """Where on the screen a time (ns) of a track is."""
    return browser.evaluate(
        f"""(() => {{ const {{ timeline, model }} = page, box = timeline.frame.getBoundingClientRect();
        const track = model.lanes[{lane}].tracks[{level}];
        return [box.left + timeline.x({time}), box.top + timeline.middle(track)]; }})()"""
    )


def shown(browser):
    return browser.evaluate("[page.view.begin, page.view.end]")


@in_browser
def test_every_item_arrives(opened, made):
    browser = opened(made)
    timeline = Timeline(made, OnWorker(made))
    items = np.sort(timeline.intervals, order=["lane", "depth", "begin"])
    for name, expected in (("begin", items["begin"]), ("end", items["end"]), ("name", items["name"])):
        assert browser.evaluate(f"Array.from(page.model.item.{name})") == expected.tolist(), name
    tracks = browser.evaluate("page.model.tracks.map((t) => [t.lane, t.level, t.to - t.from, t.isTasks])")
    for lane, level, count, is_tasks in tracks:
        here = items[(items["lane"] == lane) & (items["depth"] == level)]
        assert count == len(here) > 0 and is_tasks == bool((here["region"] < 0).all())
    rows = browser.evaluate("Array.from(page.model.item.row)")
    assert rows == np.where(items["region"] < 0, items["task"], items["region"]).tolist()
    assert browser.evaluate("Array.from(page.model.task.parent)") == made.tasks["parent"].tolist()
    ids = browser.evaluate("[...page.model.task.name.keys()].map((task) => page.model.idOf(task))")
    assert ids == [str(number) for number in made.tasks["id"]]
    links = browser.evaluate("[page.model.link.source, page.model.link.target].map((one) => Array.from(one))")
    assert links == [made.links["source"].tolist(), made.links["target"].tolist()]


@in_browser
def test_what_a_gpu_did_says_which_task_launched_it(opened):
    browser = opened(with_gpu())
    assert browser.evaluate("page.model.lanes.map((lane) => lane.label)") == [
        "worker 0", "GPU 1, stream 7", "GPU 1, stream 8"]
    browser.move(*place_of(browser, 1, 0, 2e9))
    assert text_of(browser, "tip") == [
        "hopping", "launched by", "outer #2", "on", "GPU 1, stream 7", "from", "1.500000 s", "duration", "1.00 s"]
    browser.move(*place_of(browser, 2, 0, 0.75e9))
    assert text_of(browser, "tip")[:3] == ["copy host to device", "launched by", "outer #2"]
    assert text_of(browser, "tip")[-2:] == ["bytes", "4,096"]
    browser.move(*place_of(browser, 2, 0, 2.1e9))
    assert text_of(browser, "tip")[1:3] == ["launched by", "no task"]


@in_browser
def test_large_ids_and_long_times(opened):
    trace = suspended()
    trace.tasks["id"] = [2**64 - 1, 2**53 + 1]
    for table, field in (("slices", "begin"), ("slices", "end"), ("regions", "begin"), ("regions", "end")):
        getattr(trace, table)[field] *= 1e5
    for field in ("created", "started", "finished"):
        trace.tasks[field] *= 1e5
    trace.duration *= 1e5
    browser = opened(trace)
    assert browser.evaluate("[0, 1].map((task) => page.model.idOf(task))") == [str(2**64 - 1), str(2**53 + 1)]
    assert browser.evaluate("Math.max(...page.model.item.end)") == 1e15


@in_browser
def test_hover_says_task_parent_worker_duration_and_wait(opened):
    trace = suspended()
    trace.tasks["created"][1] = 0.25
    trace.readies = np.array([(0, 4.5)], READY)
    browser = opened(trace)
    browser.move(*place_of(browser, 0, 0, 4e9))
    assert text_of(browser, "tip") == (
        ["inner #2", "parent", "outer #1", "on", "worker 0", "from", "3.000000 s", "duration", "2.00 s"]
        + ["waited", "2.75 s"]
    )
    browser.move(*place_of(browser, 1, 0, 7e9))
    assert text_of(browser, "tip")[-3:] == ["4.00 s", "waited", "500 ms"]
    browser.move(*place_of(browser, 1, 1, 7e9))  # the second part of a region of a task that was suspended
    assert text_of(browser, "tip")[:5] == ["whole", "region in", "outer #1", "on", "worker 1"]
    browser.move(*place_of(browser, 2, 1, 5e9))
    assert text_of(browser, "tip")[:5] == ["step", "region in", "a thread", "on", "main"]
    x, _ = place_of(browser, 0, 0, 8e9)
    browser.move(x, place_of(browser, 0, 0, 8e9)[1])  # worker 0 is idle there
    assert browser.evaluate("document.getElementById('tip').hidden")


@in_browser
def test_zoom_and_pan(opened, made):
    browser = opened(made)
    whole = shown(browser)
    assert whole == [0, browser.evaluate("page.model.duration")]
    x, y = place_of(browser, 1, 0, 0.3 * whole[1])
    browser.wheel(x, y, -200)
    begin, end = shown(browser)
    assert end - begin == pytest.approx(whole[1] * np.exp(-0.5), rel=1e-6)
    assert place_of(browser, 1, 0, 0.3 * whole[1])[0] == pytest.approx(x, abs=0.5)  # stays under the pointer
    assert re.fullmatch(
        r"0\.\d+ ms – \d\.\d+ ms  ·  \d\.\d+ ms",
        browser.evaluate("document.getElementById('range').textContent"),
    )

    browser.drag(x, y, x - 100, y)
    moved = shown(browser)
    width = browser.evaluate("page.timeline.plotWidth")
    assert moved == pytest.approx([begin + 100 * (end - begin) / width, end + 100 * (end - begin) / width])

    browser.evaluate("document.getElementById('stage').focus()")
    browser.key("ArrowLeft")
    assert shown(browser)[0] == pytest.approx(moved[0] - 0.1 * (end - begin))
    browser.key("+")
    assert np.diff(shown(browser))[0] == pytest.approx(0.7 * (end - begin))
    browser.key("f")
    assert shown(browser) == whole

    left, axis = browser.evaluate(
        "(({left, top}) => [left, top + 12])(page.timeline.axis.getBoundingClientRect())"
    )
    at = [left + browser.evaluate(f"page.timeline.x({part * whole[1]})") for part in (0.2, 0.4)]
    browser.drag(at[0], axis, at[1], axis, modifiers=8)  # shift
    assert shown(browser) == pytest.approx([0.2 * whole[1], 0.4 * whole[1]], rel=1e-2)
    browser.evaluate("document.getElementById('fit').click()")
    assert shown(browser) == whole

    browser.evaluate("for (let k = 0; k < 60; k++) page.view.zoom(0.5)")
    assert np.diff(shown(browser))[0] == pytest.approx(20)  # ns
    browser.frame()
    browser.evaluate("for (let k = 0; k < 60; k++) page.view.zoom(2)")
    assert shown(browser) == whole


@in_browser
def test_click_shows_parent_and_links(opened):
    trace = suspended()
    trace.links = np.append(trace.links, np.array([(0, 1, 7.0)], LINK))
    browser = opened(trace)
    browser.click(*place_of(browser, 0, 0, 4e9))
    text = " ".join(text_of(browser, "selection"))
    assert text.startswith("inner #2 created 0 ns started 3.000000000 s finished 5.000000000 s")
    assert "ran 2.00 s in 1 slice" in text and "created by outer #1" in text
    assert "used results of outer #1" in text and "result used by outer #1" in text
    arrows = browser.evaluate(
        "page.overlay.arrows.map(({kind, from, leaves, to, arrives}) => "
        "[kind, from.lane, leaves, to.lane, arrives])"
    )
    assert arrows == [
        ["parent", 0, 0, 0, 3e9],
        ["link", 0, 3e9, 0, 3.5e9],
        ["link", 0, 5e9, 1, 6e9],
        ["link", 1, 7e9, 0, 5e9],
    ]

    browser.evaluate("document.querySelector('#selection button').click()")
    text = " ".join(text_of(browser, "selection"))
    assert text.startswith("outer #1") and "ran 7.00 s in 2 slices" in text and "suspended 2.00 s" in text
    assert browser.evaluate("page.overlay.items.map(({track}) => track.lane)") == [0, 1]
    browser.evaluate("document.getElementById('stage').focus()")
    browser.key("Enter")
    assert shown(browser) == [0, 1e10]
    browser.click(*place_of(browser, 0, 0, 8e9))
    assert browser.evaluate("document.getElementById('selection').hidden && page.overlay.arrows.length === 0")
    browser.click(*place_of(browser, 0, 0, 4e9), count=2)  # and this zooms to it
    assert shown(browser) == pytest.approx([2.7e9, 5.3e9])


def colours_of_row(browser, lane, level):
    """{colour: number of pixels} of a track."""
    return browser.evaluate(
        f"""(() => {{ const {{ timeline, model }} = page, track = model.lanes[{lane}].tracks[{level}];
        const ctx = timeline.canvas.getContext('2d');
        const row = ctx.getImageData(GUTTER, track.top, timeline.plotWidth, track.height);
        const count = {{}};
        for (const pixel of new Uint32Array(row.data.buffer)) {{
          const colour = '#' + [pixel & 255, pixel >> 8 & 255, pixel >> 16 & 255].map(
            (value) => value.toString(16).padStart(2, '0')).join('');
          count[colour] = (count[colour] ?? 0) + 1;
        }}
        return count; }})()"""
    )


@in_browser
def test_pixels_show_the_shares_of_time(opened):
    """A thousand short tasks of two names and idle time between them, each far below a pixel."""
    random = np.random.default_rng(1)
    edges = np.cumsum(random.uniform(0.5e-6, 1.5e-6, 20000)).reshape(-1, 2)
    runs = [("ab"[k % 4 == 0], 0, -1, [(0, *edge)]) for k, edge in enumerate(edges.tolist())]
    trace = trace_of(runs)
    browser = opened(trace)
    count = colours_of_row(browser, 0, 0)
    length = np.diff(edges, axis=1)[:, 0]
    looks = browser.evaluate("page.model.meta.looks")
    fills = browser.evaluate("page.looks.plain")
    for name, seconds in ((0, np.delete(length, np.s_[::4]).sum()), (1, length[::4].sum())):
        part = count[fills[looks[name]]] / sum(count.values())
        assert part == pytest.approx(seconds / trace.duration, abs=0.01), trace.names[name]


@in_browser
def test_rows_that_do_not_fit_scroll(opened):
    browser = opened(trace_of([(f"task {w}", 0, -1, [(w, 0.0, 1.0 + (w == 63))]) for w in range(64)]))
    visible = "page.timeline.lanesInSight().map((lane) => lane.worker)"
    assert browser.evaluate(visible)[0] == 0 and browser.evaluate(visible)[-1] < 40
    x, y = place_of(browser, 10, 0, 0.5e9)
    browser.drag(x, y, x, y - 190)
    assert browser.evaluate("page.timeline.scroller.scrollTop") == 190
    assert browser.evaluate(visible)[0] == 7  # in part
    browser.move(*place_of(browser, 12, 0, 0.5e9))
    assert text_of(browser, "tip")[:5] == ["task 12 #13", "parent", "none", "on", "worker 12"]
    colours = browser.evaluate(
        """(() => { const { timeline, model } = page, track = model.lanes[12].tracks[0];
        const middle = timeline.middle(track), ctx = timeline.canvas.getContext('2d');
        return [middle, middle - track.height / 2 - 3, 2].map(
          (y) => Array.from(ctx.getImageData(timeline.x(1.5e9), y, 1, 1).data)); })()"""
    )
    assert colours == [[238, 241, 244, 255], [0, 0, 0, 0], [238, 241, 244, 255]]  # idle, between rows, idle
    browser.evaluate("page.goTo(63)")
    browser.frame()
    assert 63 in browser.evaluate(visible)


@in_browser
def test_legend_switches_names(opened):
    browser = opened(suspended())
    names = browser.evaluate("[...document.querySelectorAll('#names .chip')].map((chip) => chip.textContent)")
    assert names == ["loop", "inner", "outer", "part", "step", "whole", "late"]
    fills, off = browser.evaluate("[page.looks.plain, page.looks.theme.off]")
    looks = dict(zip(browser.evaluate("page.model.names"), browser.evaluate("page.model.meta.looks")))
    inner, outer = fills[looks["inner"]], fills[looks["outer"]]
    before = colours_of_row(browser, 0, 0)
    assert before[inner] > 0.15 * sum(before.values()) and off not in before
    chip = f"document.querySelectorAll('#names .chip')[{names.index('inner')}]"
    browser.evaluate(f"{chip}.click()")
    browser.frame()
    after = colours_of_row(browser, 0, 0)
    assert inner not in after and after[off] > 0.9 * before[inner] and after[outer] == before[outer]
    browser.evaluate(f"{chip}.dispatchEvent(new MouseEvent('dblclick'))")
    browser.frame()
    alone = colours_of_row(browser, 0, 0)
    assert alone[inner] == before[inner] and outer not in alone
    browser.evaluate(f"{chip}.dispatchEvent(new MouseEvent('dblclick'))")
    browser.frame()
    assert colours_of_row(browser, 0, 0) == before


@in_browser
def test_names_without_end(opened):
    """The largest 100 can be switched one by one, the others together; a name may be any text."""
    count = 70_000
    end = 1e-9 * np.cumsum(100_000 - np.arange(count))
    edges = np.stack([end - 1e-9 * (80_000 - np.arange(count)), end], axis=1)
    odd = "<b>&amp;"
    trace = trace_of([("", 0, -1, [(0, *edge)]) for edge in edges.tolist()])
    trace.names, trace.tasks["name"] = [f"{odd} {k}" for k in range(count)], np.arange(count)
    browser = opened(trace)
    chips = browser.evaluate("[...document.querySelectorAll('#names .chip')].map((chip) => chip.textContent)")
    assert chips == [f"{odd} {k}" for k in range(100)] + ["69900 more"]
    browser.evaluate("document.querySelectorAll('#names .chip')[100].click()")
    browser.frame()
    off = browser.evaluate("page.looks.theme.off")
    pixels = colours_of_row(browser, 0, 0)
    assert pixels[off] > 0.4 * sum(pixels.values())
    assert browser.evaluate("page.model.names[page.model.item.name.at(-1)]") == f"{odd} 69999"


@in_browser
def test_counters_below(opened):
    trace = suspended()
    time = np.linspace(0, 10, 101)
    trace.counters = [
        Counter("queue length", "tasks", 0, -1, -1, time, np.arange(101.0)),
        Counter("idle rate", "0.01 %", 0, 0, -1, time, np.full(101, 1234.0)),
        Counter("load", "1", 0, -1, -1, time, np.where(time < 5, 1 / 3, np.nan)),
        Counter("resident memory", "B", 0, -1, -1, time, 2.0**20 * (1 + time)),
        Counter("page faults", "1", 0, -1, -1, time, np.round(50 * time)),
        Counter("user time", "s", 0, -1, -1, time, 1.5 * time),
    ]
    browser = opened(trace)
    chips = "[...document.querySelectorAll('#counters .chip')]"
    names = browser.evaluate(f"{chips}.map((chip) => chip.textContent)")
    expected = ["queue length", "resident memory", "page faults", "user time", "idle rate", "load"]
    assert names == expected  # those that change come first
    assert browser.evaluate("page.curves.shown.map(({name}) => name)") == names[:3]
    x, _ = place_of(browser, 0, 0, 4.25e9)
    top = browser.evaluate("page.curves.canvas.getBoundingClientRect().top")
    browser.move(x, top + 30)
    assert text_of(browser, "tip") == ["queue length", "process", "42 tasks", "at 4.250 s"]
    browser.move(x, top + 30 + browser.evaluate("STRIP"))
    assert text_of(browser, "tip")[2] == "5.2 MiB"
    for chosen in (0, 1, 3, 4):  # the first two off, two more on
        browser.evaluate(f"{chips}[{chosen}].click()")
    assert browser.evaluate("page.curves.shown.map(({name}) => name)") == names[2:5]
    found = []
    for strip in range(3):
        browser.move(x, top + 30 + strip * browser.evaluate("STRIP"))
        found.append(text_of(browser, "tip")[:3])
    assert found[0] == ["page faults", "process", "50 /s"]  # totals are shown as rates
    assert found[1:] == [["user time", "process", "150 %"], ["idle rate", "worker 0", "12.34 %"]]
    load = browser.evaluate("Array.from(page.curves.strips.find(({name}) => name === 'load').series[0].value)")
    assert load == pytest.approx([1 / 3] * 50)


@in_browser
def test_traces_with_little_in_them(opened):
    browser = opened(trace_of([]))
    assert browser.evaluate("page.model.item.begin.length") == 0
    browser = opened(trace_of([("never ran", 0, -1, []), ("a", 0, 0, [(0, 0.0, 0.0)])]))
    browser.evaluate("page.goTo(0)")
    assert "on no worker that was recorded" in " ".join(text_of(browser, "selection"))


@in_browser
def test_dark_and_light(opened):
    browser = opened(suspended())
    colours = "[page.looks.theme.card, getComputedStyle(document.body).color]"
    assert browser.evaluate(colours) == ["#ffffff", "rgb(31, 35, 40)"]
    idle = {"light": "#eef1f4", "dark": "#1f262e"}
    assert idle["light"] in colours_of_row(browser, 0, 0)
    browser.theme("dark")
    browser.frame()
    assert browser.evaluate(colours) == ["#161b22", "rgb(230, 237, 243)"]
    assert idle["dark"] in colours_of_row(browser, 0, 0) and idle["light"] not in colours_of_row(browser, 0, 0)
    browser.theme("light")


@in_browser
def test_statistics_of_a_range(opened):
    browser = opened(waiting())
    left, axis = browser.evaluate("(({left, top}) => [left, top + 12])(page.timeline.axis.getBoundingClientRect())")
    at = [left + browser.evaluate(f"page.timeline.x({time})") for time in (1e9, 7e9)]
    browser.drag(at[0], axis, at[1], axis)
    assert shown(browser) == [0, 1e10]  # a range is chosen, not zoomed to
    text = " ".join(text_of(browser, "statistics"))
    assert re.match(r"(1\.00\d|0\.99\d) s – (7\.00\d|6\.99\d) s", text)
    browser.evaluate("page.choose({begin: 1e9, end: 7e9})")
    rows = browser.evaluate("[...document.querySelectorAll('#statistics tbody tr')]"
                            ".map((row) => [...row.cells].map((cell) => cell.innerText))")
    assert rows == [
        ["solve", "2", "12.0 s", "7.00 s", "87.5 %"],
        ["wait for chains", "1", "6.00 s", "6.00 s", "–"],
        ["all_reduce", "1", "5.00 s", "4.00 s", "–"],
        ["combine", "1", "1.00 s", "1.00 s", "12.5 %"],
        ["rank 0, worker 0", "2.00 s", "4.00 s", "33.3 %"],
        ["rank 1, worker 0", "6.00 s", "0 ns", "100.0 %"],
    ]
    browser.evaluate("document.querySelector('#statistics button').click()")
    assert shown(browser) == [1e9, 7e9]
    browser.evaluate("document.getElementById('stage').focus()")
    browser.key("Escape")
    assert browser.evaluate("document.getElementById('statistics').hidden && page.overlay.chosen === null")


@in_browser
def test_statistics_of_all_are_those_of_the_profile(opened, made):
    browser = opened(made)
    found = browser.evaluate("(() => { const all = statisticsOf(page.model, 0, Infinity);"
                             " return [all.count, all.exclusive, all.inclusive].map((one) => Array.from(one)) })()")
    for name, calls, exclusive, inclusive in zip(made.names, *found):
        rows = [row for row in profile(made) if row.name == name]
        assert exclusive / 1e9 == pytest.approx(sum(row.exclusive for row in rows), abs=1e-8 * max(calls, 1)), name
        assert inclusive / 1e9 == pytest.approx(sum(row.inclusive for row in rows), abs=1e-8 * max(calls, 1)), name


@in_browser
def test_search_counts_and_goes_from_one_to_the_next(opened):
    browser = opened(suspended())
    browser.evaluate("document.getElementById('stage').focus()")
    browser.key("/")
    browser.call("Input.insertText", text="ART")
    found = "document.getElementById('found').textContent"
    assert browser.evaluate(found) == "2 found"  # both parts of "part"
    browser.frame()
    fills, off = browser.evaluate("[page.looks.plain, page.looks.theme.off]")
    looks = dict(zip(browser.evaluate("page.model.names"), browser.evaluate("page.model.meta.looks")))
    assert fills[looks["part"]] in colours_of_row(browser, 0, 2)
    assert off in colours_of_row(browser, 0, 0) and fills[looks["outer"]] not in colours_of_row(browser, 0, 0)
    places = []
    for _ in range(3):
        browser.key("Enter")
        places.append(browser.evaluate("[page.model.item.begin[page.overlay.found.i], " + found + "]"))
    assert places == [[2e9, "1 of 2"], [5e9, "2 of 2"], [2e9, "1 of 2"]]
    browser.evaluate("document.getElementById('previous').click()")
    assert browser.evaluate(found) == "2 of 2"
    browser.evaluate("page.view.show(0, 1e9); page.search.step(1)")
    begin, end = shown(browser)
    assert begin <= 2e9 < end  # it was out of sight
    browser.evaluate("document.getElementById('search').focus()")
    browser.key("Escape")
    browser.frame()
    assert browser.evaluate(found) == "" and fills[looks["outer"]] in colours_of_row(browser, 0, 0)


@in_browser
def test_waiting_has_a_colour_of_its_own_and_is_no_work(opened):
    browser = opened(waiting())
    fill = browser.evaluate("page.looks.plain[page.model.meta.waiting]")
    assert fill in colours_of_row(browser, 0, 1) and fill in colours_of_row(browser, 1, 0)
    overview = browser.evaluate(
        """(() => { const { timeline, model, looks } = page, names = model.names, solve =
        looks.plain[looks.of[names.indexOf('solve')]]; const image = timeline.overviewImage, at = (time) => {
          const x = Math.round(time / 1e10 * image.width), column = [];
          for (let y = 0; y < image.height; y++) column.push(new Uint32Array(image.data.buffer)[y * image.width + x]);
          return column.filter((pixel) => pixel === packed(solve)).length / image.height; };
        return [1e9, 4e9, 6.5e9, 7.5e9].map(at); })()"""
    )
    assert overview == [1, 0.5, 1, 0.5]  # a task that waits fills no height as work; a sum inside does


@in_browser
@pytest.mark.parametrize("width", [500, 1200])
def test_the_page_fits_and_nothing_jumps(tmp_path, made, width):
    made.names[0] = "a name that is longer than any other name"
    write_report(made, tmp_path / "report.html")
    with Browser(width, 1000) as browser:
        browser.open(tmp_path / "report.html")
        assert browser.evaluate("document.documentElement.scrollWidth") <= width
        place = "document.getElementById('stage').getBoundingClientRect().top"
        before = browser.evaluate(place)
        plot = browser.evaluate("page.timeline.plotWidth")
        assert plot > 0.7 * width
        for action in ("page.view.zoom(1e-4)", "page.view.fit()", "page.select(0)", "page.choose({begin: 0, end: 1e5})",
                       "page.search.find('a')", "page.search.step(1)", "document.querySelector('.chip').click()"):
            browser.evaluate(action)
            browser.frame()
            assert browser.evaluate(place) == before, action
            assert browser.evaluate("[page.timeline.plotWidth, document.documentElement.scrollWidth]")[0] == plot
            assert browser.evaluate("document.documentElement.scrollWidth") <= width, action
        assert browser.errors == []


@in_browser
def test_messages_are_arrows_that_can_be_hidden(opened):
    trace = trace_of([("give", 0, -1, [(0, 0.0, 4.0)]), ("take", 1, -1, [(0, 1.0, 4.0)])])
    trace.messages = np.array([(0, 1, 1700, 1.0, 3.0, 0, 0, 0, 0), (1, 0, 9, 2.0, 2.5, 0, 0, 0, 0)], MESSAGE)
    browser = opened(trace)
    assert browser.evaluate("page.messages.drawn.length") == 2
    assert "2 messages" in text_of(browser, "names")
    middle = "(({x0, y0, x1, y1}) => [(x0 + x1) / 2, (y0 + y1) / 2])(page.messages.drawn[0])"
    assert browser.evaluate(f"page.messages.at(...{middle})") == 0
    tip = browser.evaluate("page.words.message(page.messages, 0, 1).map((part) => part.textContent).join()")
    assert "1,700" in tip and "2.00 s" in tip and "rank 1" in tip
    browser.evaluate("document.getElementById('names').lastElementChild.click()")
    browser.evaluate("page.draw()")
    assert browser.evaluate("page.messages.drawn.length") == 0
