"""The machine of python/compare without PyTorch: its tables, its sorting of two answers, and its workers when one dies."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python" / "compare"))

import expressions  # noqa: E402
import inputs  # noqa: E402
import sorting  # noqa: E402
import workers  # noqa: E402


def tensor(values, dtype="torch.float32", stride=(1,), grad_fn=None, shape=None, memory="own"):
    return {
        "is": "tensor",
        "class": "Tensor",
        "shape": shape or [len(values)],
        "dtype": dtype,
        "stride": list(stride),
        "requires_grad": grad_fn is not None,
        "grad_fn": grad_fn,
        "memory": memory,
        "values": [repr(v) for v in values],
    }


def error(kind, text):
    return {"raises": kind, "text": text}


class Tables(unittest.TestCase):
    def test_parts_and_counts(self):
        parts = {
            "pointwise",
            "binary",
            "reductions",
            "shapes",
            "gathering",
            "products",
            "creation",
            "functional",
            "linalg",
            "special",
            "methods",
            "properties",
            "arguments",
            "out",
            "inplace",
            "gradients",
            "indexing",
            "operators",
            "printing",
            "conversions",
            "promotion",
            "sharing",
        }
        self.assertEqual(set(expressions.parts()), parts)
        every = expressions.expressions()
        self.assertGreater(len(every), 90_000)
        self.assertEqual(len({text for _, text in every}), len(every))
        self.assertEqual(every, expressions.expressions())

    def test_all_are_expressions_of_python(self):
        for _, text in expressions.expressions():
            compile(text, text, "eval")

    def test_splitting_of_arguments(self):
        self.assertEqual(
            expressions.split_arguments("f23, (1, 2), [0, 1], 'a,b', x=(3, 4)"), ["f23", "(1, 2)", "[0, 1]", "'a,b'", "x=(3, 4)"]
        )
        self.assertEqual(expressions.split_arguments(""), [])

    def test_crossing(self):
        found = list(expressions.crossed("X, D"))
        self.assertEqual(len(found), len(expressions.stands_for("X")) * len(expressions.stands_for("D")))
        self.assertEqual(found[0], "f23, 0")
        self.assertEqual(expressions.base("X, X, Y"), "f23, f23, f23x")


class Inputs(unittest.TestCase):
    def test_names(self):
        self.assertTrue(all(map(inputs.is_input, ("f23", "i_", "b0", "f23t", "d33s", "f23pg"))))
        self.assertFalse(any(map(inputs.is_input, ("torch", "f", "x23", "float"))))

    def test_tensors(self):
        import tandem

        self.assertEqual(inputs.make(tandem, "f23t").stride(), (1, 2))
        self.assertEqual(inputs.make(tandem, "f23e").stride(), (0, 1))
        self.assertEqual(inputs.make(tandem, "i3z").tolist(), [0, 1, 0])
        self.assertEqual(inputs.make(tandem, "u_").dtype, tandem.uint8)
        self.assertTrue(inputs.make(tandem, "f23g").requires_grad)
        square = inputs.make(tandem, "f33s")
        self.assertEqual(square.tolist(), square.T.tolist())


class Sorting(unittest.TestCase):
    def kind(self, peer, ours):
        return sorting.compare(peer, ours)

    def test_values(self):
        self.assertEqual(self.kind(tensor([1.0, float("nan")]), tensor([1.0, float("nan")])), "same")
        self.assertEqual(self.kind(tensor([1.0]), tensor([1.000001])), "values within tolerance")
        self.assertEqual(self.kind(tensor([1.0]), tensor([1.1])), "other values")
        self.assertEqual(self.kind(tensor([1.0]), tensor([float("nan")])), "other values")
        self.assertEqual(self.kind(tensor([0.0]), tensor([-0.0])), "values within tolerance")
        self.assertEqual(self.kind(tensor([1], "torch.int64"), tensor([2], "torch.int64")), "other values")

    def test_what_is_told_of_a_tensor(self):
        self.assertEqual(self.kind(tensor([1.0]), tensor([1.0], "torch.float64")), "other dtype")
        self.assertEqual(self.kind(tensor([1.0]), tensor([1.0], shape=[1, 1], stride=(1, 1))), "other shape")
        self.assertEqual(self.kind(tensor([1.0, 2.0]), tensor([1.0, 2.0], stride=(2,))), "other stride")
        self.assertEqual(self.kind(tensor([1.0]), tensor([1.0], stride=(7,))), "same")  # one element: the stride reaches nothing
        self.assertEqual(self.kind(tensor([1.0], grad_fn="A"), tensor([1.0], grad_fn="B")), "other grad_fn")
        self.assertEqual(self.kind(tensor([1.0]), {"is": "int", "value": "1"}), "other kind")
        self.assertEqual(self.kind(tensor([1.0]), tensor([1.0], memory="f1")), "other memory")
        self.assertEqual(self.kind(tensor([], shape=[0]), tensor([], shape=[0], memory="f0")), "same")  # there is nothing to share
        pair = {"is": "tuple", "items": [tensor([1.0]), tensor([2.0])]}
        self.assertEqual(self.kind(pair, pair), "same")
        self.assertEqual(self.kind(pair, {"is": "tuple", "items": [tensor([1.0])]}), "other shape")

    def test_errors(self):
        wanted = error("RuntimeError", "sizes do not match")
        self.assertEqual(self.kind(wanted, wanted), "same")
        self.assertEqual(self.kind(wanted, error("RuntimeError", "sizes do not match: [2] and [3]; reshape one")), "same")
        self.assertEqual(self.kind(wanted, error("RuntimeError", "something else")), "same class other text")
        self.assertEqual(self.kind(wanted, error("ValueError", "sizes do not match")), "other class")
        self.assertEqual(self.kind(tensor([1.0]), wanted), "only tandem raises")
        self.assertEqual(self.kind(wanted, tensor([1.0])), "only PyTorch raises")
        self.assertEqual(self.kind(tensor([1.0]), error("AttributeError", "module 'torch' has no attribute 'foo'")), "missing")
        self.assertEqual(self.kind(tensor([1.0]), {"crash": "ended by SIGSEGV"}), "crash")

    def test_known_differences(self):
        self.assertTrue(all(reason.endswith(".") for *_, reason in sorting.rules()))
        kind, reason = sorting.sort("f23 * 1j", tensor([1.0], "torch.complex64"), error("TypeError", "unsupported operand"))
        self.assertEqual((kind, reason), ("known", "There are no complex dtypes."))


class Memory(unittest.TestCase):
    def test_whose_it_is(self):
        texts = ["f23", "f23.T", "f23[:, 1:]", "f23 + f23", "f23.data", "f23.split(1)", "f23.copy_(f23x)", "f0.data"]
        told = [answer.get("memory", "parts") for answer in workers.run(sys.executable, "tandem", texts)]
        self.assertEqual(told, ["f23 itself", "f23", "f23", "own", "f23", "parts", "f23 itself", None])


class Workers(unittest.TestCase):
    def test_answers(self):
        texts = ["torch.tensor([1.5, 2]) + 1", "f23.sum(7)", "f23 +", "(f4 * 2).shape", "torch.float32"]
        answers = workers.run(sys.executable, "tandem", texts)
        self.assertEqual((answers[0]["values"], answers[0]["dtype"]), (["2.5", "3.0"], "torch.float32"))
        self.assertEqual(answers[1]["raises"], "IndexError")
        self.assertIn("the table is wrong", answers[2]["text"])
        self.assertEqual(answers[3], {"is": "Size", "value": "torch.Size([4])"})
        self.assertEqual(answers[4]["value"], "torch.float32")

    def test_another_worker_goes_on_after_one_that_died(self):
        texts = ["1 + 1", "__import__('os').abort()", "2 + 2", "__import__('os')._exit(3)", "3 + 3"]
        answers = workers.run(sys.executable, "tandem", texts)
        self.assertEqual([answer.get("value") for answer in answers], ["2", None, "4", None, "6"])
        self.assertEqual(answers[1], {"crash": "ended by SIGABRT"})
        self.assertIn("ended with 3", answers[3]["crash"])

    def test_each_expression_begins_anew(self):
        texts = ["f23.add_(1)", "f23", "torch.set_default_dtype(torch.float64)", "torch.zeros(1).dtype", "torch.rand(1)", "torch.rand(1)"]
        answers = workers.run(sys.executable, "tandem", texts)
        self.assertNotEqual(answers[0]["values"], answers[1]["values"])
        self.assertEqual(answers[3]["value"], "torch.float32")
        self.assertEqual(answers[4]["values"], answers[5]["values"])


if __name__ == "__main__":
    unittest.main()
