"""torch._foreach_add and its kin: one operation over each tensor of a list, by hand, on the CPU and on a GPU."""

import unittest

import tandem
from tandem.utils import _foreach_utils

DEVICES = ["cpu", "cuda:0"] if tandem.cuda.is_available() else ["cpu"]


def lists(tensors):
    return [tensor.tolist() for tensor in tensors]


class ForeachTest(unittest.TestCase):
    def each(self):
        for device in DEVICES:
            with self.subTest(device):
                yield device, [tandem.tensor([1.0, 4.0], device=device), tandem.tensor([9.0], device=device)]

    def test_of_one(self):
        for _, a in self.each():
            made = tandem._foreach_sqrt(a)
            self.assertIs(type(made), tuple)
            self.assertEqual(lists(made), [[1, 2], [3]])
            self.assertEqual(lists(tandem._foreach_neg(a)), [[-1, -4], [-9]])
            self.assertIs(tandem._foreach_neg_(a), a)
            self.assertEqual(lists(a), [[-1, -4], [-9]])
            tandem._foreach_zero_(a)
            self.assertEqual(lists(a), [[0, 0], [0]])

    def test_of_two(self):
        for device, a in self.each():
            self.assertEqual(lists(tandem._foreach_add(a, a, alpha=2)), [[3, 12], [27]])
            self.assertEqual(lists(tandem._foreach_add(a, 1)), [[2, 5], [10]])
            self.assertEqual(lists(tandem._foreach_sub(a, [1, 2])), [[0, 3], [7]])
            self.assertEqual(lists(tandem._foreach_mul(a, tandem.tensor(2.0, device=device))), [[2, 8], [18]])
            self.assertEqual(lists(tandem._foreach_div(a, other=a)), [[1, 1], [1]])
            self.assertEqual(lists(tandem._foreach_maximum(a, 2.0)), [[2, 4], [9]])
            self.assertEqual(lists(tandem._foreach_clamp_max(a, scalar=3)), [[1, 3], [3]])
            bounds = [tandem.full((2,), 2.0, device=device), tandem.ones(1, device=device)]
            self.assertEqual(lists(tandem._foreach_minimum(a, bounds)), [[1, 2], [1]])
            self.assertEqual(lists(tandem._foreach_pow(a, exponent=2)), [[1, 16], [81]])
            self.assertEqual(lists(tandem._foreach_pow(2.0, [tandem.tensor([3.0], device=device)])), [[8]])
            self.assertIs(tandem._foreach_mul_(a, 3.0), a)
            self.assertEqual(lists(a), [[3, 12], [27]])

    def test_of_three(self):
        for _, a in self.each():
            ones = [tandem.ones_like(tensor) for tensor in a]
            self.assertEqual(lists(tandem._foreach_addcmul(a, a, ones, value=2)), [[3, 12], [27]])
            self.assertEqual(lists(tandem._foreach_addcmul(a, a, ones, [1.0, 2.0])), [[2, 8], [27]])
            self.assertEqual(lists(tandem._foreach_addcmul(a, a, ones, tandem.tensor([1.0, 2.0]))), [[2, 8], [27]])
            self.assertEqual(lists(tandem._foreach_addcdiv(a, a, ones)), [[2, 8], [18]])
            self.assertEqual(lists(tandem._foreach_lerp(a, ones, 0.5)), [[1, 2.5], [5]])
            self.assertIs(tandem._foreach_lerp_(a, ones, weight=1.0), a)
            self.assertEqual(lists(a), [[1, 1], [1]])

    def test_the_others(self):
        for device, a in self.each():
            self.assertEqual(lists(tandem._foreach_norm([a[1], tandem.tensor([3.0, 4.0], device=device)])), [9, 5])
            self.assertEqual(lists(tandem._foreach_norm(a, 1)), [5, 9])
            self.assertEqual(lists(tandem._foreach_powsum(a, 2)), [17, 81])
            self.assertEqual(lists(tandem._foreach_max(a)), [4, 9])
            copies = tandem._foreach_clone(a)
            tandem._foreach_copy_(a, tandem._foreach_mul(a, 2))
            self.assertEqual(lists(a), [[2, 8], [18]])
            self.assertEqual(lists(copies), [[1, 4], [9]])

    def test_gradients_go_through(self):
        x = tandem.tensor([1.0, 2.0], requires_grad=True)
        tandem._foreach_mul([x], [tandem.tensor([3.0, 4.0])])[0].sum().backward()
        self.assertEqual(x.grad.tolist(), [3, 4])

    def test_errors(self):
        a = [tandem.ones(2), tandem.ones(1)]
        with self.assertRaisesRegex(RuntimeError, "^Tensor list must have at least one tensor."):
            tandem._foreach_add([], 1)
        with self.assertRaisesRegex(RuntimeError, "^Tensor lists must have the same number of tensors, got 2 and 1"):
            tandem._foreach_add(a, a[:1])
        with self.assertRaisesRegex(RuntimeError, "^Tensor list must have same number of elements as scalar list."):
            tandem._foreach_mul_(a, [1])
        with self.assertRaisesRegex(RuntimeError, "^scalar tensor expected to be 0 dim but it has 1 dimensions and 2 elements."):
            tandem._foreach_mul(a, tandem.ones(2))
        with self.assertRaises(TypeError):
            tandem._foreach_add(a)
        self.assertFalse(hasattr(tandem, "_foreach_nothing"))

    def test_groups(self):
        a = [tandem.ones(2), tandem.ones(1, dtype=tandem.int64), tandem.zeros(())]
        cpu = tandem.device("cpu")
        groups = _foreach_utils._group_tensors_by_device_and_dtype([a, [1, 2, 3], []], with_indices=True)
        (floats, names, empty), places = groups[cpu, tandem.float32]
        self.assertIs(floats[0], a[0])
        self.assertIs(floats[1], a[2])
        self.assertEqual((names, empty, places), ([1, 3], [], [0, 2]))
        self.assertEqual(groups[cpu, tandem.int64][0][1], [2])
        self.assertTrue(_foreach_utils._has_foreach_support(a, cpu))


if __name__ == "__main__":
    unittest.main()
