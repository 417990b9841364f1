"""distributed.checkpoint: folders of one rank and of several, states under plain names, damaged and foreign files."""

import functools
import os
import pickle
import tempfile
import unittest
import warnings

import tandem as td
import tandem.distributed as dist
import tandem.distributed.checkpoint as dcp
from fsdp_cases import make, run_ranks, samples
from tandem import nn
from tandem.distributed.checkpoint import format_utils
from tandem.distributed.checkpoint import metadata as meta
from tandem.distributed.checkpoint.state_dict import (
    StateDictOptions,
    get_model_state_dict,
    get_optimizer_state_dict,
    get_state_dict,
    set_model_state_dict,
    set_optimizer_state_dict,
    set_state_dict,
)
from tandem.distributed.checkpoint.stateful import Stateful
from tandem.distributed.fsdp import FullyShardedDataParallel, fully_shard
from tandem.nn.parallel import DistributedDataParallel


def net():
    made = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))
    with td.no_grad():
        for i, parameter in enumerate(made.parameters()):
            parameter.copy_(td.arange(float(parameter.numel())).reshape(parameter.shape) + i)
    return made


def trained(optimizer=td.optim.Adam):
    made = net()
    optimizer = optimizer(made.parameters(), lr=0.5)
    made(td.tensor([[1.0, 2.0], [3.0, -1.0]])).pow(2).sum().backward()
    optimizer.step()
    return made, optimizer


