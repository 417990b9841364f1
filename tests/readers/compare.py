#!/usr/bin/env python3
"""Files of others: reads every file of a folder with tandem's readers and with NumPy, pandas, PIL and safetensors, and compares.

  compare.py READ_FILES FOLDER...           READ_FILES is the program of read_files.cpp; archives (.zip, .whl, .tar.gz) must be unpacked
  compare.py READ_FILES --sample FOLDER     writes files of many kinds into FOLDER first, and compares those
  --list                                    names what was refused and by which rule, file by file

A file is equal in both, refused by both, refused by tandem alone for a reason that RULES names, or different. Exits with 1 where one is
different, and with 77 where a package is missing.
"""

import argparse
import collections
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile
import warnings

try:
    import numpy as np
    import pandas as pd
    import PIL
    from PIL import Image
    import safetensors
    import safetensors.numpy
except ImportError as missing:
    print(f"skipped: {missing} (pip install numpy pandas pillow safetensors)")
    sys.exit(77)

MOST_BYTES = 64 << 20
warnings.simplefilter("ignore")
Image.MAX_IMAGE_PIXELS = None

# What tandem refuses and others read: reader, a regular expression for the error, and why that is right.
NO_NUMBERS = r"(are pickled Python objects|are text|are dates|are complex|are records|bytes without a type|of the type)"
RULES = [
    ("image", r"a JPEG of CMYK colours is not read", "CMYK is no picture to learn from; PIL gives four inks"),
    ("image", r"libjpeg says: (Corrupt JPEG data|Premature end|Invalid|Unsupported|Inconsistent)", "damage: PIL makes the pixels behind it up"),
    ("image", r"libpng says: ", "damage that PIL passes over"),
    ("image", r"its first chunk is not IHDR", "no PNG by its specification"),
    ("image", r"not a PNG or JPEG picture, but", "another format, under the name of one that is read"),
    ("csv", r"line \d+ has \d+ fields, but the first one has",
     "lines of different lengths: pandas fills them up, or takes the first column for an index"),
    ("csv", r"there is text after the closing quote", "a quote inside a field"),
    ("csv", r"a quote is never closed", "a quote inside a field"),
    ("csv", r"more than 1048576 fields", "no table"),
    ("csv", r"not a table of text, but", "no table"),
    ("npy", NO_NUMBERS, "no numbers that a tensor has"),
    ("npy", r"more than the \d+ dimensions", "more dimensions than a tensor has"),
    ("npz", NO_NUMBERS, "no numbers that a tensor has"),
    ("npz", r"(not a \.npy file|not a \.npz archive, but)", "no archive of arrays"),
    ("safetensors", r"has the dtype .* which is none of", "no dtype that a tensor has; the others are read by name"),
]


