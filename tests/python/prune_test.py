"""nn.utils.prune: masks of each way of pruning, several after one another, across parameters, and taken away again."""

import unittest

import tandem as td
from tandem import nn
from tandem.nn.utils import prune

WEIGHT = [[1.0, -4.0, 2.0], [-0.5, 3.0, -6.0]]


def layer(device="cpu"):
    made = nn.Linear(3, 2, device=device)
    with td.no_grad():
        made.weight.copy_(td.tensor(WEIGHT))
        made.bias.copy_(td.tensor([0.25, -5.0]))
    return made


class PruneTest(unittest.TestCase):
    def same(self, actual, expected):
        self.assertEqual(actual.detach().tolist(), expected)


class Unstructured(PruneTest):
    def test_smallest(self):
        module = layer()
        self.assertIs(prune.l1_unstructured(module, "weight", 2), module)
        self.same(module.weight_mask, [[0, 1, 1], [0, 1, 1]])
        self.same(module.weight_orig, WEIGHT)
        self.same(module.weight, [[0, -4, 2], [0, 3, -6]])
        self.assertEqual([name for name, _ in module.named_parameters()], ["bias", "weight_orig"])
        self.assertEqual(sorted(module.state_dict()), ["bias", "weight_mask", "weight_orig"])
        self.assertIsInstance(module.weight_orig, nn.Parameter)
        self.assertNotIsInstance(module.weight, nn.Parameter)

    def test_fraction_is_rounded_to_even(self):
        self.same(prune.l1_unstructured(layer(), "weight", 0.25).weight_mask, [[0, 1, 1], [0, 1, 1]])
        self.same(prune.l1_unstructured(layer(), "bias", 0.25).bias_mask, [1, 1])

    def test_scores(self):
        scores = td.tensor([[9.0, 1.0, 9.0], [9.0, 9.0, 2.0]])
        self.same(prune.l1_unstructured(layer(), "weight", 2, importance_scores=scores).weight_mask, [[1, 0, 1], [1, 1, 0]])
        with self.assertRaisesRegex(AssertionError, "importance_scores should have the same shape as parameter weight"):
            prune.l1_unstructured(layer(), "weight", 2, importance_scores=td.ones(2))

    def test_random(self):
        module = prune.random_unstructured(nn.Linear(10, 10), "weight", 0.3)
        self.assertEqual(module.weight_mask.sum().item(), 70)
        self.assertEqual((module.weight == 0).sum().item(), 30)

    def test_identity(self):
        module = prune.identity(layer(), "bias")
        self.same(module.bias_mask, [1, 1])
        self.same(module.bias, [0.25, -5])

    def test_gradients_and_training(self):
        module = prune.l1_unstructured(layer(), "weight", 2)
        optimizer = td.optim.SGD(module.parameters(), lr=1.0)
        module(td.tensor([[1.0, 2.0, 3.0]])).sum().backward()
        self.same(module.weight_orig.grad, [[0, 2, 3], [0, 2, 3]])
        optimizer.step()
        self.same(module(td.tensor([[1.0, 0.0, 0.0]])), [[0.25 - 1, -6]])
        self.same(module.weight, [[0, -6, -1], [0, 1, -9]])

    @unittest.skipUnless(td.cuda.is_available(), "no GPU, virtual or real")
    def test_gpu(self):
        module = layer("cuda:0")
        prune.l1_unstructured(module, "weight", 2)
        prune.random_structured(module, "weight", 1, dim=1)
        prune.ln_structured(module, "weight", 1, n=2, dim=0)
        self.assertEqual(str(module.weight_mask.device), "cuda:0")
        self.assertEqual(module.weight_mask.sum(1).bool().sum().item(), 1)
        self.same(module(td.zeros(1, 3, device="cuda:0")).cpu(), [[0.25, -5]])


class Structured(PruneTest):
    def test_norms(self):
        # The columns have the 1-norms 1.5, 7 and 8, the rows the 2-norms sqrt(21) and sqrt(45.25).
        self.same(prune.ln_structured(layer(), "weight", 1, n=1, dim=1).weight_mask, [[0, 1, 1], [0, 1, 1]])
        self.same(prune.ln_structured(layer(), "weight", 0.5, n=2, dim=0).weight_mask, [[0, 0, 0], [1, 1, 1]])
        self.same(prune.ln_structured(layer(), "weight", 2, n=float("inf"), dim=-1).weight_mask, [[0, 0, 1], [0, 0, 1]])

    def test_random(self):
        mask = prune.random_structured(nn.Conv2d(4, 6, 3), "weight", 2, dim=0).weight_mask
        self.assertEqual(sorted(mask.flatten(1).sum(1).tolist()), [0, 0, 36, 36, 36, 36])

    def test_errors(self):
        with self.assertRaisesRegex(ValueError, "Structured pruning can only be applied to multidimensional tensors"):
            prune.ln_structured(layer(), "bias", 1, n=2, dim=0)
        with self.assertRaisesRegex(IndexError, "Invalid index 7 for tensor of size"):
            prune.random_structured(layer(), "weight", 1, dim=7)


