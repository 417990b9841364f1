"""A plugin of pytest for the array API standard's tests (.ci/array-api): leaves out what needs complex numbers, expects what is known."""

import pathlib
import re

import pytest

KNOWN = pathlib.Path(__file__).with_name("array_api_known.txt")
COMPLEX = "needs complex numbers"


def known():
    """The lines of the file: 'complex' or 'differs', a pattern of test names where * stands for anything, and why."""
    for line in KNOWN.read_text(encoding="utf-8").splitlines():
        text, _, reason = line.partition("  # ")
        if text.strip() and not text.startswith("#"):
            kind, pattern = text.split(None, 1)
            yield kind, re.compile(re.escape(pattern.strip()).replace(r"\*", ".*") + r"\Z"), reason


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    lines = list(known())
    for item in items:
        name = item.nodeid.removeprefix("array_api_tests/")
        for kind, pattern, reason in lines:
            if pattern.match(name):
                item.add_marker(pytest.mark.skip(reason=COMPLEX) if kind == "complex" else pytest.mark.xfail(reason=reason), append=False)
                break


def pytest_terminal_summary(terminalreporter):
    def count(outcome):
        return len(terminalreporter.stats.get(outcome, []))
    skipped = terminalreporter.stats.get("skipped", [])
    needs_complex = sum(COMPLEX in str(report.longrepr) for report in skipped)
    passed, failed, differ = count("passed") + count("xpassed"), count("failed") + count("error"), count("xfailed")
    of = passed + failed + differ
    terminalreporter.write_line(
        f"{passed} of {of} pass ({100 * passed / max(1, of):.1f}%), {differ} differ as is known, {failed} fail; "
        f"left out: {needs_complex} that need complex numbers, {len(skipped) - needs_complex} by the suite itself")
    for report in terminalreporter.stats.get("xfailed", []):
        terminalreporter.write_line(f"  differs: {report.nodeid.removeprefix('array_api_tests/')}: {report.wasxfail}")
