package web_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os/exec"
	"strings"
	"testing"

	"ripc/codegen/web"
	"ripc/runtime/describe"
)

// TestPackageName: npm takes no name with a leading underscore or capital letters, and Node finds its own modules first.
func TestPackageName(t *testing.T) {
	names := map[string]string{"_9Net": "net_9net", "digits": "digits", "FS": "net_fs"}
	if list, err := exec.Command("node", "--print", `require("module").builtinModules.filter(m => /^[a-z]\w+$/.test(m)).join(" ")`).Output(); err == nil {
		for _, name := range strings.Fields(string(list)) {
			names[name] = "net_" + name
		}
	}
	for name, want := range names {
		data, err := web.Package(web.Network{Artifact: &describe.Artifact{Name: name}})
		if err != nil {
			t.Fatal(err)
		}
		z, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		files := map[string][]byte{}
		for r := tar.NewReader(z); ; {
			h, err := r.Next()
			if err == io.EOF {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			if files[h.Name], err = io.ReadAll(r); err != nil {
				t.Fatal(err)
			}
		}
		var got struct{ Name string }
		if err := json.Unmarshal(files["package/package.json"], &got); err != nil || got.Name != want {
			t.Errorf("%q, %v", got.Name, err)
		}
		if !bytes.Contains(files["package/README.md"], []byte(`from "`+want+`"`)) {
			t.Errorf("%s", files["package/README.md"])
		}
	}
}
