"""Attention by functions: scores and masks against attention with the same mask, blocks of masks, groups of heads, causal masks by name."""

import math
import unittest

import tandem as torch
import tandem.nn.functional as F
from tandem.nn.attention.bias import causal_lower_right, causal_upper_left
from tandem.nn.attention.flex_attention import and_masks, create_block_mask, create_mask, flex_attention, or_masks

DEVICES = ["cpu"] + (["cuda:0"] if torch.cuda.is_available() else [])


def causal(b, h, q_idx, kv_idx):
    return q_idx >= kv_idx


def near(b, h, q_idx, kv_idx):
    return (q_idx - kv_idx).abs() <= 2


class FlexAttention(unittest.TestCase):
    def inputs(self, device, heads=2, shared=2, dtype=torch.float32):
        torch.manual_seed(0)
        return [torch.rand(2, n, 6, 4, device=device, dtype=dtype) for n in (heads, shared, shared)]

    def test_against_attention(self):
        for device in DEVICES:
            with self.subTest(device):
                q, k, v = self.inputs(device)
                self.assertTrue(torch.allclose(flex_attention(q, k, v), F.scaled_dot_product_attention(q, k, v), atol=1e-5))
                mask = create_block_mask(causal, None, None, 6, 6, device=device, BLOCK_SIZE=2)
                wanted = F.scaled_dot_product_attention(q, k, v, is_causal=True)
                self.assertTrue(torch.allclose(flex_attention(q, k, v, block_mask=mask), wanted, atol=1e-5))
                bias = torch.rand(2, 6, 6, device=device)
                found = flex_attention(q, k, v, score_mod=lambda score, b, h, q_idx, kv_idx: score + bias[h, q_idx, kv_idx])
                self.assertTrue(torch.allclose(found, F.scaled_dot_product_attention(q, k, v, attn_mask=bias), atol=1e-5))

    def test_what_comes_beside(self):
        q, k, v = self.inputs("cpu", dtype=torch.float64)
        output, lse = flex_attention(q, k, v, scale=1.0, return_lse=True)
        self.assertTrue(torch.allclose(lse, torch.logsumexp(q @ k.mT, dim=-1)))
        nothing = create_block_mask(lambda b, h, q_idx, kv_idx: (q_idx > 2) & (kv_idx < 3), 1, 1, 6, 6, device="cpu")
        output, lse = flex_attention(q, k, v, block_mask=nothing, return_lse=True)
        self.assertEqual(output[:, :, :3].abs().max().item(), 0)
        self.assertEqual(lse[0, 0, 0].item(), -math.inf)

    def test_gradients(self):
        q, k, v = (x.requires_grad_() for x in self.inputs("cpu", dtype=torch.float64))
        slope = torch.tensor([0.5, 0.25], dtype=torch.float64)
        mask = create_block_mask(causal, None, None, 6, 6, device="cpu")
        flex_attention(q, k, v, lambda s, b, h, i, j: s - slope[h] * (i - j), mask).square().sum().backward()
        found = [x.grad.clone() for x in (q, k, v)]
        rows = torch.arange(6)
        bias = -slope[:, None, None] * (rows[:, None] - rows)
        bias = bias.masked_fill(rows[:, None] < rows, -math.inf)
        for x in (q, k, v):
            x.grad = None
        F.scaled_dot_product_attention(q, k, v, attn_mask=bias).square().sum().backward()
        for one, x in zip(found, (q, k, v)):
            self.assertTrue(torch.allclose(one, x.grad))

    def test_groups_of_heads(self):
        q, k, v = self.inputs("cpu", heads=4)
        found = flex_attention(q, k, v, enable_gqa=True)
        wanted = F.scaled_dot_product_attention(q, k.repeat_interleave(2, 1), v.repeat_interleave(2, 1))
        self.assertTrue(torch.allclose(found, wanted, atol=1e-5))
        with self.assertRaisesRegex(ValueError, "Expect query and key/value to have the same number of heads but got Hq=4 and Hkv=2"):
            flex_attention(q, k, v)
        with self.assertRaisesRegex(NotImplementedError, "must be 4D tensors"):
            flex_attention(q[0], k, v)

    def test_blocks(self):
        mask = create_block_mask(causal, 1, 2, 512, 512, device="cpu")
        self.assertEqual((tuple(mask.shape), mask.sparsity(), mask.BLOCK_SIZE), ((1, 2, 512, 512), 37.5, (128, 128)))
        self.assertEqual(mask.kv_num_blocks.tolist(), [[[1, 1, 1, 1]] * 2])
        self.assertEqual(mask.full_kv_num_blocks.tolist(), [[[0, 1, 2, 3]] * 2])
        self.assertEqual(mask.kv_indices[0, 0].tolist(), [[0, 1, 2, 3], [1, 0, 2, 3], [2, 0, 1, 3], [3, 0, 1, 2]])
        self.assertEqual(mask.full_q_num_blocks[0, 0].tolist(), [3, 2, 1, 0])
        self.assertEqual(mask.to_dense()[0, 1].tolist(), [[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1]])
        self.assertIn("BlockMask(shape=(1, 2, 512, 512), sparsity=37.50%, \n(0, 0)\n██      \n████    \n", str(mask))
        uneven = create_block_mask(causal, None, None, 300, 200, device="cpu")
        self.assertEqual(uneven.kv_indices.tolist(), [[[[0, 1], [1, 0], [0, 1]]]])
        q = torch.rand(1, 2, 6, 4)
        with self.assertRaisesRegex(RuntimeError, "block_mask was created for a larger length than you're using it for"):
            flex_attention(q, q, q, block_mask=mask)

    def test_masks(self):
        self.assertEqual(create_mask(causal, 1, 1, 2, 3, device="cpu").tolist(), [[[[True, False, False], [True, True, False]]]])
        both = create_mask(and_masks(causal, near), None, None, 4, 4, device="cpu")
        self.assertEqual(both[0, 0, 3].tolist(), [False, True, True, True])
        either = create_mask(or_masks(causal, near), None, None, 4, 4, device="cpu")
        self.assertEqual(either[0, 0, 0].tolist(), [True, True, True, False])
        documents = torch.tensor([0, 0, 1, 1])
        same = create_mask(lambda b, h, q, kv: documents[q] == documents[kv], None, None, 4, 4, device="cpu")
        self.assertEqual(same[0, 0, 2].tolist(), [False, False, True, True])

    def test_causal_by_name(self):
        self.assertEqual(causal_lower_right(2, 3)._materialize().tolist(), [[True, True, False], [True, True, True]])
        self.assertEqual(causal_upper_left(2, 3)._materialize().tolist(), [[True, False, False], [True, True, False]])
        q, k = torch.rand(1, 1, 2, 4), torch.rand(1, 1, 3, 4)
        found = F.scaled_dot_product_attention(q, k, k, attn_mask=causal_lower_right(2, 3))
        wanted = F.scaled_dot_product_attention(q, k, k, attn_mask=causal_lower_right(2, 3)._materialize())
        self.assertTrue(torch.allclose(found, wanted))


if __name__ == "__main__":
    unittest.main()
