"""Forward mode: not there."""


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise NotImplementedError(f"autograd.forward_ad.{name}: tandem differentiates backward; use autograd.functional for products with Jacobians")
