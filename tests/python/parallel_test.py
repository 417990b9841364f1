"""tandem.nn.parallel on two virtual GPUs: parts of arguments, copies of modules, and gradients that are those of one device."""

import collections
import unittest
import warnings

import tandem
from tandem import nn
from tandem.nn import parallel
from tandem.nn.parallel import comm

Pair = collections.namedtuple("Pair", "a b")


@unittest.skipIf(tandem.cuda.device_count() < 2, "needs two GPUs, such as TANDEM_VIRTUAL_GPUS=2")
class ScatterGather(unittest.TestCase):
    def test_scatter_gives_chunks_of_any_arguments(self):
        x = tandem.arange(5.0)
        parts = parallel.scatter({"x": x, "n": 3, "pair": Pair(x + 1, ["text"])}, [0, 1])
        self.assertEqual(len(parts), 2)
        self.assertEqual(parts[0]["x"].tolist(), [0, 1, 2])
        self.assertEqual(parts[1]["x"].tolist(), [3, 4])
        self.assertEqual(parts[1]["x"].device, tandem.device("cuda:1"))
        self.assertEqual([part["n"] for part in parts], [3, 3])
        self.assertIsInstance(parts[1]["pair"], Pair)
        self.assertEqual(parts[1]["pair"].a.tolist(), [4, 5])
        self.assertEqual(parts[1]["pair"].b, ["text"])

    def test_keywords_alone_and_no_arguments(self):
        positional, named = parallel.scatter_kwargs((), {"x": tandem.ones(4, 2)}, [0, 1])
        self.assertEqual(positional, ((), ()))
        self.assertEqual([tuple(part["x"].shape) for part in named], [(2, 2), (2, 2)])
        self.assertEqual(parallel.scatter_kwargs((), {}, [0, 1]), ((), ()))

    def test_gather_joins_structures(self):
        outputs = [{"y": (tandem.full((2,), float(i), device=f"cuda:{i}"), None)} for i in range(2)]
        joined = parallel.gather(outputs, "cuda:1")
        self.assertEqual(joined["y"][0].tolist(), [0, 0, 1, 1])
        self.assertEqual(joined["y"][0].device, tandem.device("cuda:1"))
        self.assertIsNone(joined["y"][1])
        self.assertTrue(parallel.gather([tandem.ones(1, device="cuda:0")], -1).is_cpu)

    def test_gather_of_numbers_warns(self):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            joined = parallel.gather([tandem.tensor(float(i), device=f"cuda:{i}") for i in range(2)], 0)
        self.assertEqual(joined.tolist(), [0, 1])
        self.assertIn("Was asked to gather along dimension 0", str(seen[0].message))

    def test_gradients_flow_through_both(self):
        x = tandem.arange(4.0, requires_grad=True)
        first, second = parallel.scatter(x, [0, 1])
        parallel.gather([first * 2, second * 3], "cpu").sum().backward()
        self.assertEqual(x.grad.tolist(), [2, 2, 3, 3])

    def test_comm(self):
        copies = comm.broadcast(tandem.arange(3.0), [0, 1])
        self.assertEqual([copy.device.index for copy in copies], [0, 1])
        self.assertEqual(comm.reduce_add(copies, 1).tolist(), [0, 2, 4])
        both = comm.broadcast_coalesced([tandem.ones(2), tandem.arange(2)], [0, 1])
        sums = comm.reduce_add_coalesced(both, 0)
        self.assertEqual([one.tolist() for one in sums], [[2, 2], [0, 2]])
        parts = comm.scatter(tandem.arange(5.0), [0, 1], chunk_sizes=[1, 4])
        self.assertEqual([part.tolist() for part in parts], [[0], [1, 2, 3, 4]])
        self.assertEqual(comm.gather(parts, destination="cpu").tolist(), [0, 1, 2, 3, 4])
        out = tandem.empty(5, device="cuda:1")
        self.assertEqual(comm.gather(parts, out=out).tolist(), [0, 1, 2, 3, 4])
        with self.assertRaisesRegex(ValueError, "input 1 has invalid size: got 3, but expected 2"):
            comm.reduce_add([tandem.ones(2, device="cuda:0"), tandem.ones(3, device="cuda:1")])


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(3, 4)
        self.rest = nn.Sequential(nn.BatchNorm1d(4), nn.ReLU(), nn.Linear(4, 2))
        self.scale = nn.Parameter(tandem.ones(1))
        self.devices = []

    def forward(self, x, *, factor=1.0, extra=None):
        self.devices.append(tandem.cuda.current_device())
        y = self.rest(self.first(x)) * self.scale * factor
        return {"y": y, "extra": extra}


