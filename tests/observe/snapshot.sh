# A snapshot of GPUs' memory, read by Python: snapshot.sh TEST_OBSERVE pickle|viewer. PYTHON is the Python that has PyTorch.
set -eu
"$1" --gtest_filter=MemoryHistory.SnapshotForPython > log || { cat log; exit 1; }
exec "${PYTHON:-python3}" "$(dirname "$0")/snapshot.py" "$2" snapshot.pickle snapshot.line
