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
  %few = icmp ule i32 %n, {{.MaxThreads}}
  %threads.few = and i1 %tid.ok, %few
  %threads.ok = and i1 %threads.few, %sync.ok
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
  %some = icmp ult i32 %first, %last
  br i1 %some, label %work, label %done

work:
  br i1 %one, label %alone, label %together

alone:
  %s = phi i32 [ %first, %work ], [ %s.next, %alone ]
  call void @stage(i32 %s, ptr %in, ptr %out, ptr %ws, ptr %scratch, i32 0, i32 1)
  %s.next = add i32 %s, 1
  %more = icmp ult i32 %s.next, %last
  br i1 %more, label %alone, label %done

together:
  call void @share(ptr %in, ptr %out, ptr %ws, ptr %scratch, i32 %tid, i32 %n, ptr %sync, i32 %first, i32 %last)
  br label %done

done:
{{.Arch.Leave}}  ret i32 0
}
{{/* stage runs part number part, of parts in all, of stage s. */}}
define internal void @stage(i32 %s, ptr %in, ptr %out, ptr %ws, ptr %scratch, i32 %part, i32 %parts) noinline #0 {
entry:
{{range $a := .Arrays}}{{range $i := .N}}{{$name := printf "%s.%d" $a.Name $i}}  %{{$name}}.at = getelementptr ptr, ptr %{{$a.Name}}, i64 {{$i}}
  %{{$name}} = load ptr, ptr %{{$name}}.at
{{end}}{{end}}  switch i32 %s, label %none [{{range $i, $s := .Stages}} i32 {{$i}}, label %stage.{{$i}}{{end}} ]

none:
  ret void
{{range $i, $s := .Stages}}
stage.{{$i}}: ; {{.Name}}
{{range .Places}}  {{.Pointer}} = getelementptr i8, ptr {{.Base}}, i64 {{.Offset}}
{{end}}  call void @{{.Kernel}}({{range .Args}}ptr {{.}}, {{end}}ptr %scratch, {{if .Units}}i32 %part, i32 %parts{{else}}i32 0, i32 1{{end}})
  ret void
{{end}}}
{{/* units returns the number of units of each thread's part of stage s; 0 is one unit for all threads. */}}
define internal i32 @units(i32 %s) noinline #0 {
  switch i32 %s, label %serial [{{range $i, $s := .Stages}}{{if .Units}} i32 {{$i}}, label %units.{{.Units}}{{end}}{{end}} ]

serial:
  ret i32 0
{{range .AllUnits}}
units.{{.}}:
  ret i32 {{.}}
{{end}}}
{{/* claim returns the address of the word of thread v. It has the stage that is open in its upper 16 bits, then in 8 bits
each the number of units of that thread's part and the number of the first unit that nobody has claimed. */}}
define internal ptr @claim(ptr %sync, i32 %v) alwaysinline #0 {
  %line = and i32 %v, 15
  %slot = lshr i32 %v, 4
  %line.at = mul i32 %line, 64
  %slot.at = mul i32 %slot, 4
  %in.claims = add i32 %line.at, %slot.at
  %offset = add i32 %in.claims, {{.ABI.Claims}}
  %at = getelementptr i8, ptr %sync, i32 %offset
  ret ptr %at
}
{{/* open lets the threads claim units of stage s. No unit is claimed or under way when it is called. Stage last has no
units, which ends the run. Thread 0 has a unit of each stage, and its word is written last: so the stage cannot end before all
words are written, and no two threads are in open at once, except for counting the stages behind it. */}}
define internal void @open(ptr %sync, i32 %n, i32 %s, i32 %last) noinline #0 {
entry:
  %tag = shl i32 %s, 16
  %end = icmp eq i32 %s, %last
  br i1 %end, label %set, label %count

count:
  %k = call i32 @units(i32 %s)
  br label %set

set:
  %each = phi i32 [ 0, %entry ], [ %k, %count ]
  %unit = phi i32 [ 0, %entry ], [ 1, %count ]
  %serial = icmp eq i32 %each, 0
  %all = mul i32 %each, %n
  %total = select i1 %serial, i32 %unit, i32 %all
  %first = select i1 %serial, i32 %unit, i32 %each
  %left = getelementptr i8, ptr %sync, i32 {{.ABI.Units}}
  store atomic i32 %total, ptr %left monotonic, align 4
  %each.at = shl i32 %each, 8
  %word = or i32 %tag, %each.at
  br label %others

others:
  %v = phi i32 [ %n, %set ], [ %v.next, %write ]
  %v.next = sub i32 %v, 1
  %other = icmp ne i32 %v.next, 0
  br i1 %other, label %write, label %zero

