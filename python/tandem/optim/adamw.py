"""AdamW: Adam with the weight decay apart from the gradient."""
from tandem.optim.adam import Adam


class AdamW(Adam):
    """Loshchilov and Hutter, "Decoupled weight decay regularization": the decay shrinks the parameter itself."""

    def __init__(
        self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2, amsgrad=False, *, maximize=False, foreach=None,
        capturable=False, differentiable=False, fused=None,
    ):
        super().__init__(
            params, lr, betas, eps, weight_decay, amsgrad, foreach=foreach, maximize=maximize, capturable=capturable,
            differentiable=differentiable, fused=fused, decoupled_weight_decay=True,
        )
