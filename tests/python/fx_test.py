"""torch.fx: what tracing records, graphs as text and code, changes of graphs, interpreters, and modules that are made from graphs."""

import contextlib
import copy
import io
import math
import operator
import pickle
import textwrap
import unittest

import tandem as torch
import tandem.nn.functional as F
from tandem import fx, nn
from tandem.fx.experimental.optimization import fuse, remove_dropout
from tandem.fx.passes.shape_prop import ShapeProp
from tandem.nn.functional import softmax

DEVICES = ["cpu"] + (["cuda:0"] if torch.cuda.is_available() else [])


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 8)

    def forward(self, x):
        return x + self.linear(x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(4, 8)
        self.layers = nn.Sequential(nn.ReLU(), Block())
        self.scale = nn.Parameter(torch.ones(8))
        self.register_buffer("shift", torch.zeros(8))

    def forward(self, input, factor=2.0):
        x = self.layers(self.fc1(input))
        x = F.relu(x) * self.scale + self.shift
        x = torch.sigmoid(x).view(x.shape[0], -1)
        a, b = x.chunk(2, 1)
        x = torch.cat([a, -b], dim=1) + torch.tensor([1.0])
        return {"out": x * factor, "part": softmax(a, dim=1)[:, 0]}


CODE = """\


def forward(self, input, factor = 2.0):
    input_1 = input
    fc1 = self.fc1(input_1);  input_1 = None
    layers_0 = getattr(self.layers, "0")(fc1);  fc1 = None
    layers_1_linear = getattr(self.layers, "1").linear(layers_0)
    add = layers_0 + layers_1_linear;  layers_0 = layers_1_linear = None
    relu = torch.nn.functional.relu(add, inplace = False);  add = None
    scale = self.scale
    mul = relu * scale;  relu = scale = None
    shift = self.shift
    add_1 = mul + shift;  mul = shift = None
    sigmoid = torch.sigmoid(add_1)
    getattr_1 = add_1.shape;  add_1 = None
    getitem = getattr_1[0];  getattr_1 = None
    view = sigmoid.view(getitem, -1);  sigmoid = getitem = None
    chunk = view.chunk(2, 1);  view = None
    getitem_1 = chunk[0]
    getitem_2 = chunk[1];  chunk = None
    neg = -getitem_2;  getitem_2 = None
    cat = torch.cat([getitem_1, neg], dim = 1);  neg = None
    _tensor_constant0 = self._tensor_constant0
    add_2 = cat + _tensor_constant0;  cat = _tensor_constant0 = None
    mul_1 = add_2 * factor;  add_2 = factor = None
    softmax = torch.nn.functional.softmax(getitem_1, dim = 1, _stacklevel = 3, dtype = None);  getitem_1 = None
    getitem_3 = softmax[(slice(None, None, None), 0)];  softmax = None
    return {'out': mul_1, 'part': getitem_3}
    """


@fx.wrap
def as_it_is(x):
    return x if x.sum() > 0 else -x


fx.wrap("len")


def counted(x):
    return as_it_is(x) * len(x)


class Small(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(2, 3)

    def forward(self, x: torch.Tensor):
        return torch.add(self.linear(x), 1).relu()


class Tracing(unittest.TestCase):
    def test_code(self):
        module = fx.symbolic_trace(Net())
        self.assertEqual(module.code.strip("\n"), CODE.strip("\n"))
        self.assertIn("def forward(self, input, factor = 2.0):", module.print_readable(print_output=False))
        self.assertTrue(str(module).startswith("Net(\n  (fc1): Linear(in_features=4"))
        self.assertTrue(str(module).endswith("# To see more debug info, please use `graph_module.print_readable()`"))

    def test_it_computes_the_same(self):
        for device in DEVICES:
            torch.manual_seed(0)
            net = Net().to(device)
            traced = fx.symbolic_trace(net).to(device)
            if device == "cpu":
                x = torch.rand(3, 4, device=device)
                wanted, found = net(x, 3.0), traced(x, 3.0)
                self.assertTrue(torch.equal(wanted["out"], found["out"]) and torch.equal(wanted["part"], found["part"]))
                found["out"].sum().backward()
                self.assertIs(traced.fc1.weight, net.fc1.weight)
                self.assertIsNotNone(net.scale.grad)
            small = Small().to(device)
            x = torch.rand(3, 2, device=device)
            self.assertTrue(torch.equal(fx.symbolic_trace(small)(x), small(x)))

    def test_graphs_as_text(self):
        module = fx.symbolic_trace(Small())
        self.assertEqual(str(module.graph), textwrap.dedent("""\
            graph():
                %x : torch.Tensor [num_users=1] = placeholder[target=x]
                %linear : [num_users=1] = call_module[target=linear](args = (%x,), kwargs = {})
                %add : [num_users=1] = call_function[target=torch.add](args = (%linear, 1), kwargs = {})
                %relu : [num_users=1] = call_method[target=relu](args = (%add,), kwargs = {})
                return relu"""))
        self.assertEqual([node.op for node in module.graph.nodes], ["placeholder", "call_module", "call_function", "call_method", "output"])
        x, linear, add, relu, output = module.graph.nodes
        self.assertEqual((linear.args, list(linear.users), add.all_input_nodes), ((x,), [add], [linear]))
        self.assertIs(add.target, torch.add)
        self.assertEqual(output.args, (relu,))
        text = io.StringIO()
        with contextlib.redirect_stdout(text):
            module.graph.print_tabular()
        lines = text.getvalue().splitlines()
        self.assertEqual(lines[0].split(), ["opcode", "name", "target", "args", "kwargs"])
        self.assertEqual(lines[3].split(), ["call_module", "linear", "linear", "(x,)", "{}"])

    def test_functions_are_found_wherever_they_are(self):
        activation = F.gelu
        module = fx.symbolic_trace(lambda x: activation(torch.matmul(x, x)) + math.sqrt(x.shape[0]) + abs(x) ** 2)
        x = torch.rand(4, 4)
        self.assertTrue(torch.allclose(module(x), F.gelu(x @ x) + 2 + x.abs() ** 2))
        self.assertIn('torch.fx._symbolic_trace.wrap("math_sqrt")', module.code)
        self.assertEqual(fx.symbolic_trace(module).code, module.code)
        self.assertEqual(math.sqrt(4), 2)
        weight = torch.rand(4, 4)
        module = fx.symbolic_trace(lambda x: weight @ x + weight.matmul(x) - weight)
        self.assertTrue(torch.allclose(module(x), 2 * (weight @ x) - weight))

    def test_wrapped_functions(self):
        module = fx.symbolic_trace(counted)
        self.assertEqual([node.name for node in module.graph.nodes], ["x", "as_it_is", "len_1", "mul", "output"])
        self.assertEqual(module(torch.tensor([-1.0, -2.0])).tolist(), [2.0, 4.0])
        again = fx.symbolic_trace(module)
        self.assertEqual(again.code, module.code)
        self.assertEqual([node.target for node in again.graph.nodes], [node.target for node in module.graph.nodes])
        with self.assertRaisesRegex(NotImplementedError, "wrap must be called at the top level of a module"):
            fx.wrap("len")

    def test_arguments(self):
        module = fx.symbolic_trace(lambda *args, **others: args[0] + others["x"])
        self.assertEqual(module(torch.ones(1), x=torch.ones(1)).item(), 2.0)

        def chosen(a, b):
            return a if b else a * 2

        module = fx.symbolic_trace(chosen, concrete_args={"b": False})
        self.assertEqual(module(torch.tensor(3.0), False).item(), 6.0)
        with self.assertRaisesRegex(AssertionError, "b has been specialized to have value False but got another value"):
            module(torch.tensor(3.0), True)

    def test_what_cannot_be_traced(self):
        for function, error, text in (
            (lambda x: x if x.sum() > 0 else -x, ValueError, "symbolically traced variables cannot be used as inputs to control flow"),
            (lambda x: [one for one in x], ValueError, "Proxy object cannot be iterated"),
            (lambda x: x.__len__(), RuntimeError, "'len' is not supported in symbolic tracing by default"),
            (lambda x: int(x), TypeError, "int\\(\\) argument must be a string"),
        ):
            with self.subTest(text), self.assertRaisesRegex(error, text):
                fx.symbolic_trace(function)
        self.assertEqual(torch.relu(torch.tensor(-1.0)).item(), 0.0)
        self.assertEqual(F.relu(torch.tensor(-1.0)).item(), 0.0)

    def test_tracers_of_ones_own(self):
        class Whole(fx.Tracer):
            def is_leaf_module(self, m, module_qualified_name):
                return isinstance(m, Block) or super().is_leaf_module(m, module_qualified_name)

        graph = Whole().trace(Net())
        self.assertIn("layers.1", [node.target for node in graph.nodes])
        graph.lint()


class Changes(unittest.TestCase):
    def test_another_function(self):
        module = fx.symbolic_trace(Small())
        for node in module.graph.nodes:
            if node.target == torch.add:
                node.target = torch.mul
        module.graph.lint()
        module.recompile()
        self.assertIn("torch.mul(linear, 1)", module.code)

    def test_nodes_come_and_go(self):
        module = fx.symbolic_trace(Small())
        node = next(iter(module.graph.find_nodes(op="call_method", target="relu")))
        with module.graph.inserting_after(node):
            new = module.graph.call_function(torch.neg, (node.args[0],))
            node.replace_all_uses_with(new)
        with self.assertRaisesRegex(RuntimeError, "Tried to erase Node add but it still had 2 users"):
            module.graph.erase_node(node.args[0])
        module.graph.erase_node(node)
        module.graph.lint()
        module.recompile()
        x = torch.rand(2, 2)
        self.assertTrue(torch.equal(module(x), -(module.linear(x) + 1)))
        with module.graph.inserting_before(new):
            module.graph.call_function(torch.neg, (new.args[0],))
        self.assertEqual(len(module.graph.nodes), 6)
        self.assertTrue(module.graph.eliminate_dead_code())
        self.assertEqual([node.name for node in module.graph.nodes], ["x", "linear", "add", "neg", "output"])

    def test_calls_with_effects_stay(self):
        @fx.has_side_effect
        def shown(x):
            return x

        graph = fx.Graph()
        x = graph.placeholder("x")
        graph.call_function(shown, (x,))
        graph.call_function(torch.neg, (x,))
        graph.output(x)
        graph.eliminate_dead_code()
        self.assertEqual([node.name for node in graph.nodes], ["x", "shown", "output"])

    def test_lint(self):
        graph = fx.Graph()
        x = graph.placeholder("x")
        y = graph.call_function(torch.neg, (x,))
        graph.output(y)
        graph.lint()
        y.append(x)
        with self.assertRaisesRegex(RuntimeError, "Argument 'x' of Node 'neg' was used before it has been defined"):
            graph.lint()

    def test_a_graph_by_hand(self):
        graph = fx.Graph()
        x = graph.placeholder("x")
        weight = graph.get_attr("inner.weight")
        product = graph.call_function(operator.mul, (x, weight))
        graph.output((graph.call_module("inner.layer", (product,)), graph.call_method("sum", (x,), {"dim": 0})))
        layer = nn.ReLU()
        module = fx.GraphModule({"inner.weight": torch.tensor([-1.0, 2.0]), "inner.layer": layer}, graph)
        first, second = module(torch.tensor([3.0, 4.0]))
        self.assertEqual((first.tolist(), second.item()), ([0.0, 8.0], 7.0))
        self.assertIs(module.inner.layer, layer)
        with self.assertRaisesRegex(RuntimeError, "referenced target inner.weight but that target was not provided"):
            fx.GraphModule({}, graph)

    def test_batch_norm_goes_into_the_convolution(self):
        torch.manual_seed(0)
        net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.ReLU()).eval()
        net[1].running_mean.uniform_()
        module = fx.symbolic_trace(net)
        x = torch.rand(1, 1, 5, 5)
        wanted = module(x)
        modules = dict(module.named_modules())
        for node in module.graph.nodes:
            if node.op == "call_module" and isinstance(modules[node.target], nn.BatchNorm2d):
                conv, norm = modules[node.args[0].target], modules[node.target]
                fused = copy.deepcopy(conv)
                factor = norm.weight / torch.sqrt(norm.running_var + norm.eps)
                fused.weight = nn.Parameter(conv.weight * factor.reshape(-1, 1, 1, 1))
                fused.bias = nn.Parameter((conv.bias - norm.running_mean) * factor + norm.bias)
                setattr(module, node.args[0].target, fused)
                node.replace_all_uses_with(node.args[0])
                module.graph.erase_node(node)
        module.graph.lint()
        module.recompile()
        module.delete_all_unused_submodules()
        self.assertEqual([name for name, _ in module.named_children()], ["0", "2"])
        self.assertTrue(torch.allclose(module(x), wanted, atol=1e-6))

    def test_patterns(self):
        class Several(nn.Module):
            def forward(self, x, w1, w2):
                m1 = torch.cat([w1, w2]).sum()
                m2 = torch.cat([w1, w2]).sum()
                return x + torch.max(m1) + torch.max(m2)

        module = fx.symbolic_trace(Several())
        found = fx.replace_pattern(module, lambda a, b: torch.cat([a, b]).sum(), lambda a, b: torch.stack([a, b]))
        self.assertEqual(len(found), 2)
        self.assertEqual([node.name for node in module.graph.nodes if node.target == torch.stack], ["stack", "stack_1"])
        ones = torch.ones(2)
        self.assertEqual(module(ones, ones, ones).tolist(), [3.0, 3.0])
        self.assertEqual(fx.replace_pattern(module, lambda a: torch.sin(a), lambda a: torch.cos(a)), [])

    def test_chains_of_patterns(self):
        module = fx.symbolic_trace(lambda x: (x.relu() + 1).relu() + 1)
        fx.replace_pattern(module, lambda x: x.relu() + 1, lambda x: x * 3)
        self.assertEqual(module(torch.tensor(2.0)).item(), 18.0)


class Models(unittest.TestCase):
    def test_fused_layers(self):
        torch.manual_seed(0)
        net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.ReLU(), nn.Flatten(), nn.Linear(18, 4), nn.BatchNorm1d(4)).eval()
        for norm in (net[1], net[5]):
            norm.running_mean.uniform_()
            norm.running_var.uniform_(0.5, 2.0)
        x = torch.rand(3, 1, 5, 5)
        fused = fuse(net)
        self.assertEqual([node.target for node in fused.graph.nodes if node.op == "call_module"], ["0", "2", "3", "4"])
        self.assertTrue(torch.allclose(fused(x), net(x), atol=1e-5))
        self.assertIsInstance(net[1], nn.BatchNorm2d)
        self.assertEqual([name for name, _ in fused.named_children()], ["0", "2", "3", "4"])

    def test_dropout_that_is_left_out(self):
        net = nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.9), nn.ReLU())
        x = torch.rand(4, 3)
        self.assertTrue(torch.equal(remove_dropout(net)(x), net[2](net[0](x))))


