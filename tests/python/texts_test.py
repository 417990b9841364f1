"""What errors, classes and small functions say, by PyTorch's words: constructors, attention, distributions, old tensors, seeds, names."""

import os
import pickle
import subprocess
import sys
import textwrap
import unittest

import tandem
from tandem import distributions, nn


class Constructors(unittest.TestCase):
    def test_errors_about_arguments_name_the_layer(self):
        for layer, text in (
            (nn.Conv2d, "Conv2d.__init__() missing 3 required positional arguments: 'in_channels', 'out_channels', and 'kernel_size'"),
            (nn.ZeroPad2d, "ZeroPad2d.__init__() missing 1 required positional argument: 'padding'"),
            (nn.AvgPool3d, "AvgPool3d.__init__() missing 1 required positional argument: 'kernel_size'"),
            (nn.LazyConv1d, "LazyConv1d.__init__() missing 2 required positional arguments: 'out_channels' and 'kernel_size'"),
            (nn.MaxPool2d, "_MaxPoolNd.__init__() missing 1 required positional argument: 'kernel_size'"),
        ):
            with self.subTest(layer.__name__), self.assertRaises(TypeError) as caught:
                layer()
            self.assertEqual(str(caught.exception), text)
        with self.assertRaisesRegex(TypeError, r"^Module\.load_state_dict\(\) missing 1 required positional argument: 'state_dict'"):
            nn.Linear(1, 1).load_state_dict()

    def test_a_layer_below_such_a_layer_is_made_as_before(self):
        class Wide(nn.Conv2d):
            def __init__(self, channels):
                super().__init__(channels, 2 * channels, 3, padding=1)

        self.assertEqual(Wide(2)(tandem.ones(1, 2, 4, 4)).shape, (1, 4, 4, 4))
        self.assertEqual(nn.LazyConv2d(5, 2)(tandem.ones(1, 3, 4, 4)).shape, (1, 5, 3, 3))

    def test_what_is_no_module_is_named(self):
        with self.assertRaisesRegex(TypeError, r"modules\.activation\.ReLU is not a Module subclass"):
            nn.Sequential(nn.ReLU)
        with self.assertRaisesRegex(TypeError, "^int is not a Module subclass"):
            nn.Sequential(3)
        with self.assertRaisesRegex(AttributeError, "^'int' object has no attribute 'detach'"):
            nn.Parameter(3)

    def test_sizes_of_layers(self):
        with self.assertRaisesRegex(ValueError, "input_size must be greater than zero"):
            nn.LSTM(0, 4)
        query = tandem.ones(2, 3)
        with self.assertRaisesRegex(AssertionError, "was expecting embedding dimension of 4, but got 3"):
            nn.MultiheadAttention(4, 2)(query, query, query)


class Distributions(unittest.TestCase):
    def test_parameters_that_are_computed_are_checked(self):
        for make, name in (
            (lambda: distributions.Chi2(tandem.tensor(-1.0)), "df"),
            (lambda: distributions.HalfNormal(-1.0), "scale"),
            (lambda: distributions.HalfCauchy(tandem.tensor([1.0, -1.0])), "scale"),
        ):
            with self.subTest(name), self.assertRaisesRegex(ValueError, rf"Expected parameter {name} \(Tensor of shape .*GreaterThan"):
                make()
        self.assertEqual(distributions.Chi2(tandem.tensor(3.0)).mean.item(), 3.0)
        distributions.HalfNormal(-1.0, validate_args=False)


