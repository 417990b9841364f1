"""The docs of the C++ interface in Python's words: docs(), for the stubs and the pages of the reference."""

import re

# In the headers these lean on the declaration above them; here they stand alone.
OWN = {
    "amax": "The largest element along dimensions; gradients go in equal parts to all that tie. As torch.amax.",
    "amin": "The smallest element along dimensions; gradients go in equal parts to all that tie. As torch.amin.",
    "baddbmm": "beta * input + alpha * batch1 batch2, a product of matrices for each batch: (b, n, k) by (b, k, m).",
    "binary_cross_entropy_with_logits": "The binary cross entropy of sigmoid(input), computed without it.",
    "bucketize": "Between which two of the ascending `boundaries` each value lies, as an index. As torch.bucketize.",
    "dropout_": "dropout in place.",
    "group_norm": "Normalized over groups of channels of (N, C, …); weight and bias are (C). As torch.nn.functional.group_norm.",
    "gru": "A recurrent network of gated units over a sequence. As torch.gru.",
    "rnn_relu": "A recurrent network of plain cells with relu over a sequence. As torch.rnn_relu.",
    "rnn_tanh": "A recurrent network of plain cells with tanh over a sequence. As torch.rnn_tanh.",
    "solve_triangular": "X of A X = B for a triangular A; the other triangle is not read, nor, with `unitriangular`, the diagonal of ones.",
    "tile": "Copies side by side, so many along each dimension; fewer numbers than dimensions stand for the last ones. As torch.tile.",
    "triu_indices": "Rows and columns, sizes (2, count), of a matrix's elements on and above the diagonal `offset`. As torch.triu_indices.",
    "where": "The first where condition is true, else the second; of a condition alone its places, a vector a dimension. As torch.where.",
}
# What C++ writes otherwise than Python, wherever it stands.
RULES = [
    (r"\bstd::vector<(\w+)>", r"list of \1"),
    (r"\bstd::(?:nullopt|nullptr)\b|\bnullptr\b", "None"),
    (r"\bstd::span<(?:const )?(\w+)>", r"list of \1"),
    (r"\bstd::(\w+)", r"\1"),
    (r"(?<==)( ?)(true|false)\b", lambda found: found[1] + found[2].capitalize()),
    (r"`(true|false)`", lambda found: f"`{found[1].capitalize()}`"),
    (
        r"\{\.([^{}]*)\}",
        lambda found: re.sub(r"(?:^|, )\.?(\w+) = ", lambda field: field[0].replace(".", "").replace(" = ", "="), found[1]),
    ),
    (r"\{([^{}]*)\}", r"(\1)"),
    (r"\bk(Float|BFloat|Int|UInt)(\d+)\b", lambda found: found[1].lower() + found[2]),
    (r"\bkBool\b", "bool"),
    (r"\btd::", ""),
    (r"\b(\w+)::(?=\w)", r"\1."),
    (r"\bNoGradGuard\b", "no_grad()"),
]
# C++'s names of tensors, where they stand without backticks: "a" is an article, too, and (b, n, k) are sizes.
BARE = {
    "x": r"(?<![\w.`])x(?![\w`(])",
    "a": r"(?<![\w.`])a(?=\s*[-+*/^&|<>=!)\],\[]| (?:raised|with|is|rounded|and) | b\b|\.$|\. )",
    "b": r"(?<![\w.`])b(?![\w`(]|, [nk]\b)",
}


def docs(text, forms=()):
    """A doc of the C++ interface; the parameters of these forms by the names that Python gives them."""
    own = OWN.get(forms[0].function["name"]) if forms else None
    if own:
        return own
    for pattern, instead in RULES:
        text = re.sub(pattern, instead, text)
    names = {"x": "self", "a": "self"} if any(form.method for form in forms) else {}
    for form in forms:
        if form.method and len(form.slots) > 1 and form.slots[1].kind in ("Tensor", "Operand"):
            names["b"] = form.slots[1].name  # the doc is often the function's
        names |= {parameter["name"]: form.python_name(parameter["name"]) for parameter in form.function["parameters"]}
    text = re.sub(r"`(\w+)`", lambda found: f"`{names.get(found[1], found[1])}`", text)
    for name, pattern in BARE.items():
        text = re.sub(pattern, names.get(name, name), text)
    return text
