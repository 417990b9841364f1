"""Data for PyTorch's C++ examples, made of the digits and of noise: example_data.py ROOT FOLDER [--images INFO COUNT].

FOLDER gets MNIST's four files, of their sizes: the digits that ship with tandem, enlarged, again and again. With --images, pictures in FOLDER/dataset under the names of
INFO's first lines of each class, and an info.txt of these.
"""

import argparse
import gzip
import pathlib
import random
import struct


def digits(root):
    """[(pixels of 28 x 28 as bytes, digit)]"""
    out = []
    with gzip.open(root / "src/data/digits.csv.gz", "rt") as file:
        for line in file:
            *pixels, digit = (int(float(cell)) for cell in line.strip().split(","))
            rows = []
            for y in range(8):
                row = bytes(2) + b"".join(bytes([min(255, 16 * pixels[8 * y + x])] * 3) for x in range(8)) + bytes(2)
                rows += [row] * 3
            out.append((bytes(56) + b"".join(rows) + bytes(56), digit))
    return out


def write_mnist(root, folder):
    folder.mkdir(parents=True, exist_ok=True)
    all_digits = digits(root)
    held_out = len(all_digits) // 5
    for name, count, of in (("train", 60000, all_digits[held_out:]), ("t10k", 10000, all_digits[:held_out])):
        chosen = [of[i % len(of)] for i in range(count)]
        (folder / f"{name}-images-idx3-ubyte").write_bytes(struct.pack(">4i", 2051, count, 28, 28) + b"".join(pixels for pixels, _ in chosen))
        (folder / f"{name}-labels-idx1-ubyte").write_bytes(struct.pack(">2i", 2049, count) + bytes(digit for _, digit in chosen))


def write_images(info, folder, count):
    """PPM files, whatever their names end in: OpenCV looks at the bytes."""
    lines = [line.split() for line in info.read_text().splitlines() if line.strip()]
    kept = []
    for path, label, kind in lines:
        if sum(1 for _, other, same in kept if other == label and same == kind) < count and int(label) < 4:
            kept.append((path, label, kind))
    random.seed(0)
    for path, label, _ in kept:
        file = folder / "dataset" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        colour = [(220, 40, 40), (40, 220, 40), (40, 40, 220), (200, 200, 40)][int(label)]
        noise = lambda c: max(0, min(255, c + random.randint(-30, 30)))
        file.write_bytes(b"P6 64 64 255\n" + b"".join(bytes(map(noise, colour)) for _ in range(64 * 64)))
    (folder / "info.txt").write_text("".join(" ".join(entry) + "\n" for entry in kept))
    print(len(kept), "pictures")


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("root", type=pathlib.Path)
parser.add_argument("folder", type=pathlib.Path)
parser.add_argument("--images", nargs=2, metavar=("INFO", "COUNT"))
options = parser.parse_args()
if options.images:
    write_images(pathlib.Path(options.images[0]), options.folder, int(options.images[1]))
else:
    write_mnist(options.root, options.folder)
