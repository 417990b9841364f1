"""Options that programs set, which change nothing."""

coordinate_descent_tuning = False
epilogue_fusion = True
max_autotune = False
fx_graph_cache = False
conv_1x1_as_mm = False
shape_padding = True
compile_threads = 1


class triton:
    """Options of Triton's, which tandem does not use."""

    unique_kernel_names = True
    cudagraphs = False
    cudagraph_trees = True
