"""A training loop: types of tensors, modules, optimizers and schedules."""

import tandem as torch
import tandem.nn.functional as F
from tandem import nn


class Classifier(nn.Module):
    def __init__(self, features: int, classes: int) -> None:
        super().__init__()
        self.hidden = nn.Linear(features, 32)
        self.dropout = nn.Dropout(0.1)
        self.out = nn.Linear(32, classes)
        self.register_buffer("scale", torch.ones(features))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.dropout(F.relu(self.hidden(x)))
        return self.out(x)


def accuracy(logits: torch.Tensor, target: torch.Tensor) -> float:
    return (logits.argmax(dim=1) == target).float().mean().item()


def train(device: torch.device, epochs: int = 2) -> list[float]:
    torch.manual_seed(0)
    x, y = torch.randn(64, 8, device=device), torch.randint(0, 3, (64,), device=device)
    model = Classifier(8, 3).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.9)
    losses: list[float] = []
    for _ in range(epochs):
        for start in range(0, x.size(0), 16):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x[start : start + 16]), y[start : start + 16])
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            losses.append(loss.item())
        schedule.step()
    with torch.no_grad():
        model.eval()
        losses.append(accuracy(model(x), y))
    return losses


if __name__ == "__main__":
    assert len(train(torch.device("cuda" if torch.cuda.is_available() else "cpu"))) == 9