class Reader:
    """The program of read_files.cpp; started again where a file ends it."""

    def __init__(self, program):
        self.program, self.process = program, None

    def call(self, reader, path, **more):
        if self.process is None or self.process.poll() is not None:
            self.process = subprocess.Popen([self.program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.process.stdin.write((json.dumps({"reader": reader, "path": path, **more}) + "\n").encode())
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            return {"crash": f"the reader ended with status {self.process.wait()}"}
        answer = json.loads(line)
        for tensor in answer.get("tensors", []):
            data = self.process.stdout.read(tensor["bytes"])
            dtype = {"bool": "?", "bfloat16": "<u2"}.get(tensor["dtype"], tensor["dtype"])
            tensor["values"] = np.frombuffer(data, dtype).reshape(tensor["sizes"])
        return answer


class Different(Exception):
    """What a reader gave is not what others give."""


def expect_equal(name, ours, theirs):
    theirs = np.asarray(theirs)
    if ours.shape != theirs.shape:
        raise Different(f"{name}: sizes {ours.shape}, not {theirs.shape}")
    if ours.dtype != theirs.dtype.newbyteorder("="):
        raise Different(f"{name}: type {ours.dtype}, not {theirs.dtype}")
    same = (ours == theirs) | ((ours != ours) & (theirs != theirs))
    if not same.all():
        at = tuple(int(i[0]) for i in np.nonzero(~same))
        raise Different(f"{name}: {int((~same).sum())} of {ours.size} values, the first at {at}: {ours[at]}, not {theirs[at]}")


# --- What others read: each returns what to compare with, or raises

def pixels_of(path):
    """Pixels as they are stored, (channels, height, width), by PIL."""
    with Image.open(path, formats=["PNG", "JPEG"]) as image:
        image.load()
        clear = image.info.get("transparency") is not None and image.format == "PNG"
        mode = image.mode
        if mode == "P":  # indices: the colours that they stand for
            image = image.convert("RGBA" if clear or image.palette.mode == "RGBA" else "RGB")
        elif mode == "1":
            image = image.convert("LA" if clear else "L")
        elif mode == "I;16":  # the high byte of 16 bits
            return (np.asarray(image) >> 8).astype(np.uint8)[None], clear
        elif mode == "I":
            return (np.asarray(image).astype(np.int64) >> 8).astype(np.uint8)[None], clear
        pixels = np.asarray(image)
        if pixels.ndim == 2:
            pixels = pixels[:, :, None]
        return pixels.transpose(2, 0, 1), clear and image.mode in ("L", "RGB")


def compare_image(reader, path):
    theirs = attempt(lambda: pixels_of(path))
    ours = reader.call("image", path)
    both = settle("image", ours, theirs)
    if both:
        return both
    pixels, colour_is_clear = theirs
    values = ours["tensors"][0]["values"]
    if colour_is_clear and values.shape[0] == pixels.shape[0] + 1:  # one colour is transparent: alpha here, a note in PIL
        values = values[:-1]
    expect_equal("pixels", values, pixels)
    return "equal"


def compare_npy(reader, path):
    theirs = attempt(lambda: np.load(path, allow_pickle=False))
    ours = reader.call("npy", path)
    both = settle("npy", ours, theirs)
    if both:
        return both
    expect_equal("array", ours["tensors"][0]["values"], theirs)
    return "equal"


def arrays_of(path):
    arrays = {}
    with np.load(path, allow_pickle=False) as archive:
        for name in archive.files:
            try:
                arrays[name] = archive[name]
            except ValueError:  # objects
                arrays[name] = None
    return arrays


def compare_npz(reader, path):
    theirs = attempt(lambda: arrays_of(path))
    ours = reader.call("npz", path)
    both = settle("npz", ours, theirs)
    if both:
        return both
    read = {tensor["name"]: tensor["values"] for tensor in ours["tensors"]}
    for name, array in theirs.items():
        if name in read:
            expect_equal(name, read.pop(name), array)
        elif not any("left out" in text for text in ours["warnings"]):
            raise Different(f"{name} is missing, and nothing warns of it")
        elif isinstance(array, np.ndarray) and array.dtype.newbyteorder("=") in ("?", "u1", "i1", "i2", "i4", "i8", "f2", "f4", "f8"):
            raise Different(f"{name} is left out, though it is {array.dtype}")
    if read:
        raise Different(f"{sorted(read)} are in no such archive")
    return "equal"


def compare_safetensors(reader, path):
    def raw():
        with open(path, "rb") as file:
            return dict(safetensors.deserialize(file.read()))

    theirs = attempt(raw)
    ours = reader.call("safetensors", path)
    both = settle("safetensors", ours, theirs)
    if both:
        if both.startswith("rule") and not isinstance(theirs, Exception):  # the others, by name
            ours_too = ("BOOL", "U8", "I8", "I16", "I32", "I64", "F16", "BF16", "F32", "F64")
            names = [name for name, tensor in theirs.items() if tensor["dtype"] in ours_too]
            if names:
                ours = reader.call("safetensors", path, names=names)
                if len(ours.get("tensors", [])) != len(names):
                    raise Different(f"by name: {ours}")
        return both
    if {tensor["name"] for tensor in ours["tensors"]} != set(theirs):
        raise Different("other names")
    for tensor in ours["tensors"]:
        other = theirs[tensor["name"]]
        if list(tensor["sizes"]) != list(other["shape"]) or tensor["values"].tobytes() != bytes(other["data"]):
            raise Different(f"{tensor['name']}: other sizes or bytes")
    return "equal"


def dialect_of(path):
    """How a table seems to be written, as pandas' and tandem's options."""
    with (gzip.open if path.endswith(".gz") else open)(path, "rb") as file:
        head = file.read(65536)
    if b"\0" in head:
        raise ValueError("not text")
    lines = [line for line in re.split(rb"\r\n|\r|\n", head) if line.strip()]
    comment = "#" if lines and lines[0].lstrip().startswith(b"#") else None
    lines = [line for line in lines if comment is None or not line.lstrip().startswith(b"#")]
    if not lines:
        raise ValueError("no lines")
    counts = {mark: lines[0].count(mark) for mark in (b",", b";", b"\t")}
    best = max(counts, key=counts.get)
    if counts[best] == 0 and len(lines[0].split()) > 1 and len(lines) > 1 and len(lines[1].split()) == len(lines[0].split()):
        return {"whitespace": True, "comment": comment}
    return {"delimiter": best.decode() if counts[best] else ",", "comment": comment}


def in_utf8(path):
    """The same file, or a copy in UTF-8 where it is none: names and words are compared as text."""
    with (gzip.open if path.endswith(".gz") else open)(path, "rb") as file:
        data = file.read()
    try:
        data.decode("utf-8")
        return path
    except UnicodeDecodeError:
        if b"\0" in data:
            return path
    copy = tempfile.NamedTemporaryFile(suffix=".csv")
    copy.write(data.decode("latin-1").encode("utf-8"))
    copy.flush()
    in_utf8.copy = copy  # until the next one
    return copy.name


def expect_words(name, values, words, column):
    """A column of words, row by row. Blanks round a word without quotes are pandas' own; numbers come in the order of first appearance."""
    theirs = column.where(~column.str.strip(" \t").isin(["", "?"]), None)
    for row, (value, word) in enumerate(zip(values, theirs)):
        ours = None if np.isnan(value) else words[int(value)]
        if pd.isna(word) != (ours is None) or (ours is not None and ours.strip(" \t") != word.strip(" \t")):
            raise Different(f"words of {name}: row {row} is {ours!r}, not {word!r}")
    seen = values[~np.isnan(values)]
    if list(pd.unique(seen)) != list(range(len(words))):
        raise Different(f"words of {name}: numbered in another order than they come")


def compare_csv(reader, path):
    path = in_utf8(path)

    def table():
        how = dialect_of(path)
        options = dict(sep=r"\s+" if how.get("whitespace") else how["delimiter"], comment=how["comment"], na_values=["?"], skipinitialspace=True,
                       float_precision="round_trip")
        frame = pd.read_csv(path, **options)
        text = pd.read_csv(path, dtype=str, **options)
        return how, frame, text

    theirs = attempt(table)
    if isinstance(theirs, Exception):
        ours = reader.call("csv", path)
        if "error" in ours or "crash" in ours:
            return settle("csv", ours, theirs)
        return "read by tandem alone"
    how, frame, text = theirs
    words = [name for name in frame.columns if not pd.api.types.is_numeric_dtype(frame[name]) or pd.api.types.is_bool_dtype(frame[name])]
    ours = reader.call("csv", path, categories=[name.strip() for name in words], **{key: value for key, value in how.items() if value})
    both = settle("csv", ours, theirs)
    if both:
        return both
    if not isinstance(frame.index, pd.RangeIndex):
        raise Different("pandas takes a column for an index")
    names = [name.strip() for name in frame.columns]
    if ours["more"]["names"] != names:
        raise Different(f"names {ours['more']['names']}, not {names}")
    values = ours["tensors"][0]["values"]
    if values.shape != frame.shape:
        raise Different(f"sizes {values.shape}, not {frame.shape}")
    for i, name in enumerate(frame.columns):
        if name in words:
            expect_words(name, values[:, i], ours["more"]["categories"][name.strip()], text[name])
        else:
            expect_equal(name, values[:, i], frame[name].to_numpy(dtype=np.float64))
    return "equal"


# --- Deciding

def attempt(read):
    try:
        return read()
    except Exception as error:  # whatever another program throws, it has refused the file
        return error


def settle(reader, ours, theirs):
    """What became of a file that one of both has refused; None where both have read it."""
    if "crash" in ours:
        raise Different(ours["crash"])
    if "error" in ours:
        if not re.match(r"\[\w+\] ", ours["error"]) or "\n" in ours["error"]:
            raise Different(f"an error of another form: {ours['error']}")
        if isinstance(theirs, Exception):
            return "refused by both"
        for rule_reader, pattern, why in RULES:
            if rule_reader == reader and re.search(pattern, ours["error"]):
                return f"rule: {why}"
        raise Different(f"refused: {ours['error']}")
    if isinstance(theirs, Exception):
        if reader in ("npy", "npz") and "allow_pickle" in str(theirs):
            raise Different("objects are read")
        return "read by tandem alone"
    return None


KINDS = {"png": compare_image, "jpg": compare_image, "jpeg": compare_image, "jpe": compare_image, "jfif": compare_image, "npy": compare_npy,
         "npz": compare_npz, "safetensors": compare_safetensors, "csv": compare_csv, "tsv": compare_csv, "dat": compare_csv,
         "tab": compare_csv, "csv.gz": compare_csv, "tsv.gz": compare_csv}
# Any other file is given to all readers: each must say what is wrong with it.
ALL_READERS = ("image", "npy", "npz", "safetensors", "idx")


def kind_of(path):
    return next((ending for ending in KINDS if path.lower().endswith("." + ending)), None)


def compare(reader, path):
    kind = kind_of(path)
    if kind:
        return kind.split(".")[0], KINDS[kind](reader, path)
    for each in ALL_READERS:
        answer = reader.call(each, path)
        if "crash" in answer or ("error" in answer and (not re.match(r"\[\w+\] ", answer["error"]) or "\n" in answer["error"])):
            raise Different(f"{each}: {answer}")
        if "error" not in answer and each != "image":
            raise Different(f"{each} reads it")
    return "others", "refused by both"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("folders", nargs="*")
    parser.add_argument("--sample", metavar="FOLDER")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--others", type=int, default=1000, metavar="N", help="at most N files of kinds that nothing here reads")
    options = parser.parse_args()
    folders = list(options.folders)
    if options.sample:
        sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
        sys.dont_write_bytecode = True
        import sample

        sample.write(options.sample)
        folders.append(options.sample)
    reader = Reader(options.program)
    counts = collections.defaultdict(collections.Counter)
    reasons, different = collections.Counter(), []
    for folder in folders:
        for root, _, names in os.walk(folder):
            for name in sorted(names):
                path = os.path.join(root, name)
                if not os.path.isfile(path) or os.path.getsize(path) > MOST_BYTES:
                    continue
                if kind_of(path) is None and sum(counts["others"].values()) >= options.others:
                    continue
                try:
                    kind, result = compare(reader, path)
                except Different as error:
                    kind, result = name.lower().rsplit(".", 1)[-1], "DIFFERENT"
                    different.append(f"{path}: {error}")
                    print(f"DIFFERENT  {different[-1]}", flush=True)
                if result.startswith("rule: "):
                    reasons[f"{kind}: {result[6:]}"] += 1
                    if options.list:
                        print(f"{path}: {result}")
                    result = "refused, by a rule"
                elif options.list and result not in ("equal", "DIFFERENT") and kind != "others":
                    print(f"{path}: {result}")
                counts[kind][result] += 1
    columns = ["equal", "refused by both", "refused, by a rule", "read by tandem alone", "DIFFERENT"]
    print(f"{'kind':<14}" + "".join(f"{column:>22}" for column in columns))
    total = collections.Counter()
    for kind in sorted(counts):
        print(f"{kind:<14}" + "".join(f"{counts[kind][column]:>22}" for column in columns))
        total.update(counts[kind])
    print(f"{'all':<14}" + "".join(f"{total[column]:>22}" for column in columns))
    for reason, count in reasons.most_common():
        print(f"{count:>6}  {reason}")
    print(f"compared with NumPy {np.__version__}, pandas {pd.__version__}, PIL {PIL.__version__}, safetensors {safetensors.__version__}")
    if different:
        print(f"{len(different)} files are different")
    if sum(total.values()) == 0:
        print("compare.py: there is no file in these folders")
    return 1 if different or sum(total.values()) == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
