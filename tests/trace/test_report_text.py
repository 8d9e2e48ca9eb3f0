"""The text of a trace's page, without a browser."""

import json
import re

import pytest
from hand_made import suspended, trace_of
from synthetic_trace import synthetic

from plaq.errors import RunError
from plaq.trace.on_worker import OnWorker
from plaq.trace.report import page, write_report
from plaq.trace.timeline import Timeline


def meta_of(text):
    return json.loads(re.search(r'id="meta">(.*?)</script>', text).group(1))


def test_the_page_has_tables_and_refers_to_no_other_file():
    trace = synthetic(6000, 2, 3, seed=4)
    text = page(trace)
    assert not re.search(r"(https?:|//[a-z]|\bsrc=|\bhref=|@import|url\()", text.split('id="meta">')[0])
    assert "Content-Security-Policy" in text and "default-src 'none'" in text
    meta = meta_of(text)
    assert [lane["rank"] for lane in meta["lanes"]].count(1) == 4 and meta["ranks"] == [0, 1]
    assert meta["columns"][0] == ["gap", len(Timeline(trace, OnWorker(trace)).intervals), False]
    assert "Where the time went" in text and "rank 1, worker 2" in text
    assert text.count('class="share"') == 9 + 6 and "Context switches of the kernel" in text


def test_notes_stand_on_top_and_text_is_text():
    bad = 'rank 1: cut </script><b onload="x">&'
    trace = trace_of([(bad, 0, -1, [(0, 0.0, 1.0)])], notes=[bad])
    trace.metadata["command"] = bad
    text = page(trace)
    assert text.count("</script>") == 3 and bad not in text
    assert text.index('class="notes"') < text.index('id="stage"')
    assert 'class="notes"' not in page(trace_of([("a", 0, -1, [(0, 0.0, 1.0)])]))


def test_a_page_that_cannot_be_written(tmp_path):
    with pytest.raises(RunError, match="cannot be written"):
        write_report(suspended(), tmp_path / "nowhere" / "report.html")
