"""Optimizers: their steps against the formulas, live groups and state, dictionaries, hooks, and what they refuse."""
import copy
import math
import pickle
import unittest
import warnings

import tandem
from tandem import nn, optim

DEVICES = ["cpu"] + (["cuda:0"] if tandem.cuda.is_available() else [])
OPTIMIZERS = {
    "SGD": {"momentum": 0.9},
    "Adam": {},
    "AdamW": {},
    "Adamax": {},
    "NAdam": {},
    "RAdam": {},
    "Adagrad": {},
    "Adadelta": {},
    "RMSprop": {"momentum": 0.5, "centered": True},
    "Rprop": {},
    "ASGD": {},
}


def parameter(*values, device="cpu"):
    return nn.Parameter(tandem.tensor(values, device=device))


def step(optimizer, param, *gradient):
    param.grad = tandem.tensor(gradient, device=param.device)
    optimizer.step()


class Steps(unittest.TestCase):
    def check(self, param, expected):
        for got, value in zip(param.tolist(), expected):
            self.assertAlmostEqual(got, value, places=5)

    def test_sgd(self):
        for device in DEVICES:
            p = parameter(1.0, -2.0, device=device)
            sgd = optim.SGD([p], lr=0.1, momentum=0.9, weight_decay=0.5)
            step(sgd, p, 1.0, 0.0)
            first = [1 + 0.5, -1.0]
            values = [1 - 0.1 * first[0], -2 - 0.1 * first[1]]
            self.check(p, values)
            step(sgd, p, 0.0, 1.0)
            second = [0.9 * first[0] + 0.5 * values[0], 0.9 * first[1] + 1 + 0.5 * values[1]]
            self.check(p, [values[0] - 0.1 * second[0], values[1] - 0.1 * second[1]])
            self.check(sgd.state[p]["momentum_buffer"], second)

    def test_sgd_nesterov_and_maximize(self):
        p = parameter(1.0)
        sgd = optim.SGD([p], lr=0.1, momentum=0.5, nesterov=True, maximize=True)
        step(sgd, p, 2.0)
        self.check(p, [1 + 0.1 * (2 + 0.5 * 2)])

    def adam(self, gradients, value, lr=0.1, decay=0.0, decoupled=0.0):
        m = v = 0.0
        for t, gradient in enumerate(gradients, 1):
            value *= 1 - lr * decoupled
            gradient += decay * value
            m = 0.9 * m + 0.1 * gradient
            v = 0.999 * v + 0.001 * gradient * gradient
            value -= lr * (m / (1 - 0.9**t)) / (math.sqrt(v / (1 - 0.999**t)) + 1e-8)
        return value

    def test_adam_and_adamw(self):
        gradients = [1.0, -3.0, 0.5]
        for device in DEVICES:
            p, q, r = (parameter(2.0, device=device) for _ in range(3))
            adam = optim.Adam([p], lr=0.1, weight_decay=0.1)
            adamw = optim.AdamW([q], lr=0.1, weight_decay=0.1)
            also_adamw = optim.Adam([r], lr=0.1, weight_decay=0.1, decoupled_weight_decay=True)
            for gradient in gradients:
                step(adam, p, gradient)
                step(adamw, q, gradient)
                step(also_adamw, r, gradient)
            self.check(p, [self.adam(gradients, 2.0, decay=0.1)])
            self.check(q, [self.adam(gradients, 2.0, decoupled=0.1)])
            self.check(r, q.tolist())

    def test_adagrad_and_rmsprop(self):
        p, q = parameter(1.0), parameter(1.0)
        adagrad, rmsprop = optim.Adagrad([p], lr=0.1), optim.RMSprop([q], lr=0.1)
        for gradient in (2.0, 1.0):
            step(adagrad, p, gradient)
            step(rmsprop, q, gradient)
        self.check(p, [1 - 0.1 * 2 / 2 - 0.1 * 1 / math.sqrt(5)])
        first, second = 0.01 * 4, 0.99 * 0.01 * 4 + 0.01
        self.check(q, [1 - 0.1 * 2 / math.sqrt(first) - 0.1 / math.sqrt(second)])

    def test_rprop_and_asgd(self):
        p, q = parameter(1.0), parameter(1.0)
        rprop, asgd = optim.Rprop([p], lr=0.1), optim.ASGD([q], lr=0.1, lambd=0.01)
        step(rprop, p, 5.0)
        step(rprop, p, 0.1)
        self.check(p, [1 - 0.1 - 0.12])
        step(asgd, q, 1.0)
        self.check(q, [1 * (1 - 0.01 * 0.1) - 0.1])
        self.assertAlmostEqual(asgd.state[q]["eta"].item(), 0.1 / (1 + 0.01 * 0.1) ** 0.75, places=6)

    def test_lbfgs_solves_a_quadratic(self):
        for search in (None, "strong_wolfe"):
            p = parameter(4.0, -3.0)
            scale, target = tandem.tensor([1.0, 10.0]), tandem.tensor([1.0, 2.0])
            lbfgs = optim.LBFGS([p], lr=1 if search else 0.5, max_iter=40, line_search_fn=search)
            losses = []

            def closure():
                lbfgs.zero_grad()
                loss = (scale * (p - target) ** 2).sum()
                loss.backward()
                losses.append(loss.item())
                return loss

            first = lbfgs.step(closure)
            self.assertEqual(first.item(), 9 + 250)
            self.assertAlmostEqual(p.tolist()[0], 1.0, places=3)
            self.assertAlmostEqual(p.tolist()[1], 2.0, places=3)
            state = lbfgs.state[p]
            self.assertEqual(state["func_evals"], len(losses))
            self.assertEqual(len(state["old_dirs"]), len(state["ro"]))
            other = optim.LBFGS([p])
            other.load_state_dict(lbfgs.state_dict())
            self.assertEqual(other.state[p]["ro"], state["ro"])
        with self.assertRaises(TypeError):
            lbfgs.step()


