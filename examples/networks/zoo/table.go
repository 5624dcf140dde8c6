package zoo

import (
	"fmt"
	"slices"

	"ripc/ir"
)

// Papers that several networks are of.
const (
	riptidePaper = "Fromm et al., Riptide, MLSys 2020"
	bnnPaper     = "Hubara et al., Binarized Neural Networks, NIPS 2016"
	xnorPaper    = "Rastegari et al., XNOR-Net, ECCV 2016"
	gpuPaper     = "Khan, Huttunen, Boutellier, Binarized Convolutional Neural Networks for Efficient Inference on " +
		"GPUs, EUSIPCO 2018"
	fpgaPaper = "survey of binary networks on FPGAs (FINN and HLS4ML)"
	larqPaper = "Bannink et al., Larq Compute Engine, MLSys 2021"
)

// imageNet are pictures of 224x224.
func imageNet() []int { return []int{1, 224, 224, 3} }

// Networks is the table of all networks, without the small twins.
func Networks() []Network {
	all := slices.Concat(squeezeNets(), riptideRows(), otherNetworks())
	for i, n := range all {
		all[i].Listed = !n.Riptide() && n.Bits > 0 || slices.Contains(listed(), n.Name)
	}
	return all
}

// listed are the forms of Riptide's networks that are measured.
func listed() []string {
	return []string{"squeezenet", "squeezenet_a2", "squeezenet_a1_bipolar", "alexnet_a1", "alexnet_a2",
		"alexnet_a1_bipolar", "vggnet_a1", "vggnet_a2", "vggnet_a1_bipolar",
		"resnet18_a1", "resnet18_a1_w2", "resnet18_a2_w2", "resnet50_a1", "resnet50_a1_w2", "resnet50_a2_w2"}
}

// squeezeNets are those of examples/squeezenet.
func squeezeNets() []Network {
	all := []Network{
		{Name: "squeezenet", Paper: riptidePaper, Note: "activations of 1 bit", Bits: 1, blocks: squeezeNet,
			stats: "squeezenet_a1"},
		{Name: "squeezenet_u8", Paper: riptidePaper, Note: "pictures are bytes, and the first layer has integers of " +
			"8 bits", Bits: 1, blocks: squeezeNet, bytes: true},
		{Name: "squeezenet_a2", Paper: riptidePaper, Bits: 2, blocks: squeezeNet},
		{Name: "squeezenet_a3", Paper: riptidePaper, Bits: 3, blocks: squeezeNet},
		{Name: "squeezenet_float", Paper: riptidePaper, Note: "floats throughout, written by hand", blocks: squeezeNet,
			gain: 1},
	}
	for i, n := range all {
		all[i].Input, all[i].Family = imageNet(), "squeezenet"
		if n.gain == 0 {
			all[i].gain = riptideGain
		}
		if n.Bits > 0 {
			all[i].Encoding = ir.Unipolar
		}
	}
	return all
}

// riptideGain keeps the mean of the weights' magnitudes below 1, as training with clipped weights
// does: shift_norm wants that.
const riptideGain = 0.25

// riptideRows are the networks of Riptide's Table 1 in all of their forms.
func riptideRows() (all []Network) {
	families := []struct {
		name                   string
		blocks                 func(b *builder, x string) string
		unipolar, bipolar, two []int // bits of activations; two: with weights of two bits
	}{
		{"alexnet", alexNet, []int{1, 2, 3}, []int{1, 2, 3}, nil},
		{"vggnet", vggNet, []int{1, 2, 3}, []int{1, 2, 3}, nil},
		{"resnet18", resNet([4]int{2, 2, 2, 2}, false), []int{1, 2, 3}, []int{1, 2}, []int{1, 2}},
		{"resnet50", resNet([4]int{3, 4, 6, 3}, true), []int{1, 2, 3}, []int{1, 2}, []int{1, 2}},
		{"squeezenet", squeezeNet, nil, []int{1, 2, 3}, nil},
	}
	for _, f := range families {
		row := Network{Family: f.name, Paper: riptidePaper, Input: imageNet(), blocks: f.blocks, gain: riptideGain}
		add := func(bits []int, enc ir.EncodingKind, weights int, suffix, note string) {
			for _, n := range bits {
				r := row
				r.Name, r.Bits, r.Encoding, r.Weights, r.Note = fmt.Sprintf("%s_a%d%s", f.name, n, suffix), n, enc,
					weights, note
				all = append(all, r)
			}
		}
		add(f.unipolar, ir.Unipolar, 1, "", "")
		add(f.bipolar, ir.Bipolar, 1, "_bipolar", "bipolar activations")
		add(f.two, ir.Unipolar, 2, "_w2", "weights of 2 bits, as the paper's ResNets")
	}
	return all
}

