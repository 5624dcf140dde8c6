package c99

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"ripc/codegen"
)

// packed returns the source and its header as a library that the build systems of boards take: a
// module of Zephyr, a library of PlatformIO and Arduino, a component of ESP-IDF, a folder of CMake.
func packed(m *codegen.Image, source []byte) ([]byte, error) {
	d := m.Description
	name, version := d.Name, d.Compiler
	about := fmt.Sprintf("The network %s, compiled by ripc for %s", codegen.Comment(m.Program.Name), d.Target)
	manifest, err := json.MarshalIndent(map[string]any{
		"name": name, "version": version, "description": about, "frameworks": "*", "platforms": "*",
		"headers": name + ".h", "build": map[string]any{"srcDir": "src", "includeDir": "src"},
	}, "", "  ")
	if err != nil {
		return nil, err
	}
	fill := strings.NewReplacer("NAME", name, "VERSION", version, "ABOUT", about)
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, f := range []struct{ path, text string }{
		{"CMakeLists.txt", fill.Replace(`# A component of ESP-IDF, and a library of any other project: add_subdirectory(NAME)
if(ESP_PLATFORM)
  idf_component_register(SRCS src/NAME.c INCLUDE_DIRS src)
else()
  add_library(NAME STATIC src/NAME.c)
  target_include_directories(NAME PUBLIC src)
endif()
`)},
		{"library.json", string(manifest) + "\n"},
		{"library.properties", fill.Replace("name=NAME\nversion=VERSION\nauthor=ripc\nmaintainer=ripc\n" +
			"sentence=ABOUT\nparagraph=\ncategory=Data Processing\nurl=\narchitectures=*\nincludes=NAME.h\n")},
		{"src/" + name + ".c", string(source)},
		{"src/" + name + ".h", string(m.HeaderText())},
		{"zephyr/CMakeLists.txt", fill.Replace("zephyr_library_named(NAME)\nzephyr_library_sources(../src/NAME.c)\n" +
			"zephyr_include_directories(../src)\n")},
		{"zephyr/module.yml", fill.Replace("name: NAME\nbuild:\n  cmake: zephyr\n")},
	} {
		entry, err := w.CreateHeader(&zip.FileHeader{Name: name + "/" + f.path, Method: zip.Deflate,
			Modified: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)})
		if err != nil {
			return nil, err
		}
		if _, err := entry.Write([]byte(f.text)); err != nil {
			return nil, err
		}
	}
	err = w.Close()
	return out.Bytes(), err
}