class Groups(unittest.TestCase):
    def test_options_are_read_at_each_step(self):
        p = parameter(1.0)
        sgd = optim.SGD([p], lr=0.1)
        step(sgd, p, 1.0)
        sgd.param_groups[0]["lr"] = 0.5
        step(sgd, p, 1.0)
        self.assertAlmostEqual(p.item(), 1 - 0.1 - 0.5, places=6)
        sgd.param_groups[0].update(maximize=True)
        step(sgd, p, 1.0)
        self.assertAlmostEqual(p.item(), 1 - 0.1, places=6)

    def test_lr_may_be_a_tensor(self):
        p, lr = parameter(1.0), tandem.tensor(0.25)
        sgd = optim.SGD([p], lr=lr)
        step(sgd, p, 1.0)
        lr.fill_(0.5)
        step(sgd, p, 1.0)
        self.assertAlmostEqual(p.item(), 0.25, places=6)
        self.assertIs(sgd.param_groups[0]["lr"], lr)

    def test_groups_with_options_of_their_own(self):
        p, q = parameter(1.0), parameter(1.0)
        sgd = optim.SGD([{"params": [p]}, {"params": q, "lr": 0.5}], lr=0.1)
        p.grad, q.grad = tandem.ones(1), tandem.ones(1)
        sgd.step()
        self.assertAlmostEqual(p.item(), 0.9, places=6)
        self.assertAlmostEqual(q.item(), 0.5, places=6)
        self.assertEqual([group["lr"] for group in sgd.param_groups], [0.1, 0.5])

    def test_groups_may_come_and_parameters_be_replaced(self):
        p, q = parameter(1.0), parameter(1.0)
        adam = optim.Adam([p], lr=0.1)
        step(adam, p, 1.0)
        adam.add_param_group({"params": [q], "lr": 0.2})
        p.grad, q.grad = tandem.ones(1), tandem.ones(1)
        adam.step()
        self.assertEqual(adam.state[p]["step"], 2)
        self.assertEqual(adam.state[q]["step"], 1)
        new = parameter(5.0)
        adam.param_groups[1]["params"][0] = new
        step(adam, new, 1.0)
        self.assertAlmostEqual(new.item(), 4.8, places=5)
        self.assertEqual(adam.state[p]["step"], 3)

    def test_an_empty_group_is_passed_over(self):
        p = parameter(1.0)
        sgd = optim.SGD([{"params": []}, {"params": [p], "lr": 0.5}], lr=0.1)
        step(sgd, p, 1.0)
        self.assertAlmostEqual(p.item(), 0.5, places=6)

    def test_names(self):
        net = nn.Linear(2, 1)
        sgd = optim.SGD(net.named_parameters(), lr=0.1)
        self.assertEqual(sgd.param_groups[0]["param_names"], ["weight", "bias"])
        self.assertEqual(sgd.state_dict()["param_groups"][0]["param_names"], ["weight", "bias"])
        with self.assertRaisesRegex(ValueError, "cannot add param group without names"):
            sgd.add_param_group({"params": [parameter(1.0)]})

    def test_zero_grad(self):
        p = parameter(1.0)
        sgd = optim.SGD([p], lr=0.1)
        p.grad = tandem.ones(1)
        sgd.zero_grad(set_to_none=False)
        self.assertEqual(p.grad.tolist(), [0.0])
        sgd.zero_grad()
        self.assertIsNone(p.grad)

    def test_the_closure_is_called_with_gradients_on(self):
        p = parameter(3.0)
        sgd = optim.SGD([p], lr=0.1)

        def closure():
            sgd.zero_grad()
            loss = (p * p).sum()
            loss.backward()
            return loss

        with tandem.no_grad():
            self.assertEqual(sgd.step(closure).item(), 9.0)
        self.assertAlmostEqual(p.item(), 3 - 0.6, places=5)

    def test_repr(self):
        text = repr(optim.SGD([parameter(1.0)], lr=0.1))
        self.assertTrue(text.startswith("SGD (\nParameter Group 0\n    dampening: 0\n    differentiable: False\n"))
        self.assertTrue(text.endswith("    nesterov: False\n    weight_decay: 0\n)"))


