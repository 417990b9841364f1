"""Datasets of one's own, and loaders over them."""

import tandem as torch
from tandem.utils.data import DataLoader, Dataset, TensorDataset, random_split


class Squares(Dataset):
    def __init__(self, count: int) -> None:
        self.x = torch.arange(count, dtype=torch.float32)

    def __len__(self) -> int:
        return self.x.numel()

    def __getitem__(self, index: int) -> tuple[torch.Tensor, torch.Tensor]:
        return self.x[index], self.x[index] ** 2


def pad(batch: list[tuple[torch.Tensor, torch.Tensor]]) -> torch.Tensor:
    return torch.stack([torch.stack(pair) for pair in batch])


def total(loader: DataLoader) -> float:
    result = 0.0
    for x, y in loader:
        result += float((y - x).sum())
    return result


if __name__ == "__main__":
    train, test = random_split(Squares(10), [8, 2], generator=torch.Generator().manual_seed(0))
    assert total(DataLoader(train, batch_size=4, shuffle=True)) + total(DataLoader(test)) == 285 - 45
    assert next(iter(DataLoader(Squares(4), batch_size=2, collate_fn=pad))).shape == (2, 2)
    assert len(DataLoader(TensorDataset(torch.zeros(6, 2), torch.ones(6)), batch_size=4, drop_last=True)) == 1
