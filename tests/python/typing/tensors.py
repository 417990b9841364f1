"""Expressions over tensors: each is given the type that it has."""

from typing import assert_type

import tandem as torch

x = torch.zeros(2, 3)
y = (x @ x.mT).sum()
assert_type(x, torch.Tensor)
assert_type(y, torch.Tensor)
assert_type(2 * x + x / 3 - x**2, torch.Tensor)
assert_type(x == 0, torch.Tensor)
assert_type(x.shape, torch.Size)
assert_type(x.size(0), int)
assert_type(x.numel() + x.dim(), int)
assert_type(x.dtype, torch.dtype)
assert_type(x.device, torch.device)
assert_type(x[0, 1:], torch.Tensor)
assert_type(x.view(3, 2), torch.Tensor)
assert_type(x.view((3, -1)).reshape(-1), torch.Tensor)
assert_type(x.to("cpu").to(torch.float64).to(x.device, torch.float32), torch.Tensor)
assert_type(x.float().half().long(), torch.Tensor)
assert_type(x.add_(1).mul_(2), torch.Tensor)
assert_type(torch.cat([x, x], dim=0), torch.Tensor)
assert_type(torch.stack((x, x)), torch.Tensor)
assert_type(torch.allclose(x, x), bool)
assert_type(x.std(0) + x.var(dim=1, keepdim=True).mean(), torch.Tensor)
assert_type(torch.where(x > 0, x, 0.0), torch.Tensor)
assert_type(torch.arange(0, 10, 2, dtype=torch.int64), torch.Tensor)
assert_type(torch.full((2, 2), 7), torch.Tensor)
assert_type(torch.einsum("ij,kj->ik", x, x), torch.Tensor)
assert_type(torch.linalg.norm(x), torch.Tensor)

values, indices = x.max(dim=1)
assert_type(values, torch.Tensor)
assert_type(x.sort(1).indices, torch.Tensor)
first, second = x.split([1, 1])
assert_type(first, torch.Tensor)
for row in x:
    assert_type(row, torch.Tensor)

u, s, vh = torch.linalg.svd(x)
assert_type(s, torch.Tensor)
assert_type(torch.linalg.svd(x).Vh, torch.Tensor)

x.requires_grad_(True)
if x.grad is not None:
    x.grad.zero_()
x.sum().backward()
total: float = x.detach().sum().item()
