package compile_test

import (
	"context"
	"testing"

	"ripc/compile"
	"ripc/importer"
	"ripc/importer/ripcjson"
	"ripc/targets"
)

// BenchmarkDefault gives every Func of SqueezeNet its default schedule.
func BenchmarkDefault(b *testing.B) {
	for _, name := range []string{"rpi3", "x86-64-v3"} {
		b.Run(name, func(b *testing.B) {
			target, err := targets.Lookup(name)
			if err != nil {
				b.Fatal(err)
			}
			g, err := ripcjson.Read(context.Background(), "../examples/squeezenet/squeezenet_a2.json", importer.Options{})
			if err != nil {
				b.Fatal(err)
			}
			p, err := compile.Definition(context.Background(), g, compile.Options{Target: name})
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				for _, f := range p.Funcs {
					if _, err := compile.Default(f, target); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