class State(unittest.TestCase):
    def made(self, name, device="cpu"):
        options = OPTIMIZERS[name]
        params = [parameter(1.0, 2.0, device=device), parameter(-1.0, device=device)]
        optimizer = getattr(optim, name)(params, lr=0.1, **options)
        self.step(optimizer, params)
        return optimizer, params

    @staticmethod
    def step(optimizer, params):
        for param in params:
            param.grad = param.detach() * 0.5 + 1
        optimizer.step()

    def test_state_dicts_go_on_where_they_were(self):
        for name in OPTIMIZERS:
            for device in DEVICES:
                with self.subTest(name=name, device=device):
                    optimizer, params = self.made(name, device)
                    saved = copy.deepcopy(optimizer.state_dict())
                    self.assertEqual(saved["param_groups"][0]["params"], [0, 1])
                    twins = [nn.Parameter(param.detach().clone()) for param in params]
                    twin = getattr(optim, name)(twins, lr=9.0)
                    twin.load_state_dict(saved)
                    self.assertEqual(twin.param_groups[0]["lr"], 0.1)
                    self.assertIs(twin.param_groups[0]["params"][0], twins[0])
                    self.step(optimizer, params)
                    self.step(twin, twins)
                    for param, other in zip(params, twins):
                        self.assertEqual(param.tolist(), other.tolist())

    def test_copies_and_pickles(self):
        for name in OPTIMIZERS:
            with self.subTest(name=name):
                optimizer, params = self.made(name)
                for other in (copy.deepcopy(optimizer), pickle.loads(pickle.dumps(optimizer))):
                    twins = other.param_groups[0]["params"]
                    self.assertIsNot(twins[0], params[0])
                    self.assertEqual(len(other.state), 2)
                    self.step(other, twins)
                self.step(optimizer, params)
                for param, twin in zip(params, twins):
                    self.assertEqual(param.tolist(), twin.tolist())

    def test_the_layout_is_pytorchs(self):
        adam, params = self.made("Adam")
        state = adam.state_dict()["state"]
        self.assertEqual(list(state), [0, 1])
        self.assertEqual(list(state[0]), ["step", "exp_avg", "exp_avg_sq"])
        self.assertEqual(type(state[0]), dict)
        self.assertEqual(state[0]["step"].dtype, tandem.float32)
        self.assertEqual(state[0]["step"].item(), 1.0)
        self.assertEqual(optim.SGD([params[0]], lr=0.1).state_dict()["state"], {})

    def test_what_is_written_counts(self):
        adam, (p, q) = self.made("Adam")
        adam.state[p]["exp_avg"].zero_()
        self.assertEqual(adam.state[p]["exp_avg"].tolist(), [0.0, 0.0])
        adam.state[p]["step"] += 4
        self.assertEqual(adam.state[p]["step"].item(), 5.0)
        adam.state[p]["exp_avg"] = tandem.ones(2)
        self.assertEqual(adam.state_dict()["state"][0]["exp_avg"].tolist(), [1.0, 1.0])
        adam.state[p]["mine"] = 7
        self.assertEqual(adam.state[p]["mine"], 7)
        adam.state["everywhere"] = 3
        self.assertEqual(adam.state_dict()["state"]["everywhere"], 3)
        del adam.state[q]
        self.assertNotIn(q, adam.state)
        q.grad = tandem.ones(1)
        before = q.item()
        adam.step()
        self.assertAlmostEqual(q.item(), before - 0.1, places=5)  # as a first step
        with self.assertRaisesRegex(RuntimeError, "has size"):
            adam.state[p]["exp_avg"] = tandem.ones(3)

    def test_moved_with_the_parameter(self):
        if len(DEVICES) < 2:
            self.skipTest("no GPU")
        adam, (p, q) = self.made("Adam")
        saved = adam.state_dict()
        on_gpu = [nn.Parameter(param.detach().to("cuda:0")) for param in (p, q)]
        other = optim.Adam(on_gpu)
        other.load_state_dict(saved)
        self.assertEqual(str(other.state[on_gpu[0]]["exp_avg"].device), "cuda:0")
        self.assertEqual(str(other.state[on_gpu[0]]["step"].device), "cpu")

    def test_what_does_not_fit_is_refused(self):
        adam, (p, q) = self.made("Adam")
        with self.assertRaisesRegex(ValueError, "different number of parameter groups"):
            adam.load_state_dict({"state": {}, "param_groups": []})
        with self.assertRaisesRegex(ValueError, "doesn't match the size of optimizer's group"):
            optim.Adam([p]).load_state_dict(adam.state_dict())


