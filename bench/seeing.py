"""Times the versions of the program in docs/seeing.md: bench/seeing.py FOLDER [ROUNDS], FOLDER has the built examples.

Forth and back in each round (1 2 … 6 6 … 2 1), so that a machine that gets slower favours nobody. Prints each version's median milliseconds a step.
"""

import os
import re
import statistics
import subprocess
import sys

folder, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5
versions = ["seeing1_start", "seeing2_waits", "seeing3_memory", "seeing4_bytes", "seeing6_overlap"]  # the fifth is wrong
environment = {"TANDEM_VIRTUAL_GPUS": "1x1GiB,link=1GB/s,latency=50us", **os.environ}
times = {version: [] for version in versions}
for _ in range(rounds):
    for version in versions + versions[::-1]:
        text = subprocess.run([os.path.join(folder, version)], env=environment, check=True, capture_output=True, text=True).stdout
        times[version].append(float(re.search(r"([\d.]+) ms a step", text)[1]))
medians = {version: statistics.median(times[version]) for version in versions}
print(f"TANDEM_VIRTUAL_GPUS={environment['TANDEM_VIRTUAL_GPUS']}, {os.cpu_count()} cores, medians of {2 * rounds}")
for version, median in medians.items():
    spread = f"{min(times[version]):.2f} to {max(times[version]):.2f}"
    print(f"{version:16} {median:6.2f} ms a step ({spread}), {medians[versions[0]] / median:.1f} times as fast as the first")
