import sys, pathlib, importlib.util, torch, numpy as np
from torch import nn
from torch.nn import functional as F
out=pathlib.Path(sys.argv[1])
class Binary(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return torch.where(x >= 0, 1.0, -1.0)
    @staticmethod
    def backward(ctx, g): return g
class BinaryConv(nn.Conv2d):
    def forward(self, x):
        scale = self.weight.abs().mean(dim=(1, 2, 3), keepdim=True)
        return F.conv2d(x, Binary.apply(self.weight) * scale, None, self.stride, self.padding)
class Digits(nn.Module):
    """The network of examples/pytorch, smaller."""
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3, padding=1, bias=False); self.norm1 = nn.BatchNorm2d(8)
        self.conv2 = BinaryConv(8, 16, 3, padding=1, bias=False); self.norm2 = nn.BatchNorm2d(16)
        self.out = nn.Linear(16 * 4 * 4, 10)
    def forward(self, x):
        x = Binary.apply(self.norm1(self.conv1(x)))
        x = self.norm2(F.max_pool2d(self.conv2(x), 2))
        return self.out(F.hardtanh(x).flatten(1))
class Quant(nn.Module):
    """Quantizers as Brevitas and others spell them."""
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, stride=2, bias=False); self.norm = nn.BatchNorm2d(8)
        self.conv2 = nn.Conv2d(8, 8, 3, groups=1); self.register_buffer("scale", torch.tensor(0.25))
        self.fc = nn.Linear(8, 4)
    def act(self, x):
        y = torch.clamp(torch.round(x / self.scale), 0, 3) * self.scale
        return x + (y - x).detach()
    def weight(self, w):
        s = w.abs().amax(dim=(1, 2, 3), keepdim=True)
        return torch.sign(w) * s
    def forward(self, x):
        x = self.act(self.norm(self.conv(x)))
        x = F.conv2d(x, self.weight(self.conv2.weight), self.conv2.bias)
        x = x + (torch.sign(x) - x).detach()
        return self.fc(F.adaptive_avg_pool2d(x, 1).flatten(1)).softmax(-1)
class Ops(nn.Module):
    """Operators of many kinds."""
    def __init__(self):
        super().__init__()
        self.dw = nn.Conv2d(4, 4, 3, padding=1, groups=4); self.pw = nn.Conv2d(4, 8, 1)
        self.up = nn.ConvTranspose2d(8, 4, 2, stride=2); self.pre = nn.PReLU(4)
    def forward(self, x):
        a = F.hardswish(self.dw(x)); b = F.silu(self.pw(a))
        n, c, h, w = b.shape
        b = b.view(n, 2, c // 2, h, w).transpose(1, 2).reshape(n, c, h, w)  # channel shuffle
        u = self.pre(self.up(F.avg_pool2d(b, 2, ceil_mode=True)))
        v = F.interpolate(u, scale_factor=2, mode="bilinear", align_corners=False)
        z = F.interpolate(u, scale_factor=2)
        t = torch.cat([v, z, F.pad(z, (0, 0, 0, 0, 1, 1))], 1)
        g = torch.where(t > 0.1, t, 0.2 * t) + t.mean((2, 3), keepdim=True)
        s = F.leaky_relu(F.relu6(g) - F.hardsigmoid(g), 0.1)
        p, q = s[:, :, 1:, ::2].chunk(2, dim=1)
        m = torch.stack([p, q], 1).amax(1).permute(0, 2, 3, 1)
        return F.pixel_shuffle(s[:, :12], 2), m, (m @ m.transpose(2, 3)).clamp(min=-1)
torch.manual_seed(1)
def randomize(net):
    for m in net.modules():
        if isinstance(m, nn.BatchNorm2d):
            for t in (m.weight, m.running_var): nn.init.uniform_(t, .5, 1.5)
            for t in (m.bias, m.running_mean): nn.init.normal_(t, 0, .3)
    return net.eval()
for name, net, shape in [("digits", Digits(), (1,1,8,8)), ("quant", Quant(), (1,3,11,11)), ("ops", Ops(), (1,4,6,6))]:
    net=randomize(net); x=torch.randn(shape)
    with torch.no_grad(): y=net(x)
    ep=torch.export.export(net,(x,))
    torch.export.save(ep, str(out/(name+".pt2")))
    core=ep.run_decompositions()
    torch.export.save(core, str(out/(name+"_core.pt2")))
    try:
        torch.onnx.export(net, (x,), str(out/(name+".onnx")), dynamo=False, opset_version=17, training=torch.onnx.TrainingMode.PRESERVE)
    except Exception as e: print(name, e)
    np.save(out/(name+"_x.npy"), x.numpy())
    for i,t in enumerate(y if isinstance(y,tuple) else (y,)): np.save(out/f"{name}_y{i}.npy", t.numpy())
# A network whose batch size is open.
net = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(16, 2)).eval()
program = torch.export.export(net, (torch.randn(2, 1, 4, 4),), dynamic_shapes=({0: torch.export.Dim("batch")},))
torch.export.save(program, str(out/"open.pt2"))
# One that computes shapes of it.
class Shapes(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(8, 8)
    def forward(self, x):
        n = x.shape[0]
        return (self.a(x).reshape(n, 5, 2, 4).transpose(1, 2) @ x.reshape(n, 2, 4, 5)).softmax(-1)
program = torch.export.export(Shapes(), (torch.randn(2, 5, 8),), dynamic_shapes=({0: torch.export.Dim("batch", min=2)},))
torch.export.save(program, str(out/"open_shapes.pt2"))
