"""The code of the text whose lines have run together, on lines again, and what it prints on two virtual GPUs (None: nothing).

Cells that begin with GIVEN make what the text leaves to its reader, or look at what a cell has made: they are not the text's.
"""

GIVEN = "# given\n"

CELLS = [
    ("import torch\ntorch.cuda.is_available()", "True"),
    ("import torch\nimport pycuda.driver as cuda\ncuda.init()\ntorch.cuda.current_device()", "0"),
    ("cuda.Device(0).name()", "'tandem virtual GPU'"),
    ("torch.cuda.get_device_name(0) # Get name device with ID '0'", "'tandem virtual GPU'"),
    (
        '''import pycuda.driver as cuda
import pycuda.autoinit
cuda.init()

class aboutCudaDevices():
    def __init__(self):
        pass

    def num_devices(self):
        """返回 cuda 設備的數量"""
        return cuda.Device.count()

    def devices(self):
        """獲取所有可用的設備的名稱"""
        num = cuda.Device.count()
        print("%d device(s) found:"%num)
        for i in range(num):
            print(cuda.Device(i).name(), "(Id: %d)"%i)

    def mem_info(self):
        """獲取所有設備的總內存和可用內存"""
        available, total = cuda.mem_get_info()
        print("Available: %.2f GB\\nTotal: %.2f GB"%(available/1e9, total/1e9))

    def attributes(self, device_id=0):
        """返回指定 id 的設備的屬性信息"""
        return cuda.Device(device_id).get_attributes()

    def __repr__(self):
        """輸出設備的數量和其id、內存信息"""
        num = cuda.Device.count()
        string = ""
        string += ("%d device(s) found:\\n"%num)
        for i in range(num):
            string += ( " %d) %s (Id: %d)\\n"%((i+1),cuda.Device(i).name(),i))
            string += (" Memory: %.2f GB\\n"%(cuda.Device(i).total_memory()/1e9))
        return string

aboutCudaDevices()''',
        "2 device(s) found:\n 1) tandem virtual GPU (Id: 0)\n Memory: 0.27 GB\n 2) tandem virtual GPU (Id: 1)\n Memory: 0.27 GB\n",
    ),
    ("import torch\ntorch.cuda.memory_allocated()", "0"),
    ("torch.cuda.memory_cached()", "0"),
    ("a = torch.DoubleTensor([1., 2.])", None),
    ("a = torch.FloatTensor([1., 2.]).cuda()", None),
    ("a = torch.cuda.FloatTensor([1., 2.])", None),
    ("torch.cuda.current_device()", "0"),
    ("a.get_device()", "0"),
    (GIVEN + "from torch import nn", None),
    ("sq = nn.Sequential( nn.Linear(20, 20), nn.ReLU(), nn.Linear(20, 4), nn.Softmax())", None),
    (GIVEN + "model = sq.cuda()", None),
    ("next(model.parameters()).is_cuda", "True"),
    ("cuda0 = torch.device('cuda:0')\ncuda1 = torch.device('cuda:1')\ncuda2 = torch.device('cuda:2')", None),
    ("x = torch.Tensor([1., 2.]).to(cuda1)", None),
    (GIVEN + "x", "tensor([1., 2.], device='cuda:1')"),
    ("x = torch.Tensor([1., 2.]).cuda(cuda1)", None),
    (GIVEN + "x", "tensor([1., 2.], device='cuda:1')"),
    ("torch.cuda.set_device(2)", "RuntimeError: "),  # the text has three GPUs
    ('import os\nos.environ["CUDA_VISIBLE_DEVICES"] = "0,2"', None),
    (
        "cuda = torch.device('cuda')\ns = torch.cuda.Stream()\nA = torch.empty((100, 100), device=cuda).normal_(0.0, 1.0)\n"
        "with torch.cuda.stream(s):\n    B = torch.sum(A)",
        None,
    ),
    (GIVEN + "B.device, B.shape", "(device(type='cuda', index=0), torch.Size([]))"),  # s does not wait for what fills A: the sum may be any
    (GIVEN + "device_ids, output_device = [0, 1], 0\nmodule = nn.Linear(20, 4).cuda()\ninput = torch.randn(8, 20, device='cuda:0')", None),
    (
        "replicas = nn.parallel.replicate(module, device_ids)\ninputs = nn.parallel.scatter(input, device_ids)\n"
        "outputs = nn.parallel.parallel_apply(replicas, inputs)\n"
        "result = nn.parallel.gather(outputs, output_device)",
        None,
    ),
    (
        GIVEN + "result.device, result.shape, torch.allclose(result, module(input), atol=1e-6)",
        "(device(type='cuda', index=0), torch.Size([8, 4]), True)",
    ),
    (GIVEN + "model = module", None),
    ("model = nn.DataParallel(model, device_ids=device_ids)\nresult = model(input)", None),
    (GIVEN + "result.device, torch.allclose(result, module(input), atol=1e-6)", "(device(type='cuda', index=0), True)"),
    (
        GIVEN + "from torch.utils.data import DataLoader, TensorDataset\nn_in, n_h1, n_out = 4, 5, 2\nloss_fn = nn.MSELoss()\n"
        "data_loader = DataLoader(TensorDataset(torch.randn(32, n_in), torch.randn(32, n_out)), batch_size=8)",
        None,
    ),
    (
        "import torch.multiprocessing as mp\ndef train(model):\n    for data, labels in data_loader:\n"
        "        optimizer.zero_grad()\n        loss_fn(model(data), labels).backward()\n"
        "        optimizer.step()\n",
        None,
    ),
    ("model = nn.Sequential(nn.Linear(n_in, n_h1), nn.ReLU(), nn.Linear(n_h1, n_out))", None),
    (GIVEN + "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\nbefore = model[0].weight.detach().clone()", None),
    (
        "model.share_memory()\nprocesses = []\nfor i in range(4):\n"
        "    p = mp.Process(target=train, args=(model,))\n    p.start()\n    processes.append(p)\nfor p in processes: p.join()",
        None,
    ),
    (GIVEN + "[p.exitcode for p in processes], bool((before != model[0].weight).any())", "([0, 0, 0, 0], True)"),
]
