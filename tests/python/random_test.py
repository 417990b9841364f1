"""Random numbers: tandem's own, PyTorch's to the bit, Generators and states."""

import json
import pathlib
import unittest

import random_cases
import tandem as torch


class AsTorch(unittest.TestCase):
    def setUp(self):
        torch.set_cpu_random("torch")

    def tearDown(self):
        torch.set_cpu_random("tandem")

    def test_the_first_numbers(self):
        torch.manual_seed(0)
        self.assertEqual([round(v, 4) for v in torch.rand(3).tolist()], [0.4963, 0.7682, 0.0885])

    def test_every_call_gives_pytorchs_bits(self):
        cases = json.loads(pathlib.Path(random_cases.__file__).with_suffix(".json").read_text())
        self.assertGreaterEqual(len(cases), 200)
        for seed, text, wanted in cases:
            with self.subTest(text):
                self.assertEqual(random_cases.digest(torch, seed, text), wanted)

    def test_the_cases_are_those_of_the_list(self):
        cases = json.loads(pathlib.Path(random_cases.__file__).with_suffix(".json").read_text())
        self.assertEqual([text for _, text, _ in cases], list(random_cases.expressions()))

    def test_a_state_goes_on_where_it_was(self):
        torch.manual_seed(3)
        torch.randn(3)  # leaves a second normal number
        state = torch.get_rng_state()
        first = torch.randn(5).tolist()
        torch.set_rng_state(state)
        self.assertEqual(torch.randn(5).tolist(), first)

    def test_gpus_draw_tandems_own(self):
        torch.manual_seed(0)
        self.assertNotEqual(round(torch.rand(1, device="cuda").item(), 4), 0.4963)

    def test_chances_that_are_none_are_refused(self):
        with self.assertRaises(RuntimeError):
            torch.bernoulli(torch.tensor([0.5, 1.5]))
        with self.assertRaises(ValueError):
            torch.set_cpu_random("numpy")


class Own(unittest.TestCase):
    def test_the_same_on_all_devices(self):
        torch.manual_seed(7)
        here = torch.randn(100).tolist()
        torch.manual_seed(7)
        self.assertEqual(torch.randn(100, device="cuda").tolist(), here)

    def test_a_generator_leaves_the_others_alone(self):
        torch.manual_seed(1)
        first = torch.rand(4).tolist()
        torch.manual_seed(1)
        generator = torch.Generator().manual_seed(9)
        drawn = torch.rand(2, generator=generator).tolist()
        self.assertEqual(torch.rand(4).tolist(), first)
        self.assertEqual(torch.rand(2, generator=torch.Generator().manual_seed(9)).tolist(), drawn)
        state = generator.get_state()
        after = torch.rand(2, generator=generator).tolist()
        generator.set_state(state)
        self.assertEqual(torch.rand(2, generator=generator).tolist(), after)

    def test_fork_rng(self):
        torch.manual_seed(2)
        first = torch.rand(2).tolist()
        torch.manual_seed(2)
        with torch.random.fork_rng() if hasattr(torch, "random") else torch.fork_rng():
            torch.rand(10)
        self.assertEqual(torch.rand(2).tolist(), first)

    def test_states_that_are_none_are_refused(self):
        with self.assertRaisesRegex(RuntimeError, "wrong size"):
            torch.set_rng_state(torch.zeros(3, dtype=torch.uint8))
        with self.assertRaises(TypeError):
            torch.set_rng_state(torch.zeros(16))


if __name__ == "__main__":
    unittest.main()
