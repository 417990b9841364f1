"""Small files of the forms that the programs read, made by rule: no network is asked, and both sides read the same bytes."""

import random
import string
import struct
import zipfile

import numpy as np
from PIL import Image

WORDS = {
    "the": "le", "a": "un", "red": "rouge", "blue": "bleu", "old": "vieux", "small": "petit", "dog": "chien", "cat": "chat",
    "bird": "oiseau", "horse": "cheval", "traveller": "voyageur", "sees": "voit", "hears": "entend", "likes": "aime", "follows": "suit",
    "near": "pres", "behind": "derriere", "house": "maison", "river": "riviere", "garden": "jardin", "time": "temps"}
DETERMINERS, COLOURS = ("the", "a"), ("red", "blue", "old", "small")
NOUNS, VERBS = ("dog", "cat", "bird", "horse", "traveller"), ("sees", "hears", "likes", "follows")
PLACES = ("house", "river", "garden", "time")


def _sentence(chance):
    """A few words by a small grammar."""
    words = [chance.choice(DETERMINERS), chance.choice(NOUNS), chance.choice(VERBS), chance.choice(DETERMINERS)]
    if chance.random() < 0.5:
        words.append(chance.choice(COLOURS))
    words.append(chance.choice(NOUNS))
    if chance.random() < 0.3:
        words += [chance.choice(("near", "behind")), "the", chance.choice(PLACES)]
    return words


def _sentences(count, seed=0):
    chance = random.Random(seed)
    return [_sentence(chance) for _ in range(count)]


def _idx(folder, name, kind, sizes, values):
    (folder / name).write_bytes(struct.pack(f">HBB{len(sizes)}I", 0, kind, len(sizes), *sizes) + values.astype(np.uint8).tobytes())


def _labelled_pictures(folder, train, test):
    """Pictures of 28x28 in MNIST's form: each class has a bar and a spot at places of its own, under noise."""
    folder.mkdir(parents=True, exist_ok=True)
    chance = np.random.RandomState(0)
    for part, count in (("train", train), ("t10k", test)):
        labels = np.arange(count) % 10
        chance.shuffle(labels)
        pictures = chance.randint(0, 60, (count, 28, 28))
        for picture, label in zip(pictures, labels):
            picture[2 + 2 * label:5 + 2 * label, 4:24] += 150
            picture[4:24, 24 - 2 * label:26 - 2 * label] += 40
        _idx(folder, f"{part}-images-idx3-ubyte", 8, pictures.shape, pictures)
        _idx(folder, f"{part}-labels-idx1-ubyte", 8, labels.shape, labels)


def digits(folder):
    """MNIST's four files."""
    _labelled_pictures(folder, 640, 200)


def play(folder):
    """A text with speakers and all letters, for models of letters."""
    folder.mkdir(parents=True, exist_ok=True)
    speakers = ("FIRST", "SECOND", "THIRD")
    alphabet = "O God, O God!\n" + string.ascii_letters + "\n"
    (folder / "input.txt").write_text(alphabet + "\n".join(
        f"{speakers[i % 3]}:\n{' '.join(words).capitalize()}.\n" for i, words in enumerate(_sentences(600))))


def word_corpus(folder):
    """Text in lines, for models of words, in three parts."""
    folder.mkdir(parents=True, exist_ok=True)
    for seed, (part, count) in enumerate((("train", 500), ("valid", 60), ("test", 60))):
        (folder / f"{part}.txt").write_text("".join(f" {' '.join(words)} . \n" for words in _sentences(count, seed)))


def _photograph(seed, size):
    """Slopes and waves in three colours."""
    height, width = size
    rows, columns = np.mgrid[0:height, 0:width]
    channels = [127 + 60 * np.sin(rows / (7 + seed + c) + c) + 60 * np.cos(columns / (9 + 2 * seed + c)) for c in range(3)]
    return Image.fromarray(np.stack(channels, -1).clip(0, 255).astype(np.uint8))


def photographs(folder):
    """JPEG pictures for training and testing."""
    for part, count in (("train", 4), ("test", 2)):
        (folder / part).mkdir(parents=True, exist_ok=True)
        for i in range(count):
            _photograph(i, (321, 481)).save(folder / part / f"{i}.jpg")