class Operations(unittest.TestCase):
    def test_what_errors_begin_with(self):
        x = tandem.arange(12.0).reshape(3, 4)
        for error, text, call in (
            (IndexError, "index 9 is out of bounds for dimension 1 with size 4", lambda: x[0, 9]),
            (IndexError, "index 9 is out of bounds for dimension 1 with size 4", lambda: x[:, 9]),
            (ValueError, r"torch.cat\(\): expected a non-empty list of Tensors", lambda: tandem.cat([])),
            (RuntimeError, "torch.clamp: At least one of 'min' or 'max' must not be None", x.clamp),
            (RuntimeError, r"permute\(\): duplicate dims are not allowed", lambda: x.permute(0, 0)),
            (RuntimeError, "tril: input tensor must have at least 2 dimensions", x[0].tril),
            (RuntimeError, "triu: input tensor must have at least 2 dimensions", x[0].triu),
            (RuntimeError, "mm: mat2 must be a matrix, got 1-D tensor", lambda: tandem.mm(x, x[0])),
            (RuntimeError, "mat1 and mat2 must have the same dtype, but got Double and Float", lambda: nn.Linear(4, 2)(x.double())),
            (RuntimeError, "expected m1 and m2 to have the same dtype, but got", lambda: tandem.mm(x, x.T.double())),
            (
                RuntimeError,
                r"Given input size: \(1x2x2\). Calculated output size: \(1x0x0\). Output size is too small",
                lambda: nn.functional.max_pool2d(tandem.ones(1, 1, 2, 2), 3),
            ),
            (
                RuntimeError,
                r"Calculated padded input size per channel: \(2 x 2\). Kernel size: \(3 x 3\). Kernel size can't be greater than actual",
                lambda: nn.functional.conv2d(tandem.ones(1, 3, 2, 2), tandem.ones(2, 3, 3, 3)),
            ),
            (RuntimeError, r"Given normalized_shape=\[5\], expected input with shape \[\*, 5\], but got input of size\[2, 3\]", lambda: nn.LayerNorm(5)(tandem.ones(2, 3))),
            (RuntimeError, "masked_select: expected BoolTensor for mask", lambda: x.masked_select(x)),
            (RuntimeError, "where expected condition to be a boolean tensor", lambda: tandem.where(x, x, x)),
            (RuntimeError, r"einsum\(\): subscript j has size 4", lambda: tandem.einsum("ij,jk->ik", x, x)),
            (tandem.linalg.LinAlgError, "linalg.inv: The diagonal element 1 is zero", lambda: tandem.linalg.inv(tandem.zeros(2, 2))),
            (tandem.linalg.LinAlgError, "linalg.cholesky: The factorization could not be completed", lambda: tandem.linalg.cholesky(-tandem.eye(2))),
        ):
            with self.subTest(text), self.assertRaisesRegex(error, f"^{text}"):
                call()


class Tensors(unittest.TestCase):
    def test_conjugate_transpose(self):
        x = tandem.arange(6.0).reshape(2, 3)
        self.assertEqual(x.H.tolist(), [[0, 3], [1, 4], [2, 5]])
        self.assertEqual(tandem.tensor(2.0).H.item(), 2.0)
        with self.assertRaisesRegex(RuntimeError, r"tensor\.H is only supported on matrices \(2-D tensors\)\. Got 1-D tensor\.$"):
            tandem.ones(2).H
        with self.assertRaisesRegex(RuntimeError, "Got 3-D tensor. For batches of matrices, consider using tensor.mH$"):
            tandem.ones(2, 3, 4).H

    def test_product_of_all_in_another_dtype(self):
        x = tandem.full((4,), 3, dtype=tandem.uint8)
        self.assertEqual(x.prod(dtype=tandem.float64).item(), 81.0)
        self.assertIs(x.prod(dtype=tandem.float64).dtype, tandem.float64)
        self.assertEqual(x.prod(0, True, dtype=tandem.int32).tolist(), [81])
        self.assertEqual(tandem.ones(2, 3).prod(dim=1).tolist(), [1, 1])
        with self.assertRaisesRegex(TypeError, "^prod"):
            x.prod(dim=None)

    def test_old_constructors_refuse_a_fraction(self):
        for make in (tandem.Tensor, tandem.FloatTensor):
            with self.assertRaisesRegex(TypeError, r"new\(\): data must be a sequence \(got float\)"):
                make(2.5)
        self.assertEqual(tandem.Tensor(2).shape, (2,))

    def test_pickles_name_no_class_for_a_plain_tensor(self):
        text = pickle.dumps(tandem.arange(3))
        self.assertNotIn(b"Tensor", text)
        self.assertEqual(pickle.loads(text).tolist(), [0, 1, 2])

    def test_sums_by_an_equation_need_an_operand(self):
        with self.assertRaisesRegex(ValueError, r"einsum\(\): must specify the equation string and at least one operand"):
            tandem.einsum("ij,jk->ik")

    def test_names_of_classes_and_functions(self):
        self.assertTrue(tandem.typename(nn.ReLU).endswith("nn.modules.activation.ReLU"))
        self.assertEqual(tandem.typename(3), "int")
        self.assertEqual(tandem.typename(nn.ReLU()), tandem.typename(nn.ReLU))


