"""nn.Module: registration, attributes, walks, hooks, moving, copies and text."""

import copy
import pickle
import unittest
import warnings

import tandem as td
from tandem import nn


class Pair(nn.Module):
    """Two layers, a parameter, a buffer that is saved and one that is not."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(2, 3)
        self.scale = nn.Parameter(td.ones(3))
        self.register_buffer("count", td.zeros(1))
        self.register_buffer("cache", td.zeros(2), persistent=False)
        self.second = nn.Linear(3, 1, bias=False)

    def forward(self, x):
        return self.second(self.first(x) * self.scale)


class Stateful(nn.Module):
    """A module that pickles by its `__dict__`."""

    def __init__(self):
        super().__init__()
        self.note = "first"
        self.layer = nn.ReLU()
        self.scale = nn.Parameter(td.ones(2))
        self.register_buffer("count", td.zeros(1))

    def __getstate__(self):
        return self.__dict__.copy()

    def __setstate__(self, state):
        self.__dict__.update(state)
        self.note = "again"


def names(pairs):
    return [name for name, _ in pairs]


class Registration(unittest.TestCase):
    def test_order_of_parameters_is_own_first(self):
        self.assertEqual(names(Pair().named_parameters()), ["scale", "first.weight", "first.bias", "second.weight"])
        self.assertEqual(names(Pair().named_buffers()), ["count", "cache"])
        self.assertEqual(names(Pair().named_children()), ["first", "second"])
        self.assertEqual(names(Pair().named_modules()), ["", "first", "second"])

    def test_a_parameter_is_an_attribute_wherever_it_is_written(self):
        layer = nn.Linear(2, 2)
        other = nn.Parameter(td.ones(2, 2))
        layer._parameters["weight"] = other
        self.assertIs(layer.weight, other)
        layer.weight = nn.Parameter(td.zeros(2, 2))
        self.assertIs(layer._parameters["weight"], layer.weight)
        del layer._parameters["weight"]
        self.assertFalse(hasattr(layer, "weight"))
        layer.weight = td.ones(2, 2)  # now a plain attribute
        self.assertEqual(names(layer.named_parameters()), ["bias"])
        layer.bias = None
        self.assertIsNone(layer.bias)
        self.assertEqual(layer(td.ones(1, 2)).tolist(), [[2.0, 2.0]])

    def test_a_child_replaced_in_modules_is_the_attribute(self):
        net = Pair()
        net._modules["first"] = nn.Tanh()
        self.assertIsInstance(net.first, nn.Tanh)
        net._modules.pop("first")
        with self.assertRaisesRegex(AttributeError, "'Pair' object has no attribute 'first'"):
            net.first

    def test_a_name_changes_its_kind(self):
        module = nn.Module()
        module.x = 3
        module.x = nn.ReLU()
        self.assertEqual(names(module.named_children()), ["x"])
        module.x = nn.Parameter(td.ones(1))
        self.assertEqual(names(module.named_children()), [])
        self.assertEqual(names(module.named_parameters()), ["x"])
        del module.x
        self.assertEqual(list(module.state_dict()), [])

    def test_buffers_by_class(self):
        module = nn.Module()
        module.kept = nn.Buffer(td.ones(2))
        module.lost = nn.Buffer(td.ones(2), persistent=False)
        module.kept = td.zeros(2)
        self.assertEqual(list(module.state_dict()), ["kept"])
        self.assertEqual(module.kept.tolist(), [0.0, 0.0])
        self.assertEqual(names(module.named_buffers()), ["kept", "lost"])

    def test_wrong_values_are_refused(self):
        layer = nn.Linear(2, 2)
        with self.assertRaisesRegex(TypeError, r"cannot assign 'int' as parameter 'weight' \(torch.nn.Parameter or None expected\)"):
            layer.weight = 3
        with self.assertRaisesRegex(KeyError, "attribute 'weight' already exists"):
            layer.register_buffer("weight", td.ones(1))
        with self.assertRaisesRegex(TypeError, "cannot assign 'int' object to buffer 'q'"):
            layer.register_buffer("q", 3)
        with self.assertRaisesRegex(TypeError, "int is not a Module subclass"):
            layer.add_module("q", 4)
        with self.assertRaisesRegex(KeyError, "module name can.*t contain"):
            layer.add_module("a.b", nn.ReLU())

    def test_assignment_before_init(self):
        class Hasty(nn.Module):
            def __init__(self):
                self.layer = nn.ReLU()

        with self.assertRaisesRegex(AttributeError, r"cannot assign module before Module.__init__\(\) call"):
            Hasty()

    def test_by_dotted_name(self):
        net = Pair()
        self.assertIs(net.get_submodule("first"), net.first)
        self.assertIs(net.get_parameter("first.weight"), net.first.weight)
        self.assertIs(net.get_buffer("count"), net.count)
        net.set_submodule("first", nn.Identity())
        self.assertIsInstance(net.first, nn.Identity)
        with self.assertRaisesRegex(AttributeError, "Pair has no attribute `third`"):
            net.get_submodule("third.x")
        with self.assertRaisesRegex(AttributeError, "`count` is not an nn.Parameter"):
            net.get_parameter("count")

    def test_shared_parts_are_listed_once(self):
        layer = nn.Linear(2, 2)
        net = nn.Sequential(layer, layer)
        self.assertEqual(len(list(net.parameters())), 2)
        self.assertEqual(len(list(net.named_parameters(remove_duplicate=False))), 4)
        self.assertEqual(list(net.state_dict()), ["0.weight", "0.bias", "1.weight", "1.bias"])

    def test_forward_is_missing(self):
        with self.assertRaisesRegex(NotImplementedError, r'Module \[Module\] is missing the required "forward" function'):
            nn.Module()(1)


class Parameters(unittest.TestCase):
    def test_shares_memory_and_is_a_leaf(self):
        data = td.zeros(2)
        parameter = nn.Parameter(data)
        data.fill_(3)
        self.assertEqual(parameter.tolist(), [3.0, 3.0])
        self.assertTrue(parameter.requires_grad and parameter.is_leaf)
        self.assertFalse(nn.Parameter(data, requires_grad=False).requires_grad)
        self.assertNotIsInstance(parameter * 2, nn.Parameter)
        self.assertEqual(type(parameter.detach()), td.Tensor)

    def test_text(self):
        self.assertEqual(repr(nn.Parameter(td.ones(2))), "Parameter containing:\ntensor([1., 1.], requires_grad=True)")

    def test_copies(self):
        parameter = nn.Parameter(td.ones(2))
        first, second = copy.deepcopy([parameter, parameter])
        self.assertIs(first, second)
        self.assertIsNot(first, parameter)
        self.assertIsInstance(first, nn.Parameter)
        loaded = pickle.loads(pickle.dumps(parameter))
        self.assertIsInstance(loaded, nn.Parameter)
        self.assertEqual(loaded.tolist(), [1.0, 1.0])
        self.assertTrue(loaded.requires_grad)

    def test_identity_and_attributes(self):
        layer = nn.Linear(2, 2)
        layer.weight.tag = "mine"
        self.assertEqual(next(layer.parameters()).tag, "mine")
        self.assertIs(next(layer.parameters()), layer.weight)


class Copies(unittest.TestCase):
    def check_alike(self, net, twin):
        self.assertIsNot(net.first.weight, twin.first.weight)
        self.assertIs(twin.first.weight, twin.first._parameters["weight"])
        self.assertIs(twin.first, twin._modules["first"])
        self.assertIsInstance(twin.first.weight, nn.Parameter)
        self.assertTrue(td.equal(net(td.ones(1, 2)), twin(td.ones(1, 2))))
        twin.first.weight = nn.Parameter(td.zeros(3, 2))
        self.assertIs(twin.first._parameters["weight"], twin.first.weight)
        self.assertEqual(names(twin.named_parameters()), names(net.named_parameters()))

    def test_deepcopy(self):
        net = Pair()
        self.check_alike(net, copy.deepcopy(net))

    def test_pickle(self):
        net = Pair()
        self.check_alike(net, pickle.loads(pickle.dumps(net)))

    def test_state_by_a_class_of_its_own(self):
        net = pickle.loads(pickle.dumps(Stateful()))
        self.assertEqual(net.note, "again")
        net.layer = nn.Linear(1, 1)
        net.scale = nn.Parameter(td.zeros(2))
        net.count = td.ones(1)
        net.double()
        self.assertEqual(net.count.dtype, td.float64)
        self.assertIs(net.count, net._buffers["count"])
        self.assertIs(net.scale, net._parameters["scale"])
        self.assertIs(net.layer, net._modules["layer"])

    def test_copy_shares_parameters(self):
        net = Pair()
        twin = copy.copy(net)
        self.assertIs(twin.first, net.first)
        twin.scale = nn.Parameter(td.zeros(3))
        self.assertEqual(net.scale.tolist(), [1.0, 1.0, 1.0])

    def test_state_has_no_second_copies(self):
        state = nn.Linear(2, 2).__getstate__()
        self.assertEqual(list(state["_parameters"]), ["weight", "bias"])
        self.assertNotIn("weight", state)

    def test_memory_goes_with_the_module(self):
        import gc
        import weakref

        gc.disable()
        try:
            net = Pair()
            reference = weakref.ref(net)
            del net
            self.assertIsNone(reference())  # no cycle keeps it until the collector comes
        finally:
            gc.enable()


class Moving(unittest.TestCase):
    def test_dtype_keeps_identity_and_moves_gradients(self):
        net = Pair()
        weight = net.first.weight
        net(td.ones(1, 2)).sum().backward()
        net.double()
        self.assertIs(net.first.weight, weight)
        self.assertEqual(weight.dtype, td.float64)
        self.assertEqual(weight.grad.dtype, td.float64)
        self.assertEqual(net.count.dtype, td.float64)
        self.assertEqual(net(td.ones(1, 2, dtype=td.float64)).dtype, td.float64)

    def test_integers_keep_their_dtype(self):
        norm = nn.BatchNorm1d(2).half()
        self.assertEqual(norm.running_mean.dtype, td.float16)
        self.assertEqual(norm.num_batches_tracked.dtype, td.int64)

    def test_to_refuses_integers(self):
        with self.assertRaisesRegex(TypeError, "nn.Module.to only accepts floating point or complex dtypes, but got desired dtype="):
            nn.Linear(1, 1).to(td.int32)

    @unittest.skipUnless(td.cuda.is_available(), "no GPU, virtual or real")
    def test_device(self):
        net = Pair()
        weight = net.first.weight
        net(td.ones(1, 2)).sum().backward()
        expected = net(td.ones(1, 2)).item()
        self.assertIs(net.to("cuda:0"), net)
        self.assertIs(net.first.weight, weight)
        for tensor in [*net.parameters(), *net.buffers(), weight.grad]:
            self.assertEqual(str(tensor.device), "cuda:0")
        self.assertAlmostEqual(net(td.ones(1, 2, device="cuda:0")).item(), expected, places=5)
        net.cpu()
        self.assertEqual(weight.device.type, "cpu")
        self.assertEqual(str(nn.Linear(1, 1, device="cuda:0").weight.device), "cuda:0")


class State(unittest.TestCase):
    def test_round_trip(self):
        net, other = Pair(), Pair()
        state = net.state_dict()
        self.assertEqual(list(state), ["scale", "count", "first.weight", "first.bias", "second.weight"])
        self.assertEqual(repr(other.load_state_dict(state)), "<All keys matched successfully>")
        self.assertTrue(td.equal(net(td.ones(1, 2)), other(td.ones(1, 2))))
        self.assertFalse(state["first.weight"].requires_grad)
        self.assertIs(net.state_dict(keep_vars=True)["scale"], net.scale)
        self.assertEqual(state._metadata["first"], {"version": 1})

    def test_state_shares_memory(self):
        layer = nn.Linear(1, 1)
        layer.state_dict()["weight"].fill_(5)
        self.assertEqual(layer.weight.item(), 5.0)

    def test_errors_list_everything(self):
        net = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
        with self.assertRaises(RuntimeError) as caught:
            net.load_state_dict({"0.weight": td.ones(3, 3), "x": td.ones(1)})
        self.assertEqual(
            str(caught.exception),
            "Error(s) in loading state_dict for Sequential:\n"
            '\tMissing key(s) in state_dict: "0.bias". \n'
            '\tUnexpected key(s) in state_dict: "x". \n'
            "\tsize mismatch for 0.weight: copying a param with shape {size}([3, 3]) from checkpoint, the shape in current model is "
            "{size}([2, 2]).".replace("{size}", str(td.Size(()))[:-4]),
        )
        with self.assertRaisesRegex(TypeError, "Expected state_dict to be dict-like, got <class 'int'>."):
            net.load_state_dict(4)

    def test_not_strict(self):
        keys = nn.Linear(1, 1).load_state_dict({"weight": td.ones(1, 1), "z": td.ones(1)}, strict=False)
        self.assertEqual(keys.missing_keys, ["bias"])
        self.assertEqual(keys.unexpected_keys, ["z"])

    def test_assign_takes_the_tensors(self):
        layer, weight = nn.Linear(1, 1), td.full((1, 1), 7.0)
        layer.load_state_dict({"weight": weight, "bias": td.zeros(1)}, assign=True)
        weight.fill_(8)
        self.assertEqual(layer.weight.item(), 8.0)
        self.assertIsInstance(layer.weight, nn.Parameter)

    def test_extra_state(self):
        class Counter(nn.Module):
            def __init__(self):
                super().__init__()
                self.n = 1

            def get_extra_state(self):
                return {"n": self.n}

            def set_extra_state(self, state):
                self.n = state["n"]

        net = nn.Sequential(Counter())
        state = net.state_dict()
        state["0._extra_state"] = {"n": 5}
        net.load_state_dict(state)
        self.assertEqual(net[0].n, 5)
        with self.assertRaisesRegex(RuntimeError, 'Missing key.*"0._extra_state"'):
            net.load_state_dict({})

    def test_hooks(self):
        layer, calls = nn.Linear(1, 1), []
        layer.register_state_dict_pre_hook(lambda module, prefix, keep_vars: calls.append(prefix))
        layer.register_state_dict_post_hook(lambda module, state, prefix, metadata: state.update(extra=1))
        state = layer.state_dict(prefix="p.")
        self.assertEqual((calls, state["extra"]), (["p."], 1))
        layer.register_load_state_dict_pre_hook(lambda module, state, *rest: state.pop("extra", None))
        layer.register_load_state_dict_post_hook(lambda module, keys: keys.missing_keys.clear())
        keys = layer.load_state_dict({"weight": td.ones(1, 1), "extra": 1}, strict=False)
        self.assertEqual((keys.missing_keys, keys.unexpected_keys), ([], []))


class Hooks(unittest.TestCase):
    def setUp(self):
        self.layer = nn.Linear(2, 1)
        with td.no_grad():
            self.layer.weight.copy_(td.tensor([[1.0, 2.0]]))
            self.layer.bias.fill_(0)
        self.x = td.tensor([[3.0, 4.0]], requires_grad=True)

    def test_forward(self):
        handle = self.layer.register_forward_hook(lambda module, args, output: output * 10)
        self.layer.register_forward_pre_hook(lambda module, args: args[0] + 1)
        self.layer.register_forward_pre_hook(lambda module, args: (args[0] * 0,), prepend=True)
        self.assertEqual(self.layer(self.x).item(), 30.0)
        handle.remove()
        self.assertEqual(self.layer(self.x).item(), 3.0)
        self.assertEqual(len(self.layer._forward_hooks), 0)

    def test_with_kwargs(self):
        self.layer.register_forward_pre_hook(lambda module, args, kwargs: (args, {"input": kwargs["input"] * 2}), with_kwargs=True)
        self.layer.register_forward_hook(lambda module, args, kwargs, output: output + len(kwargs), with_kwargs=True)
        self.assertEqual(self.layer(input=self.x).item(), 23.0)

    def test_always_call(self):
        seen = []
        self.layer.register_forward_hook(lambda module, args, output: seen.append(output), always_call=True)
        with self.assertRaises(RuntimeError):
            self.layer(td.ones(1, 5))
        self.assertEqual(seen, [None])

    def test_backward(self):
        seen = []
        self.layer.register_full_backward_hook(lambda module, grad_input, grad_output: seen.append((grad_input, grad_output)))
        self.layer(self.x).sum().backward()
        (grad_input, grad_output), = seen
        self.assertEqual(grad_input[0].tolist(), [[1.0, 2.0]])
        self.assertEqual(grad_output[0].tolist(), [[1.0]])
        self.assertEqual(self.x.grad.tolist(), [[1.0, 2.0]])
        self.assertEqual(self.layer.weight.grad.tolist(), [[3.0, 4.0]])

    def test_backward_without_gradient_of_the_input(self):
        seen = []
        self.layer.register_full_backward_hook(lambda module, grad_input, grad_output: seen.append(grad_input))
        self.layer(td.ones(1, 2)).sum().backward()
        self.assertEqual(seen, [(None,)])

    def test_backward_hooks_replace_gradients(self):
        self.layer.register_full_backward_pre_hook(lambda module, grad_output: (grad_output[0] * 2,))
        self.layer.register_full_backward_hook(lambda module, grad_input, grad_output: (grad_input[0] * 10,))
        self.layer(self.x).sum().backward()
        self.assertEqual(self.x.grad.tolist(), [[20.0, 40.0]])
        self.assertEqual(self.layer.weight.grad.tolist(), [[6.0, 8.0]])

    def test_of_all_modules(self):
        seen = []
        handle = nn.modules.module.register_module_forward_hook(lambda module, args, output: seen.append(type(module).__name__))
        try:
            nn.Sequential(nn.ReLU(), nn.Tanh())(td.ones(1))
        finally:
            handle.remove()
        nn.ReLU()(td.ones(1))
        self.assertEqual(seen, ["ReLU", "Tanh", "Sequential"])

    def test_a_wrong_pre_hook(self):
        self.layer.register_forward_pre_hook(lambda module, args, kwargs: 3, with_kwargs=True)
        with self.assertRaisesRegex(RuntimeError, r"forward pre-hook must return None or a tuple of \(new_args, new_kwargs\), but got 3."):
            self.layer(self.x)


class Modes(unittest.TestCase):
    def test_train_and_eval(self):
        net = nn.Sequential(nn.Linear(1, 1), nn.Dropout())
        self.assertFalse(net.eval()[1].training)
        self.assertTrue(net.train()[1].training)
        with self.assertRaisesRegex(ValueError, "training mode is expected to be boolean"):
            net.train(3)

    def test_zero_grad(self):
        layer = nn.Linear(1, 1)
        layer(td.ones(1, 1)).sum().backward()
        layer.zero_grad(set_to_none=False)
        self.assertEqual(layer.weight.grad.item(), 0.0)
        layer.zero_grad()
        self.assertIsNone(layer.weight.grad)

    def test_requires_grad(self):
        layer = nn.Linear(1, 1).requires_grad_(False)
        self.assertFalse(any(parameter.requires_grad for parameter in layer.parameters()))

    def test_apply(self):
        seen = []
        nn.Sequential(nn.Linear(1, 1), nn.ReLU()).apply(lambda module: seen.append(type(module).__name__))
        self.assertEqual(seen, ["Linear", "ReLU", "Sequential"])


class Text(unittest.TestCase):
    def test_nested(self):
        self.assertEqual(
            repr(Pair()),
            "Pair(\n"
            "  (first): Linear(in_features=2, out_features=3, bias=True)\n"
            "  (second): Linear(in_features=3, out_features=1, bias=False)\n"
            ")",
        )
        self.assertEqual(repr(nn.Sequential(nn.ReLU())), "Sequential(\n  (0): ReLU()\n)")
        self.assertEqual(repr(nn.Module()), "Module()")

    def test_dir_has_attributes_and_no_numbers(self):
        listed = dir(nn.Sequential(nn.ReLU()))
        self.assertIn("forward", listed)
        self.assertNotIn("0", listed)


class Lazy(unittest.TestCase):
    def test_linear(self):
        layer = nn.LazyLinear(3)
        self.assertEqual(repr(layer), "LazyLinear(in_features=0, out_features=3, bias=True)")
        self.assertEqual(repr(layer.weight), "<UninitializedParameter>")
        with self.assertRaisesRegex(RuntimeError, "Can't access the shape of an uninitialized parameter or buffer"):
            layer.weight.shape
        weight = layer.weight
        self.assertEqual(layer(td.ones(2, 5)).shape, (2, 3))
        self.assertIs(type(layer), nn.Linear)
        self.assertIs(layer.weight, weight)
        self.assertIs(type(weight), nn.Parameter)
        self.assertEqual(weight.shape, (3, 5))
        self.assertEqual(len(layer._forward_pre_hooks), 0)

    def test_dtype_is_remembered(self):
        layer = nn.LazyLinear(2).double()
        self.assertEqual(layer(td.ones(1, 4, dtype=td.float64)).dtype, td.float64)

    @unittest.skipUnless(td.cuda.is_available(), "no GPU, virtual or real")
    def test_device_is_remembered(self):
        norm = nn.Sequential(nn.LazyBatchNorm1d()).to("cuda:0")
        self.assertEqual(norm(td.ones(4, 3, device="cuda:0")).shape, (4, 3))
        for tensor in [*norm.parameters(), *norm.buffers()]:
            self.assertEqual(str(tensor.device), "cuda:0")

    def test_loading_gives_sizes(self):
        layer, source = nn.LazyLinear(2), nn.Linear(3, 2)
        layer.load_state_dict(source.state_dict())
        self.assertTrue(td.equal(layer(td.ones(1, 3)), source(td.ones(1, 3))))

    def test_copies(self):
        for twin in (copy.deepcopy(nn.LazyLinear(2)), pickle.loads(pickle.dumps(nn.LazyLinear(2)))):
            self.assertEqual(twin(td.ones(1, 4)).shape, (1, 2))

    def test_other_layers(self):
        conv = nn.LazyConv2d(4, 3, padding=1, bias=False)
        self.assertEqual(conv(td.ones(1, 2, 5, 5)).shape, (1, 4, 5, 5))
        self.assertEqual((type(conv), conv.in_channels, conv.bias), (nn.Conv2d, 2, None))
        norm = nn.LazyBatchNorm1d()
        norm(td.randn(4, 3))
        self.assertEqual((type(norm), norm.num_features, norm.running_mean.shape), (nn.BatchNorm1d, 3, (3,)))
        transposed = nn.LazyConvTranspose1d(2, 3)
        self.assertEqual(transposed(td.ones(1, 5, 4)).shape, (1, 2, 6))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    unittest.main()