// otherNetworks are the networks of other papers.
func otherNetworks() []Network {
	larqZoo := "as larq-zoo has it"
	m, l := [4]int{4, 4, 4, 4}, [4]int{6, 8, 12, 6}
	wide, narrow := [4]int{64, 128, 256, 512}, [4]int{32, 64, 256, 512}
	vehicles, digits := []int{1, 96, 96, 3}, []int{1, 28, 28, 1}
	all := []Network{
		{Name: "binaryalexnet", Paper: bnnPaper, Note: larqZoo, blocks: binaryAlexNet, values: 2},
		{Name: "xnornet", Paper: xnorPaper, Note: larqZoo + ": without the map K", blocks: xnorNet},
		{Name: "birealnet", Paper: "Liu et al., Bi-Real Net, ECCV 2018", Note: larqZoo, blocks: biRealNet},
		{Name: "binarydensenet28", Paper: "Bethge et al., BinaryDenseNet, ICCV workshops 2019", Note: larqZoo,
			blocks: binaryDenseNet},
		{Name: "meliusnet22", Paper: "Bethge et al., MeliusNet, WACV 2021", Note: larqZoo, blocks: meliusNet},
		{Name: "realtobinary", Paper: "Martinez et al., Real-to-Binary, ICLR 2020", Note: larqZoo,
			blocks: realToBinary},
		{Name: "reactnet_a", Paper: "Liu et al., ReActNet, ECCV 2020", blocks: reactNet},
		{Name: "quicknet_small", Family: "quicknet", Paper: larqPaper, Note: larqZoo, blocks: quickNet(m, narrow)},
		{Name: "quicknet", Family: "quicknet", Paper: larqPaper, Note: larqZoo, blocks: quickNet(m, wide)},
		{Name: "quicknet_large", Family: "quicknet", Paper: larqPaper, Note: larqZoo, blocks: quickNet(l, wide)},
		{Name: "vehicle_float", Family: "vehicle", Paper: gpuPaper, Note: "reads the picture in floats",
			Input: vehicles, blocks: vehicle(vehicleFloat)},
		{Name: "vehicle_rgb", Family: "vehicle", Paper: gpuPaper, Note: "reads colours above thresholds",
			Input: vehicles, blocks: vehicle(vehicleRGB)},
		{Name: "vehicle_gray", Family: "vehicle", Paper: gpuPaper, Note: "reads brightness above a threshold",
			Input: vehicles, blocks: vehicle(vehicleGray)},
		{Name: "vehicle_lbp", Family: "vehicle", Paper: gpuPaper, Note: "reads local binary patterns", Input: vehicles,
			blocks: vehicle(vehicleLBP)},
		{Name: "mlp4", Paper: fpgaPaper, Note: "widths of FINN's LFC", Input: []int{1, 784}, blocks: mlp4},
		{Name: "cnv4", Paper: fpgaPaper, Note: "the survey gives no widths", Input: digits, blocks: cnv4},
		{Name: "cnv8", Paper: fpgaPaper, Note: "VGG-small", Input: []int{1, 32, 32, 3}, blocks: cnv8},
		{Name: "unet", Paper: "Ronneberger et al., U-Net, MICCAI 2015", Note: "with binary layers",
			Input: []int{1, 128, 128, 3}, blocks: uNet},
		{Name: "ecg", Paper: "one of the kind that electrocardiograms are classified by", Note: "one axis",
			Input: []int{1, 1, 2048, 1}, blocks: ecg},
	}
	for i := range all {
		if all[i].Family == "" {
			all[i].Family = all[i].Name
		}
		all[i].Bits, all[i].Encoding = 1, ir.Bipolar
		if all[i].Input == nil {
			all[i].Input = imageNet()
		}
	}
	return all
}
