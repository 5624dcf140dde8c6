package files

import "testing"

// TestKind: what a file holds is told by its beginning, and by its name where that says nothing.
func TestKind(t *testing.T) {
	for _, c := range []struct{ path, head, want string }{
		{"x.npy", "\x93NUMPY\x01\x00", "a NumPy array"}, {"x", "\x7fELF\x02", "a compiled library or program"}, {"x", "\x20\x00\x00\x00TFL3", "a TensorFlow Lite model"},
		{"x", "\x89PNG\r\n", "a PNG picture"}, {"x.onnx", "\x08\x07\x12", "an ONNX model"}, {"x", "{\n \"format\": \"ripc.model/1\"", "a model of ripc's own"},
		{"x.json", "{}", "a JSON object"}, {"x", "{}", "text"}, {"x", "", "empty"}, {"x", " \n", "empty"}, {"x", "notes ü", "text"}, {"x", "\x00\x01", "binary data"}, {"x", "\xff\xfe\xfd\xfc\xfb", "binary data"},
		{"x", "abc", "text"}, {"x", "TFL", "text"},
	} {
		if got := Kind(c.path, []byte(c.head)); got != c.want {
			t.Errorf("%s %q is %s, want %s", c.path, c.head, got, c.want)
		}
	}
}