class Folders(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "checkpoint")

    def failure(self, kind, text):
        """The one failure, of rank 0, of what is done in the block."""
        test = self

        class Block:
            def __enter__(self):
                return self

            def __exit__(self, error, value, stack):
                test.assertIs(error, dcp.CheckpointException)
                (wrapped, _) = value.failures[0]
                test.assertIsInstance(wrapped, kind)
                test.assertRegex(str(wrapped), text)
                test.assertIn("CheckpointException ranks:dict_keys([0])", str(value))
                return True

        return Block()

    def test_nested(self):
        written = dcp.save(
            {
                "a": td.tensor([[1.0, 2.0]]).t(),
                "b": {"c": 3, "empty": {}, "tuple": (1, 2), "list": [4, td.ones(1)], "flat": [[1], [2]], 7: "text"},
                "half": td.ones(2, dtype=td.bfloat16),
            },
            checkpoint_id=self.path,
        )
        names = ["a", "b.c", "b.tuple", "b.list.0", "b.list.1", "b.flat", "b.7", "half"]
        self.assertEqual([*written.planner_data], names)
        self.assertEqual(written.planner_data["b.list.1"], ("b", "list", 1))
        self.assertEqual(sorted(os.listdir(self.path)), [".metadata", "__0_0.distcp"])
        state = {"a": td.zeros(2, 1, dtype=td.float64), "b": {"c": 0, "list": [0, td.zeros(1)], "flat": None, 7: ""}, "half": td.zeros(2)}
        a = state["a"]
        dcp.load(state, checkpoint_id=self.path)
        self.assertIs(state["a"], a)
        self.assertEqual((a.tolist(), state["half"].tolist()), ([[1.0], [2.0]], [1.0, 1.0]))
        self.assertEqual((state["b"]["c"], state["b"]["flat"], state["b"][7]), (3, [[1], [2]], "text"))
        self.assertEqual((state["b"]["list"][0], state["b"]["list"][1].tolist()), (4, [1.0]))

    def test_metadata(self):
        dcp.save({"x": td.ones(2, 3), "n": 5}, storage_writer=dcp.FileSystemWriter(self.path, single_file_per_rank=False))
        found = dcp.FileSystemReader(self.path).read_metadata()
        self.assertEqual(found.version, "1.0.0")
        x = found.state_dict_metadata["x"]
        self.assertEqual((x.size, x.properties.dtype, x.properties.strides), (td.Size([2, 3]), td.float32, (3, 1)))
        self.assertEqual(x.chunks, [dcp.ChunkStorageMetadata(td.Size([0, 0]), td.Size([2, 3]))])
        self.assertEqual(found.state_dict_metadata["n"], dcp.BytesStorageMetadata())
        self.assertEqual(sorted(os.listdir(self.path)), [".metadata", "__0_0.distcp", "__0_1.distcp"])

    def test_errors(self):
        dcp.save({"a": td.ones(2), "n": 3}, checkpoint_id=self.path)
        target = td.zeros(2)
        with self.failure(RuntimeError, "Missing key in checkpoint state_dict: z."):
            dcp.load({"a": target, "z": 1}, checkpoint_id=self.path)
        self.assertEqual(target.tolist(), [0, 0])  # nothing was read yet
        state = {"a": target, "z": 1}
        dcp.load(state, checkpoint_id=self.path, planner=dcp.DefaultLoadPlanner(allow_partial_load=True))
        self.assertEqual((target.tolist(), state["z"]), ([1, 1], 1))
        with self.failure(ValueError, "Size mismatch between saved .* and current: .* for a"):
            dcp.load({"a": td.zeros(3)}, checkpoint_id=self.path)
        with self.failure(ValueError, "has a tensor for a, and the state_dict int"):
            dcp.load({"a": 3}, checkpoint_id=self.path)
        with self.failure(FileNotFoundError, "metadata"):
            dcp.load({"a": 3}, checkpoint_id=self.path + "x")
        with self.failure(ValueError, "duplicated flatten key a.b"):
            dcp.save({"a.b": 1, "a": {"b": 2}}, checkpoint_id=self.path + "y")
        with self.assertRaisesRegex(RuntimeError, "`checkpoint_id` must be specified"):
            dcp.save({"a": 1})
        with self.failure(RuntimeError, "Checkpoint already exists and self.overwrite=False."):
            dcp.save({"a": 1}, storage_writer=dcp.FileSystemWriter(self.path, overwrite=False))
        with self.assertWarnsRegex(UserWarning, "overwriting since self.overwrite=True"):
            dcp.save({"a": 1}, checkpoint_id=self.path)

    def test_values_with_states(self):
        model, optimizer = trained()
        dcp.save({"model": model, "optimizer": optimizer}, checkpoint_id=self.path)
        other = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))
        dcp.load({"model": other}, checkpoint_id=self.path)
        self.assertTrue(td.equal(other[0].weight, model[0].weight))
        self.assertEqual(other[1].num_batches_tracked.item(), 1)

    def test_async(self):
        x = td.ones(4)
        future = dcp.async_save({"x": x, "l": [1]}, checkpoint_id=self.path)
        x.zero_()  # what was saved is a copy
        self.assertEqual([*future.result(60).state_dict_metadata], ["x", "l"])
        state = {"x": td.zeros(4), "l": None}
        dcp.load(state, checkpoint_id=self.path)
        self.assertEqual((state["x"].tolist(), state["l"]), ([1, 1, 1, 1], [1]))
        failed = dcp.async_save({"x": lambda: 0}, checkpoint_id=self.path + "x")
        self.assertIsInstance(failed.exception(60), dcp.CheckpointException)
        self.assertEqual(os.listdir(self.path + "x"), [])

    def test_parts(self):
        """A tensor that was saved in two parts, as sharded ones are."""
        writer = dcp.FileSystemWriter(self.path)
        writer.prepare()
        parts = [(td.Size([0, 0]), td.ones(1, 2)), (td.Size([1, 0]), td.full((2, 2), 2.0))]
        places = writer.write(0, [(meta.MetadataIndex("x", offset), part) for offset, part in parts])
        chunks = [dcp.ChunkStorageMetadata(offset, part.size()) for offset, part in parts]
        stored = {"x": dcp.TensorStorageMetadata(meta.TensorProperties(), td.Size([3, 2]), chunks)}
        writer.finish(dcp.Metadata(stored, {"x": ("x",)}, places))
        state = {"x": td.zeros(3, 2)}
        dcp.load(state, checkpoint_id=self.path)
        self.assertEqual(state["x"].tolist(), [[1, 1], [2, 2], [2, 2]])

    def test_hostile(self):
        dcp.save({"x": td.ones(2)}, checkpoint_id=self.path)
        place = os.path.join(self.path, ".metadata")
        with open(place, "wb") as file:
            pickle.dump(os.system, file)
        with self.failure(pickle.UnpicklingError, "Weights only load failed. The file names posix.system"):
            dcp.load({"x": td.ones(2)}, checkpoint_id=self.path)
        for name, text in (("../x", "which is not in"), ("__0_0.distcp", "it is damaged")):
            stored = {"x": meta.describe(td.ones(2))}
            index = meta.MetadataIndex("x", td.Size([0]), 0)
            with open(place, "wb") as file:
                meta.write_metadata(dcp.Metadata(stored, {}, {index: meta._StorageInfo(name, 10**6, 4)}), file)
            with self.failure(RuntimeError, text):
                dcp.load({"x": td.ones(2)}, checkpoint_id=self.path)

    def test_one_file(self):
        state = {"a.b": td.ones(2), "list": [{"x": 1}, td.zeros(3)], "n": {"m": {"k": "text"}}}
        dcp.save(state, checkpoint_id=self.path)
        file = self.path + ".pt"
        format_utils.dcp_to_torch_save(self.path, file)
        found = td.load(file)
        self.assertEqual(found["a.b"].tolist(), [1, 1])
        self.assertEqual((found["list"][0], found["list"][1].tolist(), found["n"]), ({"x": 1}, [0, 0, 0], state["n"]))
        format_utils.torch_save_to_dcp(file, self.path + "2")
        again = {"n": {"m": {"k": ""}}}
        dcp.load(again, checkpoint_id=self.path + "2")
        self.assertEqual(again["n"], state["n"])

    def test_stateful(self):
        class App(Stateful):
            def __init__(self):
                self.steps = 0

            def state_dict(self):
                return {"steps": self.steps}

            def load_state_dict(self, state_dict):
                self.steps = state_dict["steps"]

        app, other = App(), App()
        app.steps = 8
        dcp.save({"app": app}, checkpoint_id=self.path)
        dcp.load({"app": other}, checkpoint_id=self.path)
        self.assertEqual(other.steps, 8)
        self.assertIsInstance(nn.Linear(1, 1), Stateful)

    @unittest.skipUnless(td.cuda.is_available(), "no GPU, virtual or real")
    def test_gpu(self):
        dcp.save({"x": td.arange(4.0, device="cuda:0")}, checkpoint_id=self.path)
        on_cpu, on_gpu = td.zeros(4), td.zeros(4, device="cuda:0")
        dcp.load({"x": on_cpu}, checkpoint_id=self.path)
        dcp.load({"x": on_gpu}, checkpoint_id=self.path)
        self.assertEqual(on_cpu.tolist(), [0, 1, 2, 3])
        self.assertEqual(on_gpu.tolist(), [0, 1, 2, 3])