class Settings(unittest.TestCase):
    def test_what_settings_take(self):
        with self.assertRaisesRegex(TypeError, r"argument 'mode' \(position 1\) must be bool, not str"):
            tandem.use_deterministic_algorithms("on")
        with self.assertRaisesRegex(TypeError, r"Use torch\.iinfo to handle 'torch\.finfo'"):
            tandem.finfo(tandem.int32)
        with self.assertRaisesRegex(TypeError, r"Use torch\.finfo to handle 'torch\.iinfo'"):
            tandem.iinfo(tandem.float32)
        self.assertIs(tandem.get_autocast_dtype("cpu"), tandem.bfloat16)
        with self.assertRaisesRegex(TypeError, "must be either a Tensor or a tuple of Tensors .* has type <class 'int'>"):
            tandem.autograd.functional.jacobian(lambda x: 3, tandem.ones(2))
        self.assertIn("(distance_function): PairwiseDistance()", repr(nn.TripletMarginWithDistanceLoss()))


class Seeds(unittest.TestCase):
    def test_the_default_generator_and_the_module_agree(self):
        generator = tandem.default_generator
        tandem.manual_seed(5)
        self.assertEqual((tandem.initial_seed(), generator.initial_seed()), (5, 5))
        generator.manual_seed(7)
        self.assertEqual((tandem.initial_seed(), tandem.random.initial_seed()), (7, 7))
        seed = generator.seed()
        self.assertEqual(tandem.initial_seed(), seed)
        seed = tandem.seed()
        self.assertEqual((tandem.initial_seed(), generator.initial_seed()), (seed, seed))
        tandem.manual_seed(0)


class ClassNames(unittest.TestCase):
    """Under torch_compat classes have PyTorch's names; each in a process of its own."""

    def run_program(self, text, *before):
        done = subprocess.run(
            [sys.executable, *before, "-c", textwrap.dedent(text)],
            capture_output=True, text=True, timeout=120, env=os.environ | {"TANDEM_QUIET": "1"},
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.splitlines()

    def test_torch_compat(self):
        shown = self.run_program("""
            import inspect, pickle, tandem.torch_compat, torch
            from torch import nn
            print(type(nn.Linear(2, 2)), torch.optim.SGD, nn.Parameter, torch.no_grad, torch.finfo, sep="\\n")
            print(torch.distributions.Normal, torch.utils.data.TensorDataset, sep="\\n")
            print(inspect.getsource(nn.Linear).startswith("class Linear"), inspect.getsource(torch.distributions.Normal)[:12])
            model = pickle.loads(pickle.dumps(nn.Linear(2, 3)))
            print(model, b"torch.nn.modules.linear" in pickle.dumps(model))
            try:
                torch.linalg.inv(torch.zeros(2, 2))
            except torch.linalg.LinAlgError as error:
                print(type(error))
            print(torch.OutOfMemoryError, nn.Linear is tandem.nn.Linear, tandem.train.Trainer)
        """)
        self.assertEqual(shown, [
            "<class 'torch.nn.modules.linear.Linear'>",
            "<class 'torch.optim.sgd.SGD'>",
            "<class 'torch.nn.parameter.Parameter'>",
            "<class 'torch.autograd.grad_mode.no_grad'>",
            "<class 'torch.finfo'>",
            "<class 'torch.distributions.normal.Normal'>",
            "<class 'torch.utils.data.dataset.TensorDataset'>",
            "True class Normal",
            "Linear(in_features=2, out_features=3, bias=True) True",
            "<class 'torch._C._LinAlgError'>",
            "<class 'torch.OutOfMemoryError'> True <class 'tandem.train.trainer.Trainer'>",
        ])

    def test_files_go_from_one_to_the_other(self):
        import tempfile

        with tempfile.TemporaryDirectory() as folder:
            ways = [("import tandem.torch_compat, torch", "compat"), ("import tandem as torch", "plain")]
            for (write, _), (read, name) in (ways, ways[::-1]):
                path = os.path.join(folder, name)
                self.run_program(f"""
                    {write}
                    import pickle
                    torch.save(torch.nn.Linear(2, 3), {path!r})
                    pickle.dump([torch.ones(2), torch.nn.Parameter(torch.ones(1)), torch.float64], open({path + 'p'!r}, "wb"))
                """)
                shown = self.run_program(f"""
                    {read}
                    import pickle
                    print(torch.load({path!r}, weights_only=False))
                    with torch.serialization.safe_globals([torch.nn.Linear]):
                        print(torch.load({path!r}, weights_only=True).weight.shape == (3, 2))
                    tensor, parameter, dtype = pickle.load(open({path + 'p'!r}, "rb"))
                    print(tensor.tolist(), type(parameter) is torch.nn.Parameter, dtype is torch.float64)
                """)
                self.assertEqual(shown, ["Linear(in_features=2, out_features=3, bias=True)", "True", "[1.0, 1.0] True True"])


if __name__ == "__main__":
    unittest.main()
