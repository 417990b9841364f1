"""The programs of others that .ci/programs runs: where each lies in its checkout, how it is called, and what it reads."""

import dataclasses

import files


@dataclasses.dataclass
class Program:
    """One program. Its commands run one after the other in a copy of its folder, so that nothing is written into the checkout."""
    name: str
    folder: str  # of FOLDER: the checkout, and the folder in it
    commands: list  # arguments of Python
    files: list = dataclasses.field(default_factory=list)  # pairs: what makes them, and where, from the copy
    gpus: int = 0  # virtual ones; PyTorch has none where the machine has none
    lines: int = 0  # a program without an end: it is stopped when it has printed so many lines
    seconds: int = 900  # for each command
    variables: dict = dataclasses.field(default_factory=dict)  # of the environment
    numbers: bool = True  # False: what it prints changes from one run to the next


@dataclasses.dataclass
class Chapter:
    """A chapter of d2l: its pages, cell by cell."""
    name: str
    gpu_pages: tuple = ()  # these run with two virtual GPUs
    seconds: int = 1800  # for each page


def _examples(name, folder, *commands, **options):
    return Program(f"examples {name}", f"examples/{folder}", list(commands), **options)


DIGITS = [(files.digits, "../data/MNIST/raw")]
SMALL_LANGUAGE_MODEL = "main.py --epochs 1 --emsize 16 --nhid 16 --batch_size 4 --bptt 8 --log-interval 20 --lr 1"
TINY_GPT = ("--device=cpu --dtype=float32 --eval_interval=4 --eval_iters=2 --log_interval=1 --block_size=32 --batch_size=4 "
            "--n_layer=2 --n_head=2 --n_embd=32 --max_iters=8 --lr_decay_iters=8 --warmup_iters=2")
TINY_MINGPT = "--model.model_type=gpt-nano --trainer.num_workers=1 --trainer.max_iters=21"

PROGRAMS = [
    _examples("regression", "regression", "main.py", numbers=False),  # it sets no seed
    _examples("mnist", "mnist", "main.py --epochs 1 --save-model", files=DIGITS),
    _examples("mnist_hogwild", "mnist_hogwild", "main.py --epochs 1 --dry-run", files=DIGITS, numbers=False),
    _examples("mnist_rnn", "mnist_rnn", "main.py --epochs 1 --save-model", files=DIGITS),
    _examples("mnist_forward_forward", "mnist_forward_forward", "main.py --epochs 2 --save-model",
              files=[(files.digits, "data/MNIST/raw")]),
    _examples("vae", "vae", "main.py --epochs 1", files=DIGITS),
    _examples("siamese_network", "siamese_network", "main.py --epochs 1 --save-model --log-interval 2", files=DIGITS,
              numbers=False),  # it draws pairs by Python's random numbers, and sets no seed for them
    _examples("dcgan", "dcgan", "main.py --dataset fake --niter 1 --dry-run --batchSize 8 --ngf 8 --ndf 8 --manualSeed 1"),
    _examples("time_sequence_prediction", "time_sequence_prediction", "generate_sine_wave.py", "train.py --steps 1",
              variables={"TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD": "1"}),  # its data are a NumPy array
    *[_examples(f"word_language_model {model}", "word_language_model", f"{SMALL_LANGUAGE_MODEL} --model {model}",
                "generate.py --words 40", files=[(files.word_corpus, "data/wikitext-2")])
      for model in ("RNN_TANH", "RNN_RELU", "LSTM --tied", "GRU --use-optimizer --lr 0.01", "Transformer")],
    _examples("reinforce", "reinforcement_learning", "-u reinforce.py", lines=5),
    _examples("actor_critic", "reinforcement_learning", "-u actor_critic.py", lines=5),
    _examples("super_resolution", "super_resolution",
              "main.py --upscale_factor 3 --batchSize 2 --testBatchSize 2 --nEpochs 1 --lr 0.001 --threads 1",
              "super_resolve.py --input_image dataset/BSDS300/images/test/0.jpg --model model_epoch_1.pth --output_filename out.png",
              files=[(files.photographs, "dataset/BSDS300/images")]),
    _examples("fast_neural_style", "fast_neural_style", "untrained.py",
              "neural_style/neural_style.py eval --content-image content.jpg --model untrained.pth --output-image out.jpg",
              files=[(files.style_network, ".")]),
    _examples("imagenet", "imagenet", "main.py --epochs 1 --seed 1 -b 4 -j 1 pictures", files=[(files.classes_of_photographs, "pictures")]),
    _examples("gcn", "gcn", "main.py --epochs 20", files=[(files.citations, "cora")]),
    _examples("gat", "gat", "main.py --epochs 2 --val-every 1 --hidden-dim 8 --num-heads 2", files=[(files.citations, "cora")]),
    _examples("ddp single_gpu", "distributed/ddp-tutorial-series", "single_gpu.py 2 1", gpus=2),
    _examples("ddp multigpu", "distributed/ddp-tutorial-series", "multigpu.py 2 1", gpus=2, numbers=False),
    _examples("ddp torchrun", "distributed/ddp-tutorial-series",
              "-m torch.distributed.run --standalone --nproc_per_node=2 multigpu_torchrun.py 2 1", gpus=2, numbers=False),

    Program("nanoGPT", "nanoGPT", ["data/shakespeare_char/prepare.py",
                                   f"train.py config/train_shakespeare_char.py {TINY_GPT} --compile=False",
                                   "sample.py --out_dir=out-shakespeare-char --device=cpu --dtype=float32 --num_samples=2 "
                                   "--max_new_tokens=40 --top_k=1"],
            files=[(files.play, "data/shakespeare_char")]),
    Program("nanoGPT compiled", "nanoGPT", ["data/shakespeare_char/prepare.py",
                                            f"train.py config/train_shakespeare_char.py {TINY_GPT} --compile=True"],
            files=[(files.play, "data/shakespeare_char")]),
    Program("minGPT adder", "minGPT", [f"projects/adder/adder.py {TINY_MINGPT}"]),
    Program("minGPT chargpt", "minGPT", [f"projects/chargpt/chargpt.py {TINY_MINGPT} --data.block_size=32 --trainer.batch_size=8"],
            files=[(files.play, ".")]),
    Program("micrograd", "micrograd", ["-m pytest -q test"]),
]

CHAPTERS = [
    Chapter("preliminaries"),
    Chapter("builders-guide", gpu_pages=("use-gpu",)),
    Chapter("linear-regression"),
    Chapter("linear-classification"),
    Chapter("multilayer-perceptrons"),
    Chapter("convolutional-neural-networks"),
    Chapter("convolutional-modern"),
    Chapter("recurrent-neural-networks"),
    Chapter("recurrent-modern"),
    Chapter("attention-mechanisms-and-transformers"),
    Chapter("optimization"),
    Chapter("computational-performance", gpu_pages=("async-computation", "auto-parallelism", "multiple-gpus", "multiple-gpus-concise")),
]