class States(unittest.TestCase):
    def test_model(self):
        model = net()
        model[0].bias.requires_grad_(False)
        self.assertEqual([*get_model_state_dict(model)], [*model.state_dict()])
        self.assertNotIn("0.bias", get_model_state_dict(model, options=StateDictOptions(ignore_frozen_params=True)))
        self.assertEqual([*get_model_state_dict(model, submodules={model[0]})], ["0.weight", "0.bias"])
        options = StateDictOptions(keep_submodule_prefixes=False)
        self.assertEqual([*get_model_state_dict(model, submodules={model[0]}, options=options)], ["weight", "bias"])
        with self.assertRaisesRegex(RuntimeError, 'Missing key\\(s\\) in state_dict: "0.bias"'):
            set_model_state_dict(model, {"0.weight": td.zeros(3, 2)})
        keys = set_model_state_dict(model, {model[0]: {"weight": td.ones(3, 2)}}, options=StateDictOptions(strict=False))
        self.assertEqual((keys.unexpected_keys, model[0].weight.sum().item()), ([], 6))

    def test_optimizer(self):
        model, optimizer = trained()
        state = get_optimizer_state_dict(model, optimizer)
        self.assertEqual([*state["state"]], ["0.weight", "0.bias", "1.weight", "1.bias"])
        self.assertEqual(state["param_groups"][0]["params"], [*state["state"]])
        flat = get_optimizer_state_dict(model, optimizer, options=StateDictOptions(flatten_optimizer_state_dict=True))
        self.assertEqual(flat["param_groups.0.weight.lr"], 0.5)
        self.assertTrue(td.equal(flat["state.1.bias.exp_avg"], state["state"]["1.bias"]["exp_avg"]))
        for given in (state, flat):
            other = net()
            adam = td.optim.Adam(other.parameters(), lr=0.1)
            set_optimizer_state_dict(other, adam, given)
            self.assertEqual(adam.param_groups[0]["lr"], 0.5)
            self.assertTrue(td.equal(adam.state[other[1].bias]["exp_avg"], optimizer.state[model[1].bias]["exp_avg"]))
        with self.assertRaisesRegex(ValueError, "different number of parameter groups"):
            set_optimizer_state_dict(model, optimizer, {"state": {}, "param_groups": []})

    def test_before_the_first_step(self):
        model = net()
        optimizer = td.optim.AdamW(model.parameters(), lr=0.5)
        state = get_optimizer_state_dict(model, optimizer)
        self.assertEqual(state["state"]["0.bias"]["exp_avg"].tolist(), [0, 0, 0])
        self.assertEqual((state["param_groups"][0]["lr"], optimizer.param_groups[0]["lr"]), (0.5, 0.5))
        for parameter, same in zip(model.parameters(), net().parameters()):
            self.assertTrue(td.equal(parameter, same))
            self.assertIsNone(parameter.grad)

    def test_several_optimizers(self):
        model = net()
        optimizers = [td.optim.SGD(model[0].parameters(), lr=1.0), td.optim.SGD(model[1].parameters(), lr=2.0)]
        state = get_optimizer_state_dict(model, optimizers)
        self.assertEqual([group["params"] for group in state["param_groups"]], [["0.weight", "0.bias"], ["1.weight", "1.bias"]])
        state["param_groups"][1]["lr"] = 3.0
        set_optimizer_state_dict(model, optimizers, state)
        self.assertEqual([optimizer.param_groups[0]["lr"] for optimizer in optimizers], [1.0, 3.0])


