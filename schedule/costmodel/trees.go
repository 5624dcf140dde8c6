package costmodel

import (
	"encoding/binary"
	"encoding/json"
	"math"
)

// tree is a regression tree, its nodes in preorder: the left child of a split follows it.
type tree struct {
	Feature []int32   `json:"feature"` // feature of a split; -1 is a leaf
	Value   []float32 `json:"value"`   // of a split, the threshold below which it goes left; of a leaf, its addend
	Right   []int32   `json:"right"`   // child of a split
	Missing []int8    `json:"missing"` // 1: a split goes left without the feature
	Gain    []float32 `json:"gain"`    // of a split
}

const leaf = -1

func (t *tree) add(feature int32, value float32, missing int8, gain float32) int {
	t.Feature, t.Value, t.Right = append(t.Feature, feature), append(t.Value, value), append(t.Right, 0)
	t.Missing, t.Gain = append(t.Missing, missing), append(t.Gain, gain)
	return len(t.Feature) - 1
}

// check reports whether t is a tree over the given number of features.
func (t *tree) check(features int) bool {
	n := len(t.Feature)
	if n == 0 || len(t.Value) != n || len(t.Right) != n || len(t.Missing) != n || len(t.Gain) != n {
		return false
	}
	// end returns the index behind the subtree at i, or 0 if there is no such tree. Depth is
	// bounded, since files may come from anybody.
	var end func(i, depth int) int
	end = func(i, depth int) int {
		const deepest = 100
		if i >= n || depth > deepest || t.Value[i] != t.Value[i] || math.IsInf(float64(t.Value[i]), 0) {
			return 0
		}
		if t.Feature[i] == leaf {
			return i + 1
		}
		if t.Feature[i] < 0 || int(t.Feature[i]) >= features {
			return 0
		}
		if right := end(i+1, depth+1); right == 0 || right != int(t.Right[i]) {
			return 0
		}
		return end(int(t.Right[i]), depth+1)
	}
	return end(0, 0) == n
}

// booster is the part of XGBoost's JSON that parse reads, of any version since 1.6.
type booster struct {
	Learner struct {
		Booster struct {
			Name  string `json:"name"`
			Model struct {
				Trees []struct {
					Left    []int32   `json:"left_children"`
					Right   []int32   `json:"right_children"`
					Feature []int32   `json:"split_indices"`
					Value   []float32 `json:"split_conditions"` // at a leaf, its addend
					Missing []int8    `json:"default_left"`
					Gain    []float32 `json:"loss_changes"`
					Kind    []int32   `json:"split_type"`
				} `json:"trees"`
			} `json:"model"`
		} `json:"gradient_booster"`
	} `json:"learner"`
}

// parse reads XGBoost's trees over the given number of features.
func parse(text []byte, features int) ([]tree, error) {
	var b booster
	if err := json.Unmarshal(text, &b); err != nil {
		return nil, formatf("XGBoost's JSON: %v", err)
	}
	if b.Learner.Booster.Name != "gbtree" {
		return nil, formatf("booster %q", b.Learner.Booster.Name)
	}
	var out []tree
	for k, from := range b.Learner.Booster.Model.Trees {
		n := len(from.Left)
		if n == 0 || len(from.Right) != n || len(from.Feature) != n || len(from.Value) != n || len(from.Missing) != n ||
			len(from.Gain) != n {
			return nil, formatf("tree %d of XGBoost's is ragged", k)
		}
		var to tree
		seen := 0
		var walk func(i int32) bool // skips nodes that pruning left behind
		walk = func(i int32) bool {
			if seen++; i < 0 || int(i) >= n || seen > n {
				return false
			}
			if from.Left[i] == -1 {
				to.add(leaf, from.Value[i], 0, 0)
				return true
			}
			if len(from.Kind) == n && from.Kind[i] != 0 { // by categories
				return false
			}
			at := to.add(from.Feature[i], from.Value[i], from.Missing[i], from.Gain[i])
			if !walk(from.Left[i]) {
				return false
			}
			to.Right[at] = int32(len(to.Feature))
			return walk(from.Right[i])
		}
		if !walk(0) || !to.check(features) {
			return nil, formatf("tree %d of XGBoost's cannot be read", k)
		}
		out = append(out, to)
	}
	return out, nil
}

// binary returns m in the layout of XGBoost's files before version 1.0, which leaves reads. A split
// there is x <= c. For f32 that is the same test as x < d, where d is the next number above c.
func (m *Model) binary() []byte {
	const header, treeHeader, node, statistics = 74, 37, 5, 4 // words of 32 bits
	words := header
	for _, t := range m.trees {
		words += treeHeader + len(t.Feature)*(node+statistics) + 1
	}
	out := make([]byte, 0, 4*words+64)
	w := func(vs ...int32) {
		for _, v := range vs {
			out = binary.LittleEndian.AppendUint32(out, uint32(v))
		}
	}
	float := func(v float32) { out = binary.LittleEndian.AppendUint32(out, math.Float32bits(v)) }
	zeros := func(n int) { out = append(out, make([]byte, 4*n)...) }
	str := func(s string) { out = append(binary.LittleEndian.AppendUint64(out, uint64(len(s))), s...) }
	features, trees := int32(len(m.names)), int32(len(m.trees))
	float(m.constant)
	w(features)
	zeros(32) // number of classes, flags, reserved
	str(objective)
	str("gbtree")
	w(trees, 1, features, 0, 0, 0, 1) // trees, roots, features, padding, buffers (8 bytes), groups of outputs
	zeros(33)
	var parents []int32
	for _, t := range m.trees {
		n := len(t.Feature)
		w(1, int32(n), 0, 0, features) // roots, nodes, deleted, depth, features
		zeros(32)
		parents = append(parents[:0], make([]int32, n)...)
		parents[0] = -1
		for i := range n {
			if t.Feature[i] == leaf {
				w(parents[i], -1, -1, 0)
				float(t.Value[i])
				continue
			}
			left, right := int32(i)+1, t.Right[i]
			parents[left], parents[right] = int32(i), int32(i)
			feature := t.Feature[i]
			if t.Missing[i] != 0 {
				feature |= math.MinInt32 // the highest bit
			}
			w(parents[i], left, right, feature)
			float(math.Nextafter32(t.Value[i], float32(math.Inf(-1))))
		}
		zeros(statistics * n)
	}
	zeros(int(trees)) // the group of outputs of each tree
	return out
}
