"""Pipelines on three ranks: losses, results and gradients are those of the whole model, in both schedules; what is refused."""

import copy
import os
import tempfile
import unittest
from datetime import timedelta

import tandem as torch
import tandem.distributed as dist
import tandem.multiprocessing as mp
from tandem import nn
from tandem.distributed.pipelining import PipelineStage, Schedule1F1B, ScheduleGPipe

RANKS = 3


class Middle(nn.Module):
    """Takes and gives two tensors, one of them of whole numbers."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(6, 6)

    def forward(self, x, labels):
        return torch.relu(self.layer(x)), labels


class First(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(10, 6)

    def forward(self, words):
        return self.words(words).mean(1), words[:, 0]


class Last(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(6, 10)

    def forward(self, x, labels):
        return self.layer(x) + labels.unsqueeze(1)


def close(found, wanted, what=""):
    assert torch.allclose(found.detach(), wanted.detach(), atol=1e-5), f"{what}: {found} is not {wanted}"


def run(rank):
    torch.manual_seed(0)
    whole = [First(), Middle(), Last()]
    words, target = torch.randint(0, 10, (8, 4)), torch.randint(0, 10, (8,))
    for schedule_class in (ScheduleGPipe, Schedule1F1B):
        part = copy.deepcopy(whole[rank])
        stage = PipelineStage(part, rank, RANKS, torch.device("cpu"))
        schedule = schedule_class(stage, n_microbatches=4, loss_fn=nn.functional.cross_entropy)
        for _ in range(2):
            for parameter in part.parameters():
                parameter.grad = None
            losses = []
            result = schedule.step(*([words] if rank == 0 else []), target=target if rank == RANKS - 1 else None, losses=losses)
        model = copy.deepcopy(whole)
        wanted = model[2](*model[1](*model[0](words)))
        loss = nn.functional.cross_entropy(wanted, target)
        loss.backward()
        for (name, parameter), full in zip(part.named_parameters(), model[rank].parameters()):
            close(parameter.grad, full.grad, name)
        if rank == RANKS - 1:
            close(result, wanted)
            close(torch.stack(losses).mean(), loss)
        else:
            assert result is None and losses == []
        with torch.no_grad():
            result = schedule.eval(*([words] if rank == 0 else []))
        if rank == RANKS - 1:
            close(result, wanted)
        assert not stage._kept and not stage._sent
    orders = [Schedule1F1B(stage, 4)._order(True), ScheduleGPipe(stage, 2)._order(True)]
    if rank == 1:
        assert "".join(kind + str(number) for kind, number in orders[0]) == "F0F1B0F2B1F3B2B3"
    assert orders[1] == [("F", 0), ("F", 1), ("B", 0), ("B", 1)]
    for call in (
        lambda: PipelineStage(part, (rank + 1) % RANKS, RANKS, torch.device("cpu")),
        lambda: PipelineStage(part, RANKS, RANKS, torch.device("cpu")),
        lambda: ScheduleGPipe(stage, 0),
        lambda: ScheduleGPipe(stage, 9)._parts((words,)),
    ):
        try:
            call()
        except ValueError:
            continue
        raise AssertionError("it was accepted")


def enter(rank, path):
    dist.init_process_group("gloo", init_method=f"file://{path}", rank=rank, world_size=RANKS, timeout=timedelta(seconds=60))
    run(rank)
    dist.destroy_process_group()


class ThreeRanks(unittest.TestCase):
    def test_schedules(self):
        with tempfile.TemporaryDirectory() as folder:
            mp.spawn(enter, (os.path.join(folder, "meeting"),), nprocs=RANKS)


if __name__ == "__main__":
    unittest.main()