class Running(unittest.TestCase):
    def test_interpreters(self):
        class Counting(fx.Interpreter):
            def __init__(self, module):
                super().__init__(module)
                self.calls = []

            def run_node(self, n):
                self.calls.append(n.name)
                return super().run_node(n)

            def call_function(self, target, args, kwargs):
                return torch.neg(*args) if target is torch.sigmoid else super().call_function(target, args, kwargs)

        module = fx.symbolic_trace(lambda x, y=2: torch.sigmoid(x) * y)
        interpreter = Counting(module)
        self.assertEqual(interpreter.run(torch.tensor(3.0)).item(), -6.0)
        self.assertEqual(interpreter.calls, ["x", "y", "sigmoid", "mul", "output"])
        with self.assertRaisesRegex(RuntimeError, "Expected positional argument for parameter x, but one was not passed in!"):
            fx.Interpreter(module).run()

    def test_transformers(self):
        class Swap(fx.Transformer):
            def call_function(self, target, args, kwargs):
                return super().call_function(torch.mul if target is torch.add else target, args, kwargs)

            def call_method(self, target, args, kwargs):
                return args[0].neg() if target == "relu" else super().call_method(target, args, kwargs)

        module = fx.symbolic_trace(Small())
        swapped = Swap(module).transform()
        x = torch.rand(2, 2)
        self.assertTrue(torch.equal(swapped(x), -module.linear(x)))

    def test_shapes(self):
        module = fx.symbolic_trace(Small())
        ShapeProp(module).propagate(torch.rand(5, 2))
        meta = {node.name: node.meta["tensor_meta"] for node in module.graph.nodes}
        self.assertEqual((tuple(meta["linear"].shape), meta["linear"].dtype, tuple(meta["relu"].stride)), ((5, 3), torch.float32, (3, 1)))

    def test_copies(self):
        torch.manual_seed(0)
        module = fx.symbolic_trace(Net())
        x = torch.rand(3, 4)
        wanted = module(x)["out"]
        for copied in (copy.deepcopy(module), pickle.loads(pickle.dumps(module)), fx.GraphModule(module, module.graph)):
            self.assertTrue(torch.equal(copied(x)["out"], wanted))
            self.assertEqual(copied.code, module.code)
        self.assertIsNot(copy.deepcopy(module).fc1.weight, module.fc1.weight)
        state = module.state_dict()
        self.assertIn("layers.1.linear.weight", state)
        again = fx.symbolic_trace(module)
        self.assertEqual(again.code, module.code)

    def test_a_class_with_torch_function(self):
        class Recorded:
            calls = []

            @classmethod
            def __torch_function__(cls, func, types, args=(), kwargs=None):
                cls.calls.append((func, len(args), sorted(kwargs or {})))
                return "answer"

        self.assertEqual(torch.mean(Recorded(), dim=0), "answer")
        self.assertEqual(torch.add(torch.ones(1), Recorded()), "answer")
        self.assertEqual(torch.cat([Recorded(), torch.ones(1)]), "answer")
        self.assertEqual(Recorded.calls, [(torch.mean, 1, ["dim"]), (torch.add, 2, []), (torch.cat, 1, [])])


if __name__ == "__main__":
    unittest.main()
