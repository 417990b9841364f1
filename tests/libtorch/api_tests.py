#!/usr/bin/env python3
"""PyTorch's own tests of its C++ API against libtorch's names over tandem: api_tests.py FOLDER [FILE...], FOLDER as PyTorch's test/cpp/api.

Each file is compiled as it stands. A test that the compiler refuses is cut out, and named, until the rest compiles - so is a function or class
that tests use, and then those tests go with it; what compiles is run, each test in a process of its own where one of them ends the program.
Headers of PyTorch's innards that are not installed are taken as empty. Ends with a table, and with 1 where less than 85% pass. Tests that need
complex numbers, sparse or quantized tensors, TorchScript or PyTorch's innards are counted apart."""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

NEEDS = {
    "complex": r"[kK]Complex|c10::complex|std::complex|\bview_as_(real|complex)\b|torch::complex\b|fft_?[cr]2|torch::fft::",
    "sparse": r"to_sparse|sparse_\w+_tensor|[kK]Sparse|\.is_sparse\(\)|\.coalesce\(|_sparse_",
    "quantized": r"quantize|[kK]QU?Int",
    "TorchScript": r"\bjit::|CompilationUnit",
    "PyTorch's own innards": r"c10::impl|at::native|torch::autograd::impl|DispatchKey|\bRecordFunction\b|variable_hooks|torch::_C|at::meta"
    r"|REGISTER_TEST_OP|_test_ambiguous_defaults",
}
# Headers that belong to the same.
INNARDS = re.compile(r"ATen/(core|native|MetaFunctions)|torch/csrc/|torch/detail/|torch/nested")
TEST = re.compile(r"^(TEST|TEST_F|TEST_P|TYPED_TEST)\(\s*(\w+)\s*,\s*(\w+)\s*\)", re.M)


def blocks_of(text):
    """[(name, first line, last line)] of each test, lines from 1."""
    found = []
    for match in TEST.finditer(text):
        depth, i = 0, text.index("{", match.end())
        mode = None
        while True:
            pair, c = text[i : i + 2], text[i]
            if mode is None:
                if pair in ("//", "/*"):
                    mode, i = pair, i + 1
                elif c in "\"'":
                    if c == "'" and text[i - 1].isalnum():  # a digit separator
                        pass
                    elif c == '"' and text[i - 1] == "R":
                        i = text.index(')' + text[i + 1 : text.index("(", i)] + '"', i) + 1
                        i = text.index('"', i)
                    else:
                        mode = c
                elif c == "{":
                    depth += 1
                elif c == "}":
                    depth -= 1
                    if depth == 0:
                        break
            elif mode == "//" and c == "\n" or mode == "/*" and pair == "*/":
                mode = None
            elif mode in ('"', "'"):
                if c == "\\":
                    i += 1
                elif c == mode:
                    mode = None
            i += 1
        found.append((f"{match[2]}.{match[3]}", text.count("\n", 0, match.start()) + 1, text.count("\n", 0, i) + 1))
    return found


def helper_around(lines, at):
    """(first line, last line) of the function, class or statement on the file's outermost level that line `at` stands in; lines from 1."""
    first = at
    while first > 1 and not re.match(r"[A-Za-z]", lines[first - 1]):
        first -= 1
    while first > 1 and re.match(r"[A-Za-z]", lines[first - 2]) and not lines[first - 2].rstrip().endswith((";", "{")):
        first -= 1
    last, inside = first, False
    while last < len(lines):
        line = lines[last - 1]
        inside = inside or "{" in line
        if line.startswith("}") or (not inside and line.endswith(";")) or (last == first and line.endswith("}")):
            break
        last += 1
    return first, max(last, at)


def without(text, blocks, gone):
    """The file without some tests; all lines keep their numbers."""
    lines = text.split("\n")
    for name, first, last in blocks:
        if name in gone:
            lines[first - 1 : last] = [""] * (last - first + 1)
    return "\n".join(lines)


def refused(source, blocks, told, result):
    """{test: why}, of the tests that a compiler's errors stand in, or that asked for what has them; without those in `result`."""
    found = {}
    for line in told.split("\n"):
        at = re.match(rf"{re.escape(str(source))}:(\d+):", line)
        inside = [name for name, first, last in blocks if at and first <= int(at[1]) <= last]
        if inside and inside[0] not in result and re.search("error:|required from|in expansion|requested here", line):
            found.setdefault(inside[0], "does not compile: " + line.split("error: ")[-1][:160])
    return found


