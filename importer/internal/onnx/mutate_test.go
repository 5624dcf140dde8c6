package onnx

import (
	"encoding/binary"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	pb "ripc/importer/internal/onnx/internal/onnxpb"
)

// FuzzMutate changes models of ops.zip in ways that leave them protocol buffers: other ops, wires, attributes, shapes, types
// and versions. Parse must give a graph that hangs together, or an error.
func FuzzMutate(f *testing.F) {
	models := smallModels(f)
	for i := range 16 {
		f.Add(uint16(i*23), uint64(i), uint8(i))
	}
	f.Fuzz(func(t *testing.T, model uint16, seed uint64, count uint8) {
		mutateOne(t, models[int(model)%len(models)], rand.New(rand.NewPCG(seed, uint64(model))), int(count%8)+1)
	})
}

// TestMutate is a short run of it.
func TestMutate(t *testing.T) {
	models := smallModels(t)
	for i := range 4000 {
		r := rand.New(rand.NewPCG(uint64(i), 5))
		mutateOne(t, models[r.IntN(len(models))], r, 1+r.IntN(4))
	}
}

func smallModels(t testing.TB) [][]byte {
	files := archive(t, "testdata/ops.zip")
	var names []string
	for name, data := range files {
		if strings.HasSuffix(name, ".onnx") && len(data) < 4<<10 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	var out [][]byte
	for _, n := range names {
		out = append(out, files[n])
	}
	return out
}

func mutateOne(t *testing.T, data []byte, r *rand.Rand, count int) {
	m := &pb.ModelProto{}
	if err := proto.Unmarshal(data, m); err != nil {
		t.Fatal(err)
	}
	for range count {
		mutate(m, r)
	}
	changed, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	checkParse(t, changed)
}

func pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

func strange(r *rand.Rand) int64 {
	return pick(r, []int64{0, 1, 2, 3, 4, 5, 6, 7, -1, -2, -3, -4, 16, 255, 1 << 20, 1 << 31, 1 << 32, 1 << 40, math.MaxInt64, math.MinInt64})
}

func mutate(m *pb.ModelProto, r *rand.Rand) {
	g := m.Graph
	var names []string
	for _, n := range g.Node {
		names = append(names, n.Output...)
	}
	for _, t := range g.Initializer {
		names = append(names, t.GetName())
	}
	names = append(names, "x", "", "x")
	n := pick(r, g.Node)
	switch r.IntN(10) {
	case 0:
		rows := table()
		k := pick(r, slices.SortedFunc(maps.Keys(rows), key.compare))
		n.OpType, n.Domain = &k.name, proto.String(domainOf(k.family))
	case 1:
		if len(n.Input) > 0 {
			n.Input[r.IntN(len(n.Input))] = pick(r, names)
		}
	case 2:
		n.Input = append(n.Input, pick(r, names))
	case 3:
		if len(n.Input) > 1 {
			n.Input = n.Input[:len(n.Input)-1]
		}
	case 4:
		if len(n.Attribute) > 0 {
			mutateAttr(pick(r, n.Attribute), r)
		}
	case 5:
		if o := table().find(n.GetDomain(), n.GetOpType()); o != nil && len(o.attrs) > 0 {
			a := &pb.AttributeProto{Name: proto.String(pick(r, o.attrs))}
			mutateAttr(a, r)
			n.Attribute = append(n.Attribute, a)
		}
	case 6, 7:
		if len(g.Initializer) > 0 {
			mutateTensor(pick(r, g.Initializer), r)
		}
	case 8:
		if d := g.Input[0].GetType().GetTensorType().GetShape(); len(d.GetDim()) > 0 && r.IntN(2) == 0 {
			pick(r, d.Dim).Value = &pb.TensorShapeProto_Dimension_DimValue{DimValue: int64(1 + r.IntN(5))}
		} else {
			extra := &pb.NodeProto{OpType: proto.String(pick(r, []string{"Transpose", "Flatten", "Shape", "Relu", "Identity"})), Input: []string{pick(r, names)}, Output: []string{"new"}}
			g.Node = append([]*pb.NodeProto{extra}, g.Node...)
			n.Input = append([]string{"new"}, n.Input[min(1, len(n.Input)):]...)
		}
	case 9:
		pick(r, m.OpsetImport).Version = proto.Int64(int64(firstOpset - 1 + r.IntN(lastOpset-firstOpset+3)))
	}
}

func mutateAttr(a *pb.AttributeProto, r *rand.Rand) {
	switch r.IntN(5) {
	case 0:
		a.Type, a.I = pb.AttributeProto_INT.Enum(), proto.Int64(strange(r))
	case 1:
		a.Type, a.F = pb.AttributeProto_FLOAT.Enum(), proto.Float32(pick(r, []float32{0, -1, 0.5, 3e38, 1e-40, float32(math.NaN()), float32(math.Inf(1))}))
	case 2, 3:
		a.Type = pb.AttributeProto_INTS.Enum()
		if len(a.Ints) > 0 && r.IntN(3) > 0 {
			a.Ints[r.IntN(len(a.Ints))] = strange(r)
		} else {
			a.Ints = nil
			for range r.IntN(5) {
				a.Ints = append(a.Ints, strange(r))
			}
		}
	case 4:
		a.Type, a.S = pb.AttributeProto_STRING.Enum(), []byte(pick(r, []string{"", "SAME_UPPER", "CEIL", "HALF_DOWN", "reflect", "NHWC", "C"}))
	}
}

func mutateTensor(t *pb.TensorProto, r *rand.Rand) {
	switch r.IntN(4) {
	case 0:
		if len(t.Dims) > 0 {
			t.Dims[r.IntN(len(t.Dims))] = strange(r)
		}
	case 1: // another shape of as many elements
		n := int64(1)
		for _, d := range t.Dims {
			n *= d
		}
		t.Dims = pick(r, [][]int64{{n}, {1, n}, {n, 1}, {1, n, 1, 1}, {n, 1, 1}, {1, 1, 1, n}, {}})
	case 2:
		t.DataType = proto.Int32(int32(r.IntN(24)))
	case 3:
		switch len(t.RawData) {
		case 0:
		case 4, 12:
			binary.LittleEndian.PutUint32(t.RawData, math.Float32bits(pick(r, []float32{0, 1, -1, 20, 1e30, 1e-30, float32(math.NaN()), float32(math.Inf(1)), 0x1p-140})))
		default:
			if len(t.RawData) >= 8 {
				binary.LittleEndian.PutUint64(t.RawData[r.IntN(len(t.RawData)/8)*8:], uint64(strange(r)))
			}
		}
	}
}
