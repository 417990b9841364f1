"""`record`, which programs that torchrun starts put before their main function."""


def record(fn=None, error_handler=None):
    """Gives the function as it is: `tandem.distributed.run` says which rank failed, and Python how."""
    return fn if fn is not None else lambda function: function