def replicated(rank, folder):
    state = {"shared": td.full((2,), float(rank)), f"own.{rank}": td.full((3,), float(rank)), "n": rank}
    dcp.save(state, checkpoint_id=folder)
    found = dcp.FileSystemReader(folder).read_metadata()
    index = meta.MetadataIndex("shared", td.Size([0]), 0)
    assert found.storage_data[index].relative_path == "__0_0.distcp", found.storage_data  # the first that has it
    assert sorted(os.listdir(folder)) == [".metadata", "__0_0.distcp", "__1_0.distcp"]
    other = {"shared": td.zeros(2), f"own.{1 - rank}": td.zeros(3), "n": None}
    dcp.load(other, checkpoint_id=folder)
    assert other["shared"].tolist() == [0, 0] and other["n"] == 0, other
    assert other[f"own.{1 - rank}"].tolist() == [1.0 - rank] * 3, other
    try:
        dcp.load({"shared": td.zeros(2 + rank)}, checkpoint_id=folder)
        raise AssertionError("rank 1 has another size")
    except dcp.CheckpointException as error:
        assert [*error.failures] == [1] and isinstance(error.failures[1][0], ValueError), error.failures


def behind_the_program(rank, folder):
    x = td.full((1000,), float(rank))
    future = dcp.async_save({f"x.{rank}": x}, checkpoint_id=folder)
    for _ in range(20):  # meanwhile the ranks work together
        dist.all_reduce(x)
        x /= 2
    future.result(60)
    state = {"x.0": td.ones(1000), "x.1": td.zeros(1000)}
    dcp.load(state, checkpoint_id=folder)
    assert state["x.0"].sum() == 0 and state["x.1"].sum() == 1000 and x[0] == 0.5, x[0]


