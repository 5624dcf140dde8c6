{{define "aligned"}}  %{{.}}.int = ptrtoint ptr %{{.}} to i64
  %{{.}}.low = and i64 %{{.}}.int, 63
  %{{.}}.aligned = icmp eq i64 %{{.}}.low, 0
{{end}}{{define "given"}}  %{{.}}.given = icmp ne ptr %{{.}}, null
{{end}}target triple = {{printf "%q" .Row.Triple}}
{{with .Describe}}@{{.}} = external hidden global i8
{{end}}{{with .Weights}}@{{.}} = external hidden global i8, align 64
{{end}}{{range .Kernels}}declare hidden void @{{.Symbol}}({{range .Args}}ptr, {{end}}ptr, i32, i32)
{{end}}{{.Arch.Declare}}
define i32 @{{.Name}}_run(ptr %in, ptr %out, ptr %ws, i32 %tid, i32 %n, ptr %sync) #0 {
  %r = call i32 @run(ptr %in, ptr %out, ptr %ws, i32 %tid, i32 %n, ptr %sync, i32 0, i32 {{len .Stages}})
  ret i32 %r
}

define i32 @{{.Name}}_run_stages(ptr %in, ptr %out, ptr %ws, i32 %tid, i32 %n, ptr %sync, i32 %first, i32 %last) #0 {
  %r = call i32 @run(ptr %in, ptr %out, ptr %ws, i32 %tid, i32 %n, ptr %sync, i32 %first, i32 %last)
  ret i32 %r
}

define {{if .Narrow}}i32{{else}}i64{{end}} @{{.Name}}_workspace_size(i32 %n) #0 {
  %wide = zext i32 %n to i64
  %scratch = mul i64 %wide, {{.Scratch}}
  %size = add i64 %scratch, {{.Arena}}
{{if .Narrow}}  %low = trunc i64 %size to i32
  ret i32 %low
{{else}}  ret i64 %size
{{end}}}
{{if .Describe}}
define ptr @{{.Name}}_describe() #0 {
  ret ptr @{{.Describe}}
}
{{else}}
@nothing = internal constant [3 x i8] c"{}\00"

define ptr @{{.Name}}_describe() #0 {
  ret ptr @nothing
}
{{end}}{{with .Run}}
@{{.}} = alias i32 (ptr, ptr, ptr, i32, i32, ptr), ptr @{{$.Name}}_run
{{end}}
define internal i32 @run(ptr %in, ptr %out, ptr %ws, i32 %tid, i32 %n, ptr %sync, i32 %first, i32 %last) noinline #0 {
entry:
  %tid.ok = icmp ult i32 %tid, %n ; never true if n is 0
  %one = icmp eq i32 %n, 1
  %sync.there = icmp ne ptr %sync, null
  %sync.ok = or i1 %one, %sync.there
  %threads.ok = and i1 %tid.ok, %sync.ok
  br i1 %threads.ok, label %arrays, label %bad.threads

bad.threads:
  ret i32 {{.BadThreads}}

bad.alignment:
  ret i32 {{.BadBuffer}}

bad.stages:
  ret i32 {{.BadStages}}

arrays:
{{$all := "true"}}{{range .Arrays}}{{if .N}}  %{{.Name}}.there = icmp ne ptr %{{.Name}}, null
  %{{.Name}}.ok = and i1 {{$all}}, %{{.Name}}.there
{{$all = printf "%%%s.ok" .Name}}{{end}}{{end}}  br i1 {{$all}}, label %buffers, label %bad.alignment