write:
  %at = call ptr @claim(ptr %sync, i32 %v.next)
  store atomic i32 %word, ptr %at release, align 4
  br label %others

zero:
  %first.at = shl i32 %first, 8
  %word.0 = or i32 %tag, %first.at
  %at.0 = call ptr @claim(ptr %sync, i32 0)
  store atomic i32 %word.0, ptr %at.0 release, align 4
  %gate = getelementptr i8, ptr %sync, i32 {{.ABI.Stage}}
  %old = atomicrmw add ptr %gate, i32 1 seq_cst, align 4
  %asleep.at = getelementptr i8, ptr %sync, i32 {{.ABI.Asleep}}
  %asleep = load atomic i32, ptr %asleep.at seq_cst, align 4
  %some = icmp ne i32 %asleep, 0
  br i1 %some, label %wake, label %done

wake: {{/* FUTEX_WAKE_PRIVATE, all */}}
{{if .Arch.Word}}  %ignored = {{.Arch.Call "futex" "ptr %gate" "129" "2147483647" "0"}}
{{else if .Row.Shares}}{{.Arch.Wake}}{{end}}  br label %done

done:
  ret void
}
{{/* wait returns once another stage than number g has been opened. It looks for about 200 microseconds, then sleeps. Who
opens a stage counts it before it looks for sleepers, and a sleeper counts itself before the kernel compares the number with g:
so none sleeps on. */}}
define internal void @wait(ptr %sync, i32 %g, i32 %tid) noinline #0 {
entry:
  %gate = getelementptr i8, ptr %sync, i32 {{.ABI.Stage}}
  %asleep = getelementptr i8, ptr %sync, i32 {{.ABI.Asleep}}
  br label %look

look:
  %spin = phi i32 [ 0, %entry ], [ %more, %pause ], [ %spin, %sleep ]
  %now = load atomic i32, ptr %gate acquire, align 4
  %same = icmp eq i32 %now, %g
  br i1 %same, label %idle, label %done

idle:
{{if .Arch.Awake}}  %few = icmp ult i32 %spin, {{.Arch.Spins}}
  %first = icmp eq i32 %tid, 0
  %patient = or i1 %few, %first
{{else}}  %patient = icmp ult i32 %spin, {{.Arch.Spins}}
{{end}}  br i1 %patient, label %pause, label %sleep

pause:
  {{.Arch.Pause}}
  %more = add i32 %spin, 1
  br label %look

sleep: {{/* FUTEX_WAIT_PRIVATE while the number is g */}}
  %before = atomicrmw add ptr %asleep, i32 1 seq_cst, align 4
{{if .Arch.Word}}{{if .Narrow}}  %value = or i32 %g, 0
{{else}}  %value = zext i32 %g to i64
{{end}}  %ignored = {{.Arch.Call "futex" "ptr %gate" "128" "%value" "0"}}
{{else if .Row.Shares}}{{.Arch.Sleep}}{{end}}  %after = atomicrmw sub ptr %asleep, i32 1 seq_cst, align 4
  br label %look

done:
  ret void
}
{{/* share runs stages first to last-1 together with the other threads. Each tid has a bit, its seat, and takes it in each run
once. A thread that is back while its seat is taken waits for the next run. The first thread that enters opens the first stage.
A thread counts the units that it has run when it finds no more. The thread that counts the last unit of a stage opens the next
stage. The last thread that leaves makes the counters ready for the next run, then frees the seats. The seat of thread 0 comes
last: so the next run cannot end before all seats are free. */}}
define internal void @share(ptr %in, ptr %out, ptr %ws, ptr %scratch, i32 %tid, i32 %n, ptr %sync, i32 %first, i32 %last) noinline #0 {
entry:
  %entered = getelementptr i8, ptr %sync, i32 {{.ABI.Entered}}
  %left = getelementptr i8, ptr %sync, i32 {{.ABI.Left}}
  %units = getelementptr i8, ptr %sync, i32 {{.ABI.Units}}
  %gate = getelementptr i8, ptr %sync, i32 {{.ABI.Stage}}
  %word.0 = call ptr @claim(ptr %sync, i32 0)
  %seats = getelementptr i8, ptr %sync, i32 {{.ABI.Seats}}
  %seat.word = lshr i32 %tid, 5
  %seat.in.word = and i32 %tid, 31
  %seat.bit = shl i32 1, %seat.in.word
  %seat = getelementptr i32, ptr %seats, i32 %seat.word
  br label %enter

