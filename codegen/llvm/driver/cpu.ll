{{define "x86"}}{{cpuid "l0" 0 0}}  %l0.max = extractvalue { i32, i32, i32, i32 } %l0, 0
{{cpuid "l1" 1 0}}{{cpuid "l7" 7 0}}{{cpuid "l71" 7 1}}{{cpuid "x0" 2147483648 0}}{{cpuid "x1" 2147483649 0}}
  %l1.there = icmp uge i32 %l0.max, 1
  %l7.there = icmp uge i32 %l0.max, 7
  %l7.eax = extractvalue { i32, i32, i32, i32 } %l7, 0
  %l71.more = icmp uge i32 %l7.eax, 1
  %l71.there = and i1 %l7.there, %l71.more
  %x0.max = extractvalue { i32, i32, i32, i32 } %x0, 0
  %x1.there = icmp uge i32 %x0.max, 2147483649
{{register "l1" "ecx" 2}}{{register "l1" "edx" 3}}{{register "l7" "ebx" 1}}{{register "l7" "ecx" 2}}{{register "l7" "edx" 3}}{{register "l71" "eax" 0}}{{register "x1" "ecx" 2}}
  %osxsave = and i64 %l1.ecx, 134217728
  %saves = icmp ne i64 %osxsave, 0
  br i1 %saves, label %ask, label %needs

ask:
  %xgetbv = call { i32, i32 } asm sideeffect "xgetbv", "={ax},={dx},{cx}"(i32 0)
  %xgetbv.low = extractvalue { i32, i32 } %xgetbv, 0
  %xcr0.saved = zext i32 %xgetbv.low to i64
  br label %needs

needs:
  %xcr0 = phi i64 [ 0, %entry ], [ %xcr0.saved, %ask ]
{{end}}{{define "wasm"}}  br label %needs

needs:
  %valid = add i64 0, -1
{{end}}{{/* linux reads the auxiliary vector, pairs of a key and a value up to key 0, and has the values hwcap (16) and
hwcap2 (26). */}}{{define "linux"}}  %vector = alloca [1024 x i8], align 16
  %file = {{.Call "openat" "-100" "ptr @auxv" "524288" "0"}}
  %opened = icmp sge {{.Word}} %file, 0
  br i1 %opened, label %read, label %unknown

read:
  %got = {{.Call "read" "%file" "ptr %vector" "1024"}}
  %closed = {{.Call "close" "%file"}}
  %end = getelementptr i8, ptr %vector, {{.Word}} %got
  %some = icmp sgt {{.Word}} %got, 0
  br i1 %some, label %pair, label %unknown

pair:
  %at = phi ptr [ %vector, %read ], [ %next, %more ]
  %hw = phi {{.Word}} [ 0, %read ], [ %hw.now, %more ]
  %hw2 = phi {{.Word}} [ 0, %read ], [ %hw2.now, %more ]
  %tag = load {{.Word}}, ptr %at
  %value.at = getelementptr {{.Word}}, ptr %at, i32 1
  %value = load {{.Word}}, ptr %value.at
  %next = getelementptr {{.Word}}, ptr %at, i32 2
  %is.hw = icmp eq {{.Word}} %tag, 16
  %is.hw2 = icmp eq {{.Word}} %tag, 26
  %hw.now = select i1 %is.hw, {{.Word}} %value, {{.Word}} %hw
  %hw2.now = select i1 %is.hw2, {{.Word}} %value, {{.Word}} %hw2
  %last = icmp eq {{.Word}} %tag, 0
  br i1 %last, label %found, label %more

more:
  %inside = icmp ult ptr %next, %end
  br i1 %inside, label %pair, label %found

found:
  %none = icmp eq {{.Word}} %hw.now, 0
  br i1 %none, label %unknown, label %needs

unknown:
  ret i32 {{.Unknown}}

needs:
  %hwcap.wide = zext {{.Word}} %hw.now to i128 ; whatever {{.Word}} is, there are 64 bits in the end
  %hwcap2.wide = zext {{.Word}} %hw2.now to i128
  %hwcap = trunc i128 %hwcap.wide to i64
  %hwcap2 = trunc i128 %hwcap2.wide to i64
{{end}}{{define "riscv"}}{{template "linux" .}}  store i64 4, ptr %vector ; RISCV_HWPROBE_KEY_IMA_EXT_0
  %probe.at = getelementptr i64, ptr %vector, i32 1
  %probed = {{.Call "riscv_hwprobe" "ptr %vector" "1" "0" "0" "0"}}
  %probe.value = load i64, ptr %probe.at
  %probe.ok = icmp eq i64 %probed, 0
  %hwprobe = select i1 %probe.ok, i64 %probe.value, i64 -1
  %hwprobe.answer = select i1 %probe.ok, i32 {{.OK}}, i32 {{.Unknown}}
  %letter.v = and i64 %hwcap, 2097152
  %is.vector = icmp ne i64 %letter.v, 0
  br i1 %is.vector, label %measure, label %measured

measure: ; vsetvli a0, zero, e8, m1, ta, ma returns the most lanes of a byte, or 0 before V 1.0
  %lanes = call i64 asm sideeffect ".4byte 0x0c007557", "={x10}"()
  br label %measured

measured:
  %vlenb = phi i64 [ 0, %needs ], [ %lanes, %measure ]
{{end}}