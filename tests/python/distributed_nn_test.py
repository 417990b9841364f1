"""tandem.distributed.nn: what the differentiable collectives give on two ranks, and the gradients that they send back."""

import os
import tempfile
import unittest
from datetime import timedelta

import tandem
import tandem.distributed as dist
import tandem.multiprocessing as mp
from tandem.distributed import nn as dist_nn


def leaf(*values):
    return tandem.tensor(values, dtype=tandem.float32, requires_grad=True)


def same(found, *values):
    assert found.tolist() == list(values), f"{found.tolist()}, not {list(values)}"


def reductions(rank):
    x = leaf(1.0 + rank, 2.0)
    total = dist_nn.all_reduce(x)
    same(total, 3, 4)
    (total * (rank + 1)).sum().backward()  # each rank's total counts: 1 + 2
    same(x.grad, 3, 3)
    same(x, 1 + rank, 2)
    x = leaf(1.0 + rank, 2.0)
    on_one = dist_nn.reduce(x, 1)
    if rank == 1:
        same(on_one, 3, 4)
    (on_one * (rank + 2)).sum().backward()
    same(x.grad, 3, 3)
    parts = [leaf(1.0 + rank), leaf(10.0 + rank)]
    mine = dist_nn.reduce_scatter(tandem.empty(1), parts)
    same(mine, 3 if rank == 0 else 21)
    (mine * (rank + 5)).sum().backward()
    same(parts[0].grad, 5)
    same(parts[1].grad, 6)


def copies(rank):
    x = leaf(1.0 + rank, 2.0)
    got = dist_nn.broadcast(x, 1)
    same(got, 2, 2)
    (got * (rank + 1)).sum().backward()
    same(x.grad, *([3, 3] if rank == 1 else [0, 0]))
    x = leaf(1.0 + rank)
    first, second = dist_nn.all_gather(x)
    same(first, 1)
    same(second, 2)
    (first * 3 * (rank + 1) + second * 5).sum().backward()
    same(x.grad, 9 if rank == 0 else 10)
    x = leaf(1.0 + rank)
    parts = dist_nn.gather(x, 0)
    same(tandem.cat(parts), *([1, 2] if rank == 0 else [0, 0]))
    (parts[0] * 3 + parts[1] * 5).sum().backward()
    same(x.grad, 3 if rank == 0 else 5)
    given = [leaf(1.0), leaf(2.0)]
    mine = dist_nn.scatter(given, 0)
    same(mine, 1 + rank)
    (mine * (rank + 3)).sum().backward()
    same(given[0].grad, 3 if rank == 0 else 0)
    same(given[1].grad, 4 if rank == 0 else 0)


def exchanges(rank):
    sent = [leaf(1.0 + 10 * rank), leaf(2.0 + 10 * rank)]
    got = dist_nn.all_to_all([tandem.empty(1), tandem.empty(1)], sent)
    same(tandem.cat(got), 1 + rank, 11 + rank)
    (got[0] * 3 + got[1] * 5).sum().backward()
    for part in sent:
        same(part.grad, 3 if rank == 0 else 5)
    x = leaf(1.0, 2.0, 3.0) if rank == 0 else leaf(4.0)
    got = dist_nn.all_to_all_single(tandem.empty(2), x, [1, 1] if rank == 0 else [2, 0], [1, 2] if rank == 0 else [1, 0])
    same(got, *([1, 4] if rank == 0 else [2, 3]))
    (got * tandem.tensor([2.0, 3.0])).sum().backward()
    same(x.grad, *([2, 2, 3] if rank == 0 else [3]))


def again(rank):
    x = leaf(2.0)
    dist_nn.all_reduce(x * x).sum().backward(create_graph=True)  # both ranks' gradient of the sum: 2 * 2 x
    same(x.grad, 8)


def enter(rank, path, body):
    dist.init_process_group("gloo", init_method=f"file://{path}", rank=rank, world_size=2, timeout=timedelta(seconds=60))
    body(rank)
    dist.destroy_process_group()


class TwoRanks(unittest.TestCase):
    def run_ranks(self, body):
        with tempfile.TemporaryDirectory() as folder:
            mp.spawn(enter, (os.path.join(folder, "meeting"), body), nprocs=2)

    def test_reductions(self):
        self.run_ranks(reductions)

    def test_copies(self):
        self.run_ranks(copies)

    def test_exchanges(self):
        self.run_ranks(exchanges)

    def test_gradients_of_gradients(self):
        self.run_ranks(again)


if __name__ == "__main__":
    unittest.main()