class Several(PruneTest):
    def test_container(self):
        module = layer()
        prune.l1_unstructured(module, "weight", 2)
        prune.l1_unstructured(module, "weight", 1)
        self.same(module.weight_mask, [[0, 1, 0], [0, 1, 1]])
        # The first column is pruned already. Of the others the second is the shorter one: 5 against sqrt(40).
        prune.ln_structured(module, "weight", 1, n=2, dim=1)
        self.same(module.weight_mask, [[0, 0, 0], [0, 0, 1]])
        (hook,) = module._forward_pre_hooks.values()
        self.assertIsInstance(hook, prune.PruningContainer)
        self.assertEqual([type(method).__name__ for method in hook], ["L1Unstructured", "L1Unstructured", "LnStructured"])
        self.assertEqual((len(hook), hook[2].amount), (3, 1))

    def test_of_one_parameter_only(self):
        first, second = prune.L1Unstructured(1), prune.Identity()
        first._tensor_name, second._tensor_name = "weight", "bias"
        with self.assertRaisesRegex(ValueError, "Can only add pruning methods acting on the parameter named 'weight'"):
            prune.PruningContainer(first).add_pruning_method(second)
        with self.assertRaisesRegex(TypeError, "is not a BasePruningMethod subclass"):
            prune.PruningContainer(first).add_pruning_method(3)

    def test_custom_mask(self):
        module = prune.l1_unstructured(layer(), "weight", 1)
        prune.custom_from_mask(module, "weight", td.tensor([[1, 0, 1], [1, 1, 1]]))
        self.same(module.weight_mask, [[1, 0, 1], [0, 1, 1]])

    def test_own_method(self):
        class EveryOther(prune.BasePruningMethod):
            PRUNING_TYPE = "unstructured"

            def compute_mask(self, t, default_mask):
                mask = default_mask.clone()
                mask.view(-1)[::2] = 0
                return mask

        module = layer()
        EveryOther.apply(module, "weight")
        self.same(module.weight_mask, [[0, 1, 0], [1, 0, 1]])
        EveryOther.apply(module, "weight")  # of the three that are left
        self.same(module.weight_mask, [[0, 0, 0], [1, 0, 0]])
        with self.assertRaises(TypeError):
            prune.BasePruningMethod()

    def test_failure_leaves_the_module(self):
        class Failing(prune.BasePruningMethod):
            def compute_mask(self, t, default_mask):
                raise ValueError("no mask")

        module = layer()
        with self.assertRaisesRegex(ValueError, "no mask"):
            Failing.apply(module, "weight")
        self.assertEqual(sorted(name for name, _ in module.named_parameters()), ["bias", "weight"])
        self.assertFalse(prune.is_pruned(module))

    def test_without_module(self):
        method = prune.L1Unstructured(amount=2)
        self.same(method.prune(td.tensor([1.0, -2.0, 0.5, 3.0])), [0, -2, 0, 3])
        self.same(method.prune(td.ones(3), importance_scores=td.tensor([3.0, 1.0, 2.0])), [1, 0, 0])


class Global(PruneTest):
    def test_across_layers(self):
        first, second = layer(), layer()
        prune.global_unstructured([(first, "weight"), (second, "bias")], pruning_method=prune.L1Unstructured, amount=3)
        self.same(first.weight_mask, [[0, 1, 1], [0, 1, 1]])
        self.same(second.bias_mask, [0, 1])
        prune.global_unstructured(
            [(first, "weight"), (second, "bias")],
            pruning_method=prune.L1Unstructured,
            importance_scores={(second, "bias"): td.tensor([0.0, 1.0])},
            amount=1,
        )
        self.same(second.bias_mask, [0, 0])

    def test_errors(self):
        with self.assertRaisesRegex(TypeError, "parameters is not an Iterable"):
            prune.global_unstructured(3, pruning_method=prune.L1Unstructured, amount=1)
        with self.assertRaisesRegex(TypeError, "importance_scores must be of type dict"):
            prune.global_unstructured([(layer(), "bias")], prune.L1Unstructured, [1], amount=1)
        with self.assertRaisesRegex(TypeError, 'Only "unstructured" PRUNING_TYPE supported'):
            prune.global_unstructured([(layer(), "weight")], pruning_method=prune.RandomStructured, amount=1)


class Removed(PruneTest):
    def test_remove(self):
        module = prune.l1_unstructured(layer(), "weight", 2)
        original = module.weight_orig
        self.assertTrue(prune.is_pruned(nn.Sequential(module)))
        self.assertIs(prune.remove(module, "weight"), module)
        self.assertIs(module.weight, original)
        self.same(module.weight, [[0, -4, 2], [0, 3, -6]])
        self.assertEqual(([*module._buffers], len(module._forward_pre_hooks)), ([], 0))
        with self.assertRaisesRegex(ValueError, "Parameter 'weight' of module Linear.* has to be pruned before pruning can be removed"):
            prune.remove(module, "weight")

    def test_amounts(self):
        for amount in (-1, 1.5, -0.1):
            with self.assertRaisesRegex(ValueError, "should either be a float in the range"):
                prune.L1Unstructured(amount)
        with self.assertRaisesRegex(TypeError, "Invalid type for amount: a. Must be int or float."):
            prune.RandomUnstructured("a")
        with self.assertRaisesRegex(ValueError, "amount=7 should be smaller than the number of parameters to prune=6"):
            prune.l1_unstructured(layer(), "weight", 7)


if __name__ == "__main__":
    unittest.main()