buffers:
{{/* sync is null, and aligned, where there is one thread. */}}{{template "aligned" "sync"}}{{template "aligned" "ws"}}
{{- if .Workspace}}{{template "given" "ws"}}{{end}}
{{- range $a := .Arrays}}{{range $i := .N}}{{$name := printf "%s.%d" $a.Name $i}}  %{{$name}}.at = getelementptr ptr, ptr %{{$a.Name}}, i64 {{$i}}
  %{{$name}} = load ptr, ptr %{{$name}}.at
{{template "aligned" $name}}{{template "given" $name}}{{end}}{{end}}
{{- $all = "%sync.aligned"}}{{range $i, $ok := .Checks}}  %ok.{{$i}} = and i1 {{$all}}, %{{$ok}}
{{$all = printf "%%ok.%d" $i}}{{end}}  br i1 {{$all}}, label %range, label %bad.alignment

range:
  %first.ok = icmp ule i32 %first, %last
  %last.ok = icmp ule i32 %last, {{len .Stages}}
  %range.ok = and i1 %first.ok, %last.ok
  br i1 %range.ok, label %ready, label %bad.stages

ready:
{{.Arch.Enter}}  %tid64 = zext i32 %tid to i64
  %scratch.skip = mul i64 %tid64, {{.Scratch}}
  %scratch.at = add i64 %scratch.skip, {{.Arena}}
  %scratch = getelementptr i8, ptr %ws, i64 %scratch.at
  br label %check.0
{{range $i, $s := .Stages}}
check.{{$i}}:
  %from.{{$i}} = icmp ule i32 %first, {{$i}}
  %to.{{$i}} = icmp ugt i32 %last, {{$i}}
  %do.{{$i}} = and i1 %from.{{$i}}, %to.{{$i}}
  br i1 %do.{{$i}}, label %stage.{{$i}}, label %check.{{.Next}}

stage.{{$i}}: ; {{.Name}}
{{range .Places}}  {{.Pointer}} = getelementptr i8, ptr {{.Base}}, i64 {{.Offset}}
{{end}}  call void @{{.Kernel}}({{range .Args}}ptr {{.}}, {{end}}ptr %scratch, i32 %tid, i32 %n)
  call void @barrier(ptr %sync, i32 %n)
  br label %check.{{.Next}}
{{end}}
check.{{len .Stages}}:
{{.Arch.Leave}}  ret i32 0
}
{{/* barrier returns once all n threads have called it. sync holds the number of threads that have arrived (abi.Arrived)
and, in a cache line of its own, how many barriers were passed (abi.Passed). The last to arrive clears the one and then
raises the other, which the rest wait for: by looking for about 20 microseconds, then by giving the processor away between
looks, so that more threads than cores do not starve each other. */}}
define internal void @barrier(ptr %sync, i32 %n) noinline #0 {
entry:
  %alone = icmp eq i32 %n, 1
  br i1 %alone, label %done, label %arrive

arrive:
  %passed = getelementptr i8, ptr %sync, i64 {{.Passed}}
  %mine = load atomic i32, ptr %passed monotonic, align 4
  %before = atomicrmw add ptr %sync, i32 1 acq_rel, align 4
  %count = add i32 %before, 1
  %last = icmp eq i32 %count, %n
  br i1 %last, label %release, label %wait

release:
  store atomic i32 0, ptr %sync monotonic, align 4
  %next = add i32 %mine, 1
  store atomic i32 %next, ptr %passed release, align 4
  br label %done

wait:
  %spin = phi i32 [ 0, %arrive ], [ %spun, %again ]
  %now = load atomic i32, ptr %passed acquire, align 4
  %waiting = icmp eq i32 %now, %mine
  br i1 %waiting, label %idle, label %done

idle:
  %patient = icmp ult i32 %spin, {{.Arch.Spins}}
  br i1 %patient, label %pause, label %yield

pause:
  {{.Arch.Pause}}
  %more = add i32 %spin, 1
  br label %again

yield:
  %ignored = {{.Arch.Yield}}
  br label %again

again:
  %spun = phi i32 [ %more, %pause ], [ %spin, %yield ]
  br label %wait

done:
  ret void
}

attributes #0 = { nounwind "no-builtins" "target-cpu"={{printf "%q" .Row.CPU}} "target-features"={{printf "%q" .Row.Attrs}} }