def look(file, folder, work, compiler, libraries, environment):
    """{test: what became of it}"""
    text = file.read_text()
    blocks = blocks_of(text)
    result = {}
    bodies = {name: "\n".join(text.split("\n")[first - 1 : last]) for name, first, last in blocks}
    for name, body in bodies.items():
        for what, pattern in NEEDS.items():
            if re.search(pattern, body):
                result[name] = f"needs {what}"
    program = work / file.stem
    more = [str(folder / "support.cpp")] if (folder / "support.cpp").exists() else []  # what tests share
    helpers = {}  # what is no test and cut out too: {name: (first line, last line)}
    for _ in range(20):
        source = work / file.name
        source.write_text(without(text, blocks + [(name, *at) for name, at in helpers.items()], {*result, *helpers}))
        call = [*compiler, "-w", "-fmax-errors=0", f"-I{folder.parents[2]}", f"-I{folder}", f"-I{work / 'innards'}"]
        done = subprocess.run([*call, str(source), *more, "-o", str(program), *libraries], capture_output=True, text=True)
        if done.returncode == 0:
            break
        missing = re.search(r"fatal error: (\S+): No such file", done.stderr)
        if missing and INNARDS.match(missing[1]):
            (work / "innards" / missing[1]).parent.mkdir(parents=True, exist_ok=True)
            (work / "innards" / missing[1]).write_text("")
            continue
        fresh = refused(source, blocks, done.stderr, result)
        if not fresh and shutil.which("clang++"):
            # g++ does not always say which line of the program a template was needed for.
            second = subprocess.run(["clang++", *call[1:], "-ferror-limit=0", "-fsyntax-only", str(source)], capture_output=True, text=True)
            fresh = refused(source, blocks, second.stderr, result)
        outside = {} if fresh else {f"line {first}": (first, last) for first, last in (
            helper_around(text.split("\n"), int(line)) for line in re.findall(rf"^{re.escape(str(source))}:(\d+):\d+: error:", done.stderr, re.M))}
        if not fresh and not outside.keys() - helpers.keys():
            told = next((line for line in done.stderr.split("\n") if "error" in line), done.stderr[:300])
            for name, _, _ in blocks:
                result.setdefault(name, f"the file does not compile: {told[-200:]}")
            return result
        result.update(fresh)
        helpers.update(outside)
    else:
        raise SystemExit(f"{file.name}: still refused after 20 rounds")

    def run(names):
        out = work / "result.json"
        out.unlink(missing_ok=True)
        env = {**os.environ, **environment}
        try:
            done = subprocess.run([program, f"--gtest_output=json:{out}", f"--gtest_filter={':'.join(names)}"], cwd=work, env=env, capture_output=True, text=True, errors="replace", timeout=300)
        except subprocess.TimeoutExpired:
            return {}, "takes more than 300 s"
        if not out.exists():
            return {}, "ends the program: " + done.stderr[-160:].strip().replace("\n", " ")
        told = {}
        for suite in json.loads(out.read_text())["testsuites"]:
            for test in suite["testsuite"]:
                failures = test.get("failures")
                told[f"{suite['name']}.{test['name']}"] = "passes" if not failures else "fails: " + failures[0]["failure"].replace("\n", " ")[-200:]
        return told, ""

    left = [name for name, _, _ in blocks if name not in result]
    told, ended = run(left) if left else ({}, "")
    if ended:
        told = {}
        for name in left:
            one, why = run([name])
            told[name] = one.get(name, why)
    for name in left:
        result[name] = told.get(name, "was not run")
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, help="PyTorch's test/cpp/api")
    parser.add_argument("files", nargs="*", help="such as modules.cpp; all where none is named")
    parser.add_argument("--compiler", default="c++ -std=c++20 -O0", help="with the flags that find <torch/torch.h> and GoogleTest")
    parser.add_argument("--libraries", default="-ltandem_torch -ltandem -lgtest -lgtest_main -lpthread", help="what is linked, with its folders")
    parser.add_argument("--gpus", default="2x256MiB", help="virtual GPUs, as TANDEM_VIRTUAL_GPUS")
    parser.add_argument("--json", type=pathlib.Path, help="writes what became of each test there")
    parser.add_argument("--verbose", action="store_true", help="names each test that does not pass")
    options = parser.parse_args()
    files = [options.folder / name for name in options.files] or sorted(f for f in options.folder.glob("*.cpp") if TEST.search(f.read_text()))
    everything = {}
    print(f"{'file':24} {'tests':>6} {'left out':>9} {'pass':>6} {'refused':>8} {'fail':>6}", flush=True)
    total = [0] * 5
    with tempfile.TemporaryDirectory() as work:
        for file in files:
            told = look(file.resolve(), options.folder.resolve(), pathlib.Path(work), options.compiler.split(), options.libraries.split(), {"TANDEM_VIRTUAL_GPUS": options.gpus})
            everything[file.name] = told
            kinds = list(told.values())
            row = [
                len(kinds),
                sum(k.startswith("needs") for k in kinds),
                sum(k == "passes" for k in kinds),
                sum("compile" in k.split(":")[0] for k in kinds),
            ]
            row.append(row[0] - sum(row[1:]))
            total = [a + b for a, b in zip(total, row)]
            print(f"{file.name:24} {row[0]:6} {row[1]:9} {row[2]:6} {row[3]:8} {row[4]:6}", flush=True)
            if options.verbose:
                for name, kind in told.items():
                    if kind != "passes":
                        print(f"    {name}: {kind}", flush=True)
    wanted = total[0] - total[1]
    print(f"{'all':24} {total[0]:6} {total[1]:9} {total[2]:6} {total[3]:8} {total[4]:6}   {total[2]} of {wanted} pass: {100 * total[2] / max(wanted, 1):.1f}%")
    if options.json:
        options.json.write_text(json.dumps(everything, indent=1, sort_keys=True) + "\n")
    return int(total[2] < 0.85 * wanted)


if __name__ == "__main__":
    sys.exit(main())