def wrapped(kind, model):
    if kind == "ddp":
        return DistributedDataParallel(model)
    if kind == "fsdp":
        return FullyShardedDataParallel(model)
    if kind == "fsdp_original":
        return FullyShardedDataParallel(model, use_orig_params=True)
    for block in model.blocks:
        fully_shard(block)
    return fully_shard(model)


def step(model, optimizer):
    x, y = samples()
    optimizer.zero_grad()
    (model(x) - y).pow(2).sum().backward()
    optimizer.step()


def sharded(rank, folder, kind):
    """A state that was saved by a wrapped model is read by a plain one, and by a wrapped one that goes on from there."""
    plain = make()
    plain_optimizer = td.optim.Adam(plain.parameters(), lr=0.1)
    model = wrapped(kind, make())
    optimizer = td.optim.Adam(model.parameters(), lr=0.1)
    step(model, optimizer)
    step(plain, plain_optimizer)
    state, optimizer_state = get_state_dict(model, optimizer)
    assert [*state] == [*plain.state_dict()], [*state]
    assert sorted(optimizer_state["state"]) == sorted(name for name, _ in plain.named_parameters()), [*optimizer_state["state"]]
    dcp.save({"model": state, "optimizer": optimizer_state}, checkpoint_id=folder)

    reader = make()
    for parameter in reader.parameters():
        parameter.detach().zero_()
    dcp.load({"model": reader.state_dict()}, checkpoint_id=folder)
    for (name, a), b in zip(reader.named_parameters(), plain.parameters()):
        assert (a - b).abs().max() < 1e-5, name

    again = wrapped(kind, make())
    again_optimizer = td.optim.Adam(again.parameters(), lr=0.7)
    state, optimizer_state = get_state_dict(again, again_optimizer)
    target = {"model": state, "optimizer": optimizer_state}
    dcp.load(target, checkpoint_id=folder)
    set_state_dict(again, again_optimizer, model_state_dict=target["model"], optim_state_dict=target["optimizer"])
    assert again_optimizer.param_groups[0]["lr"] == 0.1
    step(again, again_optimizer)
    step(plain, plain_optimizer)
    options = StateDictOptions(full_state_dict=True, cpu_offload=True)
    whole = get_model_state_dict(again, options=options)
    assert bool(whole) == (rank == 0)
    for name, value in whole.items():
        assert (value - plain.state_dict()[name]).abs().max() < 1e-4, name

    # From rank 0 alone, to all.
    for_rank_0 = StateDictOptions(full_state_dict=True, broadcast_from_rank0=True)
    given = {name: td.full_like(value, 2.0) for name, value in make().state_dict().items()} if rank == 0 else {}
    set_model_state_dict(again, given, options=for_rank_0)
    for name, value in get_model_state_dict(again).items():
        assert (value == 2).all(), name


def shards_as_they_are(rank, folder):
    """The state_dict of a fully_shard module itself, whose tensors are parts."""
    model = fully_shard(make())
    dcp.save({"model": model.state_dict()}, checkpoint_id=folder)
    other = fully_shard(make())
    for parameter in other.parameters():
        parameter.detach().zero_()
    dcp.load({"model": other.state_dict()}, checkpoint_id=folder)
    for a, b in zip(model.parameters(), other.parameters()):
        assert td.equal(a, b)


def in_folder_of_its_own(body, *args):
    """A body of ranks that is told a folder below the common one."""
    return functools.partial(_in_folder, body, args)


def _in_folder(body, args, rank, folder):
    body(rank, os.path.join(folder, "_".join([body.__name__, *args])), *args)


class Ranks(unittest.TestCase):
    def test_two(self):
        bodies = [in_folder_of_its_own(body) for body in (replicated, behind_the_program, shards_as_they_are)]
        bodies += [in_folder_of_its_own(sharded, kind) for kind in ("ddp", "fsdp", "fsdp_original", "fully_shard")]
        with tempfile.TemporaryDirectory() as folder:
            run_ranks(2, bodies, folder)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    unittest.main()
