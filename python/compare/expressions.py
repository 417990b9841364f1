"""The expressions of the walk: the rows of calls.txt and the forms below, crossed with the inputs by fixed rules."""

import functools
import itertools
import pathlib
import re

FOLDER = pathlib.Path(__file__).parent
NAMES = FOLDER.parent / "generate" / "torch_names.txt"

PLACEHOLDER = re.compile(r"\b([XYGMDK])\b")
FORMATS = ["repr({})", "str({})", "'{{}}'.format({})"]
IN_PLACE = {
    "+": "iadd",
    "-": "isub",
    "*": "imul",
    "/": "itruediv",
    "//": "ifloordiv",
    "%": "imod",
    "**": "ipow",
    "@": "imatmul",
    "<<": "ilshift",
    ">>": "irshift",
    "&": "iand",
    "|": "ior",
    "^": "ixor",
}
DTYPES = ["float32", "float64", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool"]
LETTERS = "fdhwijscub"


@functools.cache
def known_names():
    """PyTorch's public names."""
    return frozenset(NAMES.read_text().split("\n")[1:])


@functools.cache
def forms():
    """The lists of forms.txt by their names."""
    read, name = {}, None
    for line in (FOLDER / "forms.txt").read_text().splitlines():
        if line.startswith("["):
            name = line[1 : line.index("]")]
            read[name] = ""
        elif name and line.startswith("  "):
            read[name] += " " + line.strip()
    return {name: [form.strip() for form in text.strip().split(" ; ")] for name, text in read.items()}


def stands_for(letter):
    """What a letter of calls.txt stands for."""
    return forms()[f"letter {letter}"]


@functools.cache
def rows():
    """(part, place, names, calls) of each line of calls.txt."""
    read, part, place = [], None, "torch"
    for line in (FOLDER / "calls.txt").read_text().replace("\n  ", " ").splitlines():
        if line.startswith("["):
            words = line.strip("[]").split()
            part, place = words[0], words[1] if len(words) > 1 else "torch"
        elif line.strip() and not line.startswith("#"):
            names, calls = line.split(" : ", 1) if " : " in line else (line.rstrip(" :"), "")
            read.append((part, place, names.split(), [call.strip() for call in calls.split(" ; ")]))
    return read


def split_arguments(call):
    """The arguments of a call as texts: commas in brackets and quotes do not separate."""
    parts, depth, quoted, at = [], 0, False, ""
    for letter in call:
        if letter == "'":
            quoted = not quoted
        elif not quoted and letter in "([{":
            depth += 1
        elif not quoted and letter in ")]}":
            depth -= 1
        if letter == "," and depth == 0 and not quoted:
            parts.append(at.strip())
            at = ""
        else:
            at += letter
    return parts + [at.strip()] if at.strip() else parts


def crossed(call):
    """The call with each of what its letters stand for; X twice is the same one."""
    letters = list(dict.fromkeys(PLACEHOLDER.findall(call)))
    for chosen in itertools.product(*(stands_for(letter) for letter in letters)):
        if "Y" in letters and "X" in letters:  # all pairs of the two would be too many: the diagonal and the two sides
            x, y = chosen[letters.index("X")], chosen[letters.index("Y")]
            if x not in ("f23", "i23", "b23", "u23", "f_") and y not in ("f23x", "2", "2.5", "i23x"):
                continue
        yield PLACEHOLDER.sub(lambda found: chosen[letters.index(found[1])], call)


def base(call):
    """The call with the first of what each letter stands for."""
    return PLACEHOLDER.sub(lambda found: stands_for(found[1])[0], call)


def as_call(place, name, arguments):
    return f"{place}.{name}({', '.join(arguments)})"


def as_method(name, arguments):
    first = arguments[0]
    return f"{first if re.fullmatch(r'[a-z0-9_]+', first) else f'({first})'}.{name}({', '.join(arguments[1:])})"


def is_function(place, name):
    return place != "Tensor" and f"{'torch.nn.functional' if place == 'F' else place}.{name}" in known_names()


def has_method(name):
    return f"torch.Tensor.{name}" in known_names()


def takes_tensor(arguments):
    return bool(arguments) and "=" not in arguments[0] and re.match(r"\(?(?:[fdhwijscub](?:_|\d)|\(f)", arguments[0]) is not None


def calls_of(place, name, arguments):
    """The call as function and as method, where PyTorch has them."""
    found = []
    if is_function(place, name):
        found.append(as_call(place, name, arguments))
    if place in ("torch", "Tensor") and takes_tensor(arguments) and (has_method(name) or place == "Tensor"):
        found.append(as_method(name, arguments))
    return found


def from_rows():
    for part, place, names, calls in rows():
        for name in names:
            for call in calls:
                for text in crossed(call):
                    arguments = split_arguments(text)
                    if part == "properties":
                        yield part, f"{arguments[0]}.{name}"
                        continue
                    for made in calls_of(place, name, arguments):
                        yield part, made


def with_arguments():
    """Each argument of each call replaced by what does not belong there, one too few and one too many, and by name."""
    done = set()
    for part, place, names, calls in rows():
        if part == "properties":
            continue
        for name in names:
            for call in calls[:2]:
                arguments = split_arguments(base(call))
                for changed in changed_arguments(arguments):
                    without = [as_call(place, name, [])] if is_function(place, name) else []
                    for made in calls_of(place, name, changed) if changed else without:
                        if made not in done:
                            done.add(made)
                            yield "arguments", made


def changed_arguments(arguments):
    for at, argument in enumerate(arguments):
        keyword = argument.split("=", 1)[0] + "=" if re.match(r"\w+=", argument) else ""
        for odd in forms()["odd"]:
            yield [*arguments[:at], keyword + odd, *arguments[at + 1 :]]
    for count in range(len(arguments)):
        yield arguments[:count]
    yield [*arguments, "foo=1"]
    if not any("=" in a for a in arguments):
        yield [*arguments, "7"]
        if arguments:
            yield [*arguments[1:], f"input={arguments[0]}"]
            yield [*arguments, f"input={arguments[0]}"]


def with_out():
    for part, place, names, calls in rows():
        if part in ("pointwise", "binary", "reductions", "products", "shapes", "gathering", "creation", "linalg", "special"):
            for name in names:
                if is_function(place, name):
                    for out in forms()["outs"]:
                        yield "out", as_call(place, name, [*split_arguments(base(calls[0])), f"out={out}"])


def in_place():
    for part, place, names, calls in rows():
        for name in names:
            if place != "torch" or not has_method(name + "_"):
                continue
            for call in calls:
                arguments = split_arguments(base(call))
                if not takes_tensor(arguments):
                    continue
                yield "inplace", as_method(name + "_", arguments)
            arguments = split_arguments(base(calls[0]))
            if takes_tensor(arguments):
                for target in forms()["in_place_on"]:
                    yield "inplace", as_method(name + "_", [target, *arguments[1:]])
                yield "inplace", f"{as_method(name + '_', arguments)} is {arguments[0]}"
                yield "inplace", f"{as_method(name + '_', ['(f23g * 1)', *arguments[1:]])}"
            if f"torch.{name}_" in known_names():
                yield "inplace", as_call("torch", name + "_", arguments)


def gradients():
    """The gradient of what the call gives, of each call with a tensor of float32 in front."""
    for part, place, names, calls in rows():
        if part in ("properties", "creation", "methods"):
            continue
        for name in names:
            if not is_function(place, name):
                continue
            for call in calls:
                arguments = split_arguments(base(call))
                if not arguments or not re.fullmatch(r"f[1-9_]\d*[xps]*", arguments[0]):
                    continue
                leaf = arguments[0] + "g"
                yield "gradients", f"torch.autograd.grad({as_call(place, name, [leaf, *arguments[1:]])}.sum(), {leaf})"


def indexing():
    for tensor, index in itertools.product(forms()["indexed"], forms()["indices"]):
        yield "indexing", f"{tensor}[{index}]"
    for index in forms()["indices"]:
        assigned = forms()["assigned"] if index in ("0", ":", "i2z", "b23", "..., 0") else forms()["assigned"][:3]
        for tensor, value in itertools.product(("f23", "i23", "f234"), assigned):
            yield "indexing", f"assigned({tensor}, at[{index}], {value})"
    for index in ("0", "i2z", "b23", "b3", "1:", "..., None"):
        yield "indexing", f"torch.autograd.grad(f23g[{index}].sum(), f23g)"


def operators():
    operands = forms()["operands"]
    for operator, left in itertools.product(forms()["operators"], operands):
        for right in operands:
            tensors = left in ("i23", "b23", "f_", "u23") and right in operands[:20]
            numbers = left in operands[18:] and right in ("i23", "f_", "b_")
            if "f23" in (left, right) or tensors or numbers:
                yield "operators", f"{left} {operator} {right}"
    for operator in forms()["operators"][:13]:
        for left, right in itertools.product(
            ("f23", "i23", "b23", "f23g", "f_", "f3"), ("f23x", "f3", "i23", "2", "2.5", "True", "None", "f4")
        ):
            yield "operators", f"__import__('operator').{IN_PLACE[operator]}({left}, {right})"


def printing():
    for text, form in itertools.product(forms()["printed"], FORMATS):
        yield "printing", form.format(text)
    for option, text in itertools.product(forms()["options"], forms()["printed_with"]):
        yield "printing", f"(torch.set_printoptions({option}), repr({text}))[1]"


def conversions():
    for tensor, form in itertools.product(forms()["converted"], forms()["conversions"]):
        if form in ("complex", "hash", "iter", "'%d' % {}"):
            form = {"hash": "hash({}).__class__", "iter": "iter({}).__class__.__name__"}.get(form, form)
        yield "conversions", form.replace("{}", tensor).replace("{{", "{").replace("}}", "}") if "{}" in form else f"{form}({tensor})"


def promotion():
    for form, left, right in itertools.product(forms()["promoting"], LETTERS, LETTERS):
        yield "promotion", form.format(f"{left}3", f"{right}3x")
    for form, left, right in itertools.product(forms()["promoting"][:9] + ["torch.result_type({}, {})"], LETTERS, LETTERS):
        yield "promotion", form.format(f"{left}3", f"{right}_")
    for function, left, right in itertools.product(("promote_types", "can_cast"), DTYPES, DTYPES):
        yield "promotion", f"torch.{function}(torch.{left}, torch.{right})"
    for left, right in itertools.product(LETTERS, DTYPES):
        yield "promotion", f"{left}23.to(torch.{right})"
        yield "promotion", f"{left}23.sum(dtype=torch.{right})"
        yield "promotion", f"torch.zeros(2, dtype=torch.{right}).fill_({left}_)"
    for name in DTYPES:
        for attribute in (
            "itemsize",
            "is_floating_point",
            "is_complex",
            "is_signed",
            "to_real()",
            "to_complex()",
            "__reduce__()",
            "__module__",
            "__class__.__name__",
        ):
            yield "promotion", f"torch.{name}.{attribute}"


def sharing():
    """Calls that have nothing to do to their tensor, or nearly nothing: is it given back, a view of it, or a copy?"""
    for tensor, form in itertools.product(forms()["shared"], forms()["sharing"]):
        yield "sharing", form.replace("{}", tensor)


RULES = (from_rows, with_arguments, with_out, in_place, gradients, indexing, operators, printing, conversions, promotion, sharing)


@functools.cache
def expressions():
    """(part, expression) of all, each expression once, in an order that is always the same."""
    found = {}
    for rule in RULES:
        for part, text in rule():
            found.setdefault(text, part)
    return tuple((part, text) for text, part in found.items())


def parts():
    """The names of the parts, each once."""
    return tuple(dict.fromkeys(part for part, _ in expressions()))