enter:
  %seat.old = atomicrmw or ptr %seat, i32 %seat.bit acq_rel, align 4
  %seat.taken = and i32 %seat.old, %seat.bit
  %is.early = icmp ne i32 %seat.taken, 0
  br i1 %is.early, label %early, label %count

early:
{{if .Arch.Word}}  %ignored = {{.Arch.Call "sched_yield"}}
{{end}}  %seats.now = load atomic i32, ptr %seat acquire, align 4
  %seat.now = and i32 %seats.now, %seat.bit
  %still.early = icmp ne i32 %seat.now, 0
  br i1 %still.early, label %early, label %enter

count:
  %e = atomicrmw add ptr %entered, i32 1 acq_rel, align 4
  %opens = icmp eq i32 %e, 0
  br i1 %opens, label %begin, label %round

begin:
  call void @open(ptr %sync, i32 %n, i32 %first, i32 %last)
  br label %round

round:
  %g = load atomic i32, ptr %gate acquire, align 4
  br label %scan

scan:
  %i = phi i32 [ 0, %round ], [ %i.next, %exhausted ]
  %c = phi i32 [ 0, %round ], [ %c.try, %exhausted ]
  %s = phi i32 [ 0, %round ], [ %s.try, %exhausted ]
  %more = icmp ult i32 %i, %n
  br i1 %more, label %look, label %found.none

look:
  %v.far = add i32 %tid, %i
  %v.wraps = icmp uge i32 %v.far, %n
  %v.near = sub i32 %v.far, %n
  %v = select i1 %v.wraps, i32 %v.near, i32 %v.far
  %at = call ptr @claim(ptr %sync, i32 %v)
  br label %try

try:
  %c.try = phi i32 [ %c, %look ], [ %c.try, %offer ], [ %c.next, %run ]
  %s.try = phi i32 [ %s, %look ], [ %s.try, %offer ], [ %s.run, %run ]
  %w = load atomic i32, ptr %at acquire, align 4
  %next = and i32 %w, 255
  %w.units = lshr i32 %w, 8
  %limit = and i32 %w.units, 255
  %some = icmp ult i32 %next, %limit
  br i1 %some, label %offer, label %exhausted

exhausted:
  %i.next = add i32 %i, 1
  br label %scan

offer:
  %w.next = add i32 %w, 1
  %w.pair = cmpxchg ptr %at, i32 %w, i32 %w.next acq_rel monotonic, align 4
  %w.ok = extractvalue { i32, i1 } %w.pair, 1
  br i1 %w.ok, label %run, label %try

run:
  %s.run = lshr i32 %w, 16
  %part.first = mul i32 %v, %limit
  %part = add i32 %part.first, %next
  %parts = mul i32 %n, %limit
  call void @stage(i32 %s.run, ptr %in, ptr %out, ptr %ws, ptr %scratch, i32 %part, i32 %parts)
  %c.next = add i32 %c.try, 1
  br label %try

found.none:
  %any = icmp ne i32 %c, 0
  br i1 %any, label %tell, label %idle

tell:
  %open.units = atomicrmw sub ptr %units, i32 %c acq_rel, align 4
  %stage.ends = icmp eq i32 %open.units, %c
  br i1 %stage.ends, label %advance, label %idle

advance:
  %s.next = add i32 %s, 1
  call void @open(ptr %sync, i32 %n, i32 %s.next, i32 %last)
  br label %round

idle:
  %w0 = load atomic i32, ptr %word.0 acquire, align 4
  %stage.0 = lshr i32 %w0, 16
  %over = icmp eq i32 %stage.0, %last
  br i1 %over, label %leave, label %rest

rest:
  call void @wait(ptr %sync, i32 %g, i32 %tid)
  br label %round

leave:
  %gone = atomicrmw add ptr %left, i32 1 acq_rel, align 4
  %gone.next = add i32 %gone, 1
  %is.last = icmp eq i32 %gone.next, %n
  br i1 %is.last, label %reset, label %done

reset:
  store atomic i32 0, ptr %left release, align 4
  store atomic i32 0, ptr %word.0 release, align 4
  store atomic i32 0, ptr %entered release, align 4
{{range .Seats}}  %seats.{{.}} = getelementptr i32, ptr %seats, i32 {{.}}
  store atomic i32 0, ptr %seats.{{.}} release, align 4
{{end}}  br label %done

done:
  ret void
}

attributes #0 = { nounwind "no-builtins" "no-jump-tables"="true" "target-cpu"={{printf "%q" .Row.CPU}} "target-features"={{printf "%q" .Row.Attrs}} }
