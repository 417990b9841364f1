"""Writes tokenizers/*.json, for tokenizer_test.cpp: small tokenizers of each kind, and what the package `tokenizers` makes of texts."""

import json
import pathlib
import random

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, processors, trainers

LLAMA3 = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
QWEN2 = LLAMA3.replace("{1,3}", "")
CORPUS = [
    "The quick brown fox jumps over the lazy dog. It's what they've done, isn't it? I'll say we're there, and they'd know I'm here.",
    "In the year 2024 there were 1,234,567 of them; 42 were left in 1999.\n\n    indented text\n\tand a tab\r\nand another line\r\n",
    "Größe, naïve café, señor, Łódź, Ελληνικά κείμενο, русский текст, 日本語の文章です, 中文文本, 한국어 문장, हिन्दी पाठ, עברית",
    "def f(x):\n    return [i ** 2 for i in range(x) if i % 2 == 0]\n\n\nprint(f(10))  # => [0, 4, 16, 36, 64]\n",
    "hello hello hello world world the the the then there their they them this that these those",
]  # fmt: skip
TEXTS = [
    "", " ", "  ", "   ", "a", " a", "  a", "hello world", "Hello, World!", "hello  world", "hello   world  ", "\n", "\n\n", "a\nb", "a\n\nb",
    "a \n b", "a\r\nb", "\r\n\r\n  x", "  \n  \n  y", "\t\tx", "x\t", "it's they've I'll we're I'm they'd isn't", "IT'S THEY'VE I'LL 'S 'x '' 'll",
    "don't'stop", "'", "''s", " 's", "123", "1234567", "3.14159", "1,234,567", "x1y22z333w4444", "２０２４年", "½ ² Ⅷ ٣٤٥", "_under_score",
    "!!!", "?!...\n\n", "!!\r\n!!", " !x", "#include <map>\n", "naïve café", "Größe ÄÖÜ", "русский текст", "日本語の文章です。", "中文，文本",
    "한국어 문장", "हिन्दी पाठ", "עברית", "🙂👍🏽👨‍👩‍👧", "e\u0301 \u0301x", "a\u00a0b", "a\u00a0\u00a0b", "a\u2003\u2003b", "\u3000x", "a\u200bb", "\ufeffx",
    "tab\tand space \t mix", "trailing space ", "trailing newline\n", "   leading", "x" * 50, "the " * 30, "ab" * 40, "\x00\x01\x7f", "\u0085x",
    "<s>", "a<s>b", "<s><s>", " <s> ", "<s>hello</s>", "<s", "x <mask> y", "x  <mask>  y", "<mask>", "  <mask>", "<mask>\n z", "a<pad>b", "<pad_more>",
]  # fmt: skip


def trained(pre_tokenizer, vocabulary, special):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False, special_tokens=special
    )
    tokenizer.train_from_iterator(CORPUS, trainer)
    return tokenizer


def split(pattern):
    return pre_tokenizers.Sequence(
        [pre_tokenizers.Split(Regex(pattern), behavior="isolated"), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
    )


def sequence(*parts):
    return pre_tokenizers.Sequence(list(parts))


MASK = [AddedToken("<mask>", lstrip=True, rstrip=True, special=True), AddedToken("<pad>"), AddedToken("<pad_more>")]
kinds = {}
kinds["gpt2"] = trained(pre_tokenizers.ByteLevel(add_prefix_space=False), 420, ["<s>"])
kinds["spaced"] = trained(pre_tokenizers.ByteLevel(add_prefix_space=True), 400, ["<s>"])
kinds["spaced"].add_tokens(MASK[1:])
kinds["spaced"].add_special_tokens(MASK[:1])
kinds["llama3"] = trained(split(LLAMA3), 420, ["<s>", "</s>"])
kinds["llama3"].post_processor = processors.Sequence(
    [
        processors.ByteLevel(trim_offsets=False),
        processors.TemplateProcessing(single="<s> $A </s>", pair="<s> $A $B", special_tokens=[("<s>", 0), ("</s>", 1)]),
    ]
)
kinds["qwen2"] = trained(split(QWEN2), 400, [])
digits = sequence(pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False))
kinds["digits"] = trained(digits, 400, ["<s>"])

folder = pathlib.Path(__file__).with_name("tokenizers")
folder.mkdir(exist_ok=True)
random.seed(1)
pieces = "aZé1２½ \t\n\r\u00a0'sS.!字🙂\u0301"
texts = TEXTS + ["".join(random.choices(pieces, k=random.randint(1, 24))) for _ in range(100)]
cases = {"texts": texts, "tokens": {}}
for name, tokenizer in kinds.items():
    text = json.loads(tokenizer.to_str())
    if name == "llama3":  # which takes words that are tokens whole; a vocabulary's last words have no merges
        text["model"]["ignore_merges"] = True
        text["model"]["merges"] = text["model"]["merges"][:-20]
    if name == "gpt2":  # as older files write merges
        text["model"]["merges"] = [" ".join(merge) for merge in text["model"]["merges"]]
    text = json.dumps(text, ensure_ascii=False, separators=(",", ":"))
    (folder / f"{name}.json").write_text(text + "\n")
    tokenizer = Tokenizer.from_str(text)
    encoded = [tokenizer.encode(text).ids for text in texts]
    cases["tokens"][name] = {
        "encoded": encoded,
        "decoded": [tokenizer.decode(tokens[: 2 * len(tokens) // 3 + 1]) for tokens in encoded],
    }
(folder / "cases.json").write_text(json.dumps(cases, ensure_ascii=True, separators=(",", ":")) + "\n")
