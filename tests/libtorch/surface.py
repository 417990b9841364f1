"""Each layer, each function of torch::nn::functional and each option that src/libtorch declares is used by a test in tests/libtorch, and no
exception is left over: surface.py ROOT."""

import pathlib
import re
import sys

# Classes of options that need no test of their own, and why.
EXCEPTIONS = {
    "ConvNdOptions": "layers fill it from ConvOptions and ConvTransposeOptions",
    "RNNOptionsBase": "layers fill it from RNNOptions, GRUOptions and LSTMOptions",
    "RNNCellOptionsBase": "cells fill it from RNNCellOptions, GRUCellOptions and LSTMCellOptions",
    "AdagradParamState": "a state, which the optimizer fills",
    "AdamFamilyState": "a state, which the optimizer fills",
    "LBFGSParamState": "a state, which the optimizer fills",
    "RMSpropParamState": "a state, which the optimizer fills",
    "SGDParamState": "a state, which the optimizer fills",
}


def arguments(text, begin):
    """The arguments of a macro whose bracket opens before `begin`, and where it has closed."""
    found, depth, last = [], 0, begin
    for at in range(begin, len(text)):
        letter = text[at]
        if letter == "," and not depth or letter == ")" and not depth:
            found.append(text[last:at].strip())
            last = at + 1
            if letter == ")":
                return found, last
        depth += (letter in "([{") - (letter in ")]}")
    raise ValueError("a macro's bracket is never closed")


def expanded(text, shared):
    """A header with its own macros and those of the header `shared` expanded, and without its directives."""
    text, shared = (re.sub(r"//[^\n]*", "", header).replace("\\\n", " ") for header in (text, shared))
    macros = {name: ([p.strip() for p in parameters.split(",")], body)
              for name, parameters, body in re.findall(r"^ *#define (TANDEM_\w+)\(([^)]*)\)(.*)$", shared + text, re.M)}
    text = re.sub(r"^ *#.*$", "", text, flags=re.M)
    while macros:
        call = re.search(r"\b(" + "|".join(macros) + r")\(", text)
        if not call:
            break
        given, end = arguments(text, call.end())
        parameters, body = macros[call[1]]
        if parameters[-1] == "...":
            parameters = parameters[:-1] + ["__VA_ARGS__"]
            given = given[:len(parameters) - 1] + [", ".join(given[len(parameters) - 1:])]
        for parameter, value in zip(parameters, given):
            body = re.sub(rf"\b{parameter}\b", lambda _: value, re.sub(r"\s*##\s*", "\0", body))
        text = text[:call.start()] + body.replace("\0", "") + text[end:]
    return text


root = pathlib.Path(sys.argv[1])
# Of each test its words, what it calls of F, and the setters that it calls: a call with arguments.
tests = [tuple(set(re.findall(pattern, path.read_text())) for pattern in (r"\w+", r"\bF::(\w+)", r"\.(\w+)\((?!\))"))
         for path in (root / "tests/libtorch").glob("*") if path.suffix in (".cpp", ".h")]
words, calls, _ = (set().union(*sets) for sets in zip(*tests))
layers, functions, options, aliases = set(), set(), set(), {}
shared = (root / "src/libtorch/layers_base.h").read_text()
for path in sorted((root / "src/libtorch").glob("*.h")):
    if path.name in ("arg.h", "holder.h"):  # they define the macros that are looked for
        continue
    text = expanded(path.read_text(), shared)
    layers |= set(re.findall(r"\b(?:TANDEM_TORCH_LAYER|TORCH_MODULE)\((\w+)\)", text))
    layers |= set(re.findall(r"\bclass (\w+) : public ModuleHolder<", text))
    if path.name.startswith("functional_"):
        public = re.sub(r"namespace detail \{.*?\n\}", "", text, flags=re.S)
        functions |= set(re.findall(r"(?:^|;|\})\s*(?:Tensor|std::tuple<[^;{}]*?>) (\w+)\(", public, re.M))
    for name, target in re.findall(r"\busing (\w+) = (?:\w+::)*(\w+)", text):
        aliases.setdefault(target, set()).add(name)
    for part in re.split(r"\b(?=(?:struct|class) \w+[^;{(]*\{)", text):
        holder = re.match(r"(?:struct|class) (\w+)", part)
        for option in re.finditer(r"\bTORCH_ARG\(", part):
            options.add((holder[1], arguments(part, option.end())[0][-1]))


def names(holder):
    """A class of options and its other names."""
    return {holder}.union(*(names(alias) for alias in aliases.get(holder, ())))


def is_set(holder, option):
    """Whether a test that names the class sets the option."""
    return any(option in setters and names(holder) & own for own, _, setters in tests)


faults = [f"no test makes the layer {name}" for name in sorted(layers) if name not in words]
faults += [f"no test calls F::{name}" for name in sorted(functions) if name not in calls]
faults += [f"no test sets {holder}().{name}" for holder, name in sorted(options) if holder not in EXCEPTIONS and not is_set(holder, name)]
faults += [f"surface.py excepts {holder}, which has no options" for holder in EXCEPTIONS if holder not in {name for name, _ in options}]
if not (len(layers) > 100 and len(functions) > 100 and len(options) > 300):  # the headers are written in another way than this reads
    faults.append("surface.py finds too few names in src/libtorch")
print("\n".join(faults) or f"{len(layers)} layers, {len(functions)} functions, {len(options)} options, all in tests/libtorch")
sys.exit(bool(faults))