class Subclasses(unittest.TestCase):
    class Momentum(optim.Optimizer):
        def __init__(self, params, lr=optim.optimizer.required, momentum=0.5):
            super().__init__(params, {"lr": lr, "momentum": momentum})

        @tandem.no_grad()
        def step(self, closure=None):
            for group in self.param_groups:
                for p in group["params"]:
                    state = self.state[p]
                    if "buffer" not in state:
                        state["buffer"] = tandem.zeros_like(p)
                    state["buffer"].mul_(group["momentum"]).add_(p.grad)
                    p.add_(state["buffer"], alpha=-group["lr"])

    def test_in_python(self):
        p = parameter(1.0)
        mine = self.Momentum([p], lr=0.1)
        step(mine, p, 1.0)
        step(mine, p, 1.0)
        self.assertAlmostEqual(p.item(), 1 - 0.1 - 0.15, places=6)
        other = self.Momentum([parameter(0.0)], lr=3.0)
        other.load_state_dict(mine.state_dict())
        self.assertEqual(other.state_dict()["state"][0]["buffer"].tolist(), [1.5])
        self.assertEqual(other.param_groups[0]["lr"], 0.1)

    def test_an_option_that_groups_must_give(self):
        with self.assertRaisesRegex(ValueError, "parameter group didn't specify a value of required optimization parameter lr"):
            self.Momentum([parameter(1.0)])

    def test_hooks(self):
        p = parameter(1.0)
        for mine in (self.Momentum([p], lr=0.1), optim.SGD([p], lr=0.1)):
            calls = []
            first = mine.register_step_pre_hook(lambda optimizer, args, kwargs: calls.append(("pre", optimizer is mine)))
            mine.register_step_post_hook(lambda optimizer, args, kwargs: calls.append(("post", len(args))))
            step(mine, p, 1.0)
            first.remove()
            step(mine, p, 1.0)
            self.assertEqual(calls, [("pre", True), ("post", 1), ("post", 1)])
        mine.register_state_dict_post_hook(lambda optimizer, state: {**state, "more": 1})
        self.assertEqual(mine.state_dict()["more"], 1)

    def test_hooks_of_all(self):
        p, calls = parameter(1.0), []
        handle = optim.optimizer.register_optimizer_step_post_hook(lambda *args: calls.append(len(args)))
        step(optim.SGD([p], lr=0.1), p, 1.0)
        handle.remove()
        step(optim.SGD([p], lr=0.1), p, 1.0)
        self.assertEqual(calls, [3])