def classes_of_photographs(folder):
    """A folder of pictures for each of two classes, for training and for testing."""
    for part in ("train", "val"):
        for label in range(2):
            (folder / part / f"class{label}").mkdir(parents=True, exist_ok=True)
            for i in range(4):
                _photograph(5 * label + i, (240, 260)).save(folder / part / f"class{label}" / f"{i}.png")


def style_network(folder):
    """A picture, and a program that saves the network of fast_neural_style without training."""
    _photograph(3, (60, 80)).save(folder / "content.jpg", quality=95)
    (folder / "untrained.py").write_text(
        "import sys\nimport torch\nsys.path.insert(0, 'neural_style')\nfrom transformer_net import TransformerNet\n"
        "torch.manual_seed(0)\nnetwork = TransformerNet()\ntorch.save(network.state_dict(), 'untrained.pth')\n"
        "print(network(torch.rand(1, 3, 24, 24)).mean().item())\n")


def citations(folder):
    """Papers with words and classes, and who cites whom, in Cora's form: most citations stay within a class."""
    folder.mkdir(parents=True, exist_ok=True)
    chance = np.random.RandomState(0)
    papers, words, classes = 2708, 35, 7
    labels = chance.randint(0, classes, papers)
    own = (np.arange(words) % classes)[None] == labels[:, None]
    marks = chance.random_sample((papers, words)) < np.where(own, 0.4, 0.08)
    (folder / "cora.content").write_text("".join(
        "\t".join([str(1000 + i), *map(str, row.astype(int)), f"Class_{label}"]) + "\n"
        for i, (row, label) in enumerate(zip(marks, labels))))
    pairs = []
    for paper in range(papers):
        fellows = np.flatnonzero(labels == labels[paper])
        pairs += [(paper, int(chance.choice(fellows))), (paper, int(chance.randint(papers)))]
    pairs = sorted({(a, b) for a, b in pairs if a != b})
    (folder / "cora.cites").write_text("".join(f"{1000 + a}\t{1000 + b}\n" for a, b in pairs))


def d2l(folder):
    """All that d2l's pages look for in ../data."""
    _labelled_pictures(folder / "FashionMNIST" / "raw", 32, 16)
    (folder / "timemachine.txt").write_text("".join(f"{' '.join(words)}\n" for words in _sentences(700)))
    pairs = [(words, [WORDS[w] for w in words]) for words in _sentences(900, 1)]
    with zipfile.ZipFile(folder / "fra-eng.zip", "w") as archive:
        archive.writestr("fra-eng/fra.txt", "".join(
            f"{' '.join(english).capitalize()}.\t{' '.join(french).capitalize()}\u202f.\n" for english, french in pairs))
    chance = np.random.RandomState(0)
    wings = chance.randn(1503, 6) * [3000, 5, 0.1, 15, 0.01, 7] + [3000, 7, 0.1, 50, 0.01, 125]
    np.savetxt(folder / "airfoil_self_noise.dat", wings, delimiter="\t", fmt="%.6g")
    _houses(folder)


def _houses(folder):
    """House prices in Kaggle's form: numbers, words and gaps."""
    chance = random.Random(0)
    for name, first, count in (("kaggle_house_pred_train.csv", 1, 200), ("kaggle_house_pred_test.csv", 1461, 100)):
        with open(folder / name, "w") as file:
            priced = "train" in name
            columns = "Id,MSSubClass,MSZoning,LotFrontage,LotArea,Street,YearBuilt,SaleType,SaleCondition"
            file.write(columns + (",SalePrice" if priced else "") + "\n")
            for i in range(count):
                area, year = chance.randint(2000, 20000), chance.randint(1900, 2010)
                row = [first + i, chance.choice((20, 60, 70)), chance.choice(("RL", "RM", "FV")),
                       chance.choice(("NA", chance.randint(30, 110))), area, chance.choice(("Pave", "Grvl")), year,
                       chance.choice(("WD", "New")), chance.choice(("Normal", "Abnorml"))]
                file.write(",".join(map(str, row + ([50000 + 8 * area + 400 * (year - 1900)] if priced else []))) + "\n")