@unittest.skipIf(tandem.cuda.device_count() < 2, "needs two GPUs, such as TANDEM_VIRTUAL_GPUS=2")
class DataParallel(unittest.TestCase):
    def test_outputs_and_gradients_are_those_of_one_device(self):
        tandem.manual_seed(0)
        net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)).cuda(0)
        x = tandem.randn(5, 3)
        wrapped = parallel.DataParallel(net, device_ids=[0, 1])
        wrapped(x).square().mean().backward()
        found = [parameter.grad.cpu().clone() for parameter in net.parameters()]
        net.zero_grad()
        net(x.cuda(0)).square().mean().backward()
        for ours, expected in zip(found, net.parameters()):
            self.assertTrue(tandem.allclose(ours, expected.grad.cpu(), atol=1e-6))

    def test_keywords_structures_and_running_figures(self):
        tandem.manual_seed(0)
        net = Net().cuda(0)
        wrapped = nn.DataParallel(net)
        x = tandem.randn(6, 3)
        out = wrapped(x, factor=2.0, extra=tandem.arange(6))
        self.assertEqual(tuple(out["y"].shape), (6, 2))
        self.assertEqual(out["y"].device, tandem.device("cuda:0"))
        self.assertEqual(out["extra"].tolist(), [0, 1, 2, 3, 4, 5])
        self.assertEqual(net.devices, [0, 1])
        # The replica of the module's own GPU has its buffers.
        self.assertEqual(net.rest[0].num_batches_tracked.item(), 1)
        expected = 0.1 * net.first(x[:3].cuda(0)).mean(0)
        self.assertTrue(tandem.allclose(net.rest[0].running_mean, expected, atol=1e-6))
        out["y"].sum().backward()
        self.assertIsNotNone(net.scale.grad)

    def test_names_of_the_state(self):
        wrapped = nn.DataParallel(nn.Linear(2, 2).cuda(0))
        self.assertEqual(list(wrapped.state_dict()), ["module.weight", "module.bias"])

    def test_tied_parameters_stay_tied(self):
        net = nn.Sequential(nn.Linear(2, 2, bias=False), nn.Linear(2, 2, bias=False)).cuda(0)
        net[1].weight = net[0].weight
        replicas = parallel.replicate(net, [0, 1])
        self.assertIs(replicas[1][0].weight, replicas[1][1].weight)
        self.assertEqual(replicas[1][0].weight.device, tandem.device("cuda:1"))
        self.assertEqual(list(replicas[1].parameters()), [])
        replicas[1](tandem.ones(1, 2, device="cuda:1")).sum().backward()
        self.assertIsNotNone(net[0].weight.grad)

    def test_recurrent_layers(self):
        tandem.manual_seed(0)
        net = nn.LSTM(3, 4, batch_first=True).cuda(0)
        x = tandem.randn(4, 5, 3)
        out, (h, c) = nn.DataParallel(net)(x)
        expected, _ = net(x.cuda(0))
        self.assertTrue(tandem.allclose(out, expected, atol=1e-6))

    def test_errors_name_replica_and_device(self):
        class Bad(nn.Module):
            def __init__(self):
                super().__init__()
                self.weight = nn.Parameter(tandem.ones(1))

            def forward(self, x):
                if x.device.index == 1:
                    raise ValueError("not here")
                return x

        with self.assertRaisesRegex(ValueError, "Caught ValueError in replica 1 on device cuda:1"):
            nn.DataParallel(Bad().cuda(0))(tandem.ones(2))
        with self.assertRaisesRegex(RuntimeError, r"module must have its parameters and buffers on device cuda:0 \(device_ids\[0\]\)"):
            nn.DataParallel(nn.Linear(2, 2))(tandem.ones(2, 2))
        self.assertEqual(tandem.cuda.current_device(), 0)

    def test_data_parallel_function(self):
        net = nn.Linear(2, 2).cuda(0)
        x = tandem.randn(3, 2).cuda(0)
        with tandem.no_grad():
            self.assertTrue(tandem.equal(parallel.data_parallel(net, x), net(x)))


if __name__ == "__main__":
    unittest.main()