class Refusals(unittest.TestCase):
    def test_texts(self):
        p = parameter(1.0, 2.0)
        cases = [
            (lambda: optim.SGD([], lr=0.1), ValueError, "optimizer got an empty parameter list"),
            (lambda: optim.SGD([p], lr=-1), ValueError, "Invalid learning rate: -1"),
            (lambda: optim.SGD([p], momentum=-1), ValueError, "Invalid momentum value: -1"),
            (lambda: optim.SGD([p], nesterov=True), ValueError, "Nesterov momentum requires a momentum and zero dampening"),
            (lambda: optim.SGD([p], lr=tandem.ones(2)), ValueError, "Tensor lr must be 1-element"),
            (lambda: optim.SGD([p], foreach=True, fused=True), RuntimeError, "`fused` and `foreach` cannot be `True` together."),
            (lambda: optim.SGD([p], differentiable=True), NotImplementedError, "differentiable=True"),
            (lambda: optim.SGD(p, lr=0.1), TypeError, "params argument given to the optimizer should be an iterable of Tensors or dicts"),
            (lambda: optim.SGD([1]), TypeError, "optimizer can only optimize Tensors, but one of the params is int"),
            (lambda: optim.SGD([p * 2]), ValueError, "can't optimize a non-leaf Tensor"),
            (lambda: optim.SGD([{"params": {p}}]), TypeError, "optimizer parameters need to be organized in ordered collections"),
            (lambda: optim.SGD([{"params": [p]}, {"params": [p]}]), ValueError, "some parameters appear in more than one parameter group"),
            (lambda: optim.SGD([{"params": [p]}, 3]), TypeError, "param_group must be a dict, but got <class 'int'>"),
            (lambda: optim.SGD([("a", p), p]), ValueError, "Some param names are missing"),
            (lambda: optim.Adam([p], betas=(1.5, 0.9)), ValueError, "Invalid beta parameter at index 0: 1.5"),
            (lambda: optim.Adam([p], eps=-1), ValueError, "Invalid epsilon value: -1"),
            (lambda: optim.Rprop([p], etas=(2, 0.5)), ValueError, "Invalid eta values: 2, 0.5"),
            (lambda: optim.Adadelta([p], rho=2), ValueError, "Invalid rho value: 2"),
            (lambda: optim.LBFGS([{"params": [p]}, {"params": [parameter(1.0)]}]), ValueError, "LBFGS doesn't support per-parameter"),
            (lambda: optim.Optimizer([p], {}).step(), NotImplementedError, ""),
        ]
        for make, kind, text in cases:
            with self.subTest(text=text), self.assertRaises(kind) as caught:
                make()
            self.assertTrue(text in str(caught.exception), str(caught.exception))

    def test_duplicates_are_warned_of(self):
        p = parameter(1.0)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            optim.SGD([p, p], lr=0.1)
        self.assertIn("duplicate parameters", str(caught[0].message))


class Averages(unittest.TestCase):
    def test_mean_and_moving_average(self):
        net = nn.Linear(1, 1)
        mean = optim.swa_utils.AveragedModel(net)
        moving = optim.swa_utils.AveragedModel(net, multi_avg_fn=optim.swa_utils.get_ema_multi_avg_fn(0.75))
        for value in (1.0, 2.0, 6.0):
            with tandem.no_grad():
                net.weight.fill_(value)
            mean.update_parameters(net)
            moving.update_parameters(net)
        self.assertAlmostEqual(mean.module.weight.item(), 3.0, places=5)
        self.assertAlmostEqual(moving.module.weight.item(), 0.75 * (0.75 * 1 + 0.25 * 2) + 0.25 * 6, places=5)
        self.assertEqual(mean.n_averaged.item(), 3)
        self.assertEqual(list(mean.state_dict()), ["n_averaged", "module.weight", "module.bias"])
        with self.assertRaisesRegex(ValueError, "Invalid decay value 2"):
            optim.swa_utils.get_ema_multi_avg_fn(2)

    def test_update_bn(self):
        net = nn.Sequential(nn.BatchNorm1d(2))
        batches = [tandem.tensor([[0.0, 2.0], [2.0, 4.0]]), tandem.tensor([[4.0, 0.0], [6.0, 2.0]])]
        net.eval()
        optim.swa_utils.update_bn([(batch, None) for batch in batches], net)
        self.assertEqual(net[0].running_mean.tolist(), [3.0, 2.0])
        self.assertEqual(net[0].momentum, 0.1)
        self.assertFalse(net.training)


if __name__ == "__main__":
    unittest.main()
