// The network "{{comment .Program}}", compiled by ripc {{comment .Compiler}} for {{comment .Target}}, with its own memory and threads.
// Link it with the archive or the library of the same build. Generated; do not edit.
//
//     let mut net = {{.Name}}::Network::new(2)?; // threads
{{range $i, $t := .Inputs}}//     net.input_{{$i}}().fill(Default::default());
{{end}}//     net.run()?;
{{range $i, $t := .Outputs}}//     println!("{:?}", net.output_{{$i}}());
{{end}}
use std::ffi::c_void;

extern "C" {
    #[link_name = "{{.Run}}"]
    fn run(inputs: *const *const c_void, outputs: *const *mut c_void, workspace: *mut c_void, tid: u32, nthreads: u32, sync: *mut c_void) -> i32;
    #[link_name = "{{.Name}}_workspace_size"]
    fn workspace_size(nthreads: u32) -> usize;
    #[link_name = "{{.Name}}_cpu_ok"]
    fn cpu_ok() -> i32;
}

pub const TARGET: &str = {{literal .Target}};
pub const MACS: u64 = {{.MACs}}; // multiply-accumulates of one run
{{range $i, $t := .Inputs}}pub const INPUT_{{$i}}_SHAPE: [usize; {{len .Shape}}] = [{{shape .Shape}}];
{{end}}{{range $i, $t := .Outputs}}pub const OUTPUT_{{$i}}_SHAPE: [usize; {{len .Shape}}] = [{{shape .Shape}}];
{{end}}
#[repr(C, align({{.Align}}))]
#[derive(Clone, Copy)]
struct Block([u8; {{.Align}}]);

fn memory(bytes: usize) -> Vec<Block> {
    vec![Block([0; {{.Align}}]); bytes / {{.Align}} + 1]
}

/// Inputs and outputs are slices of the network's own memory.
pub struct Network {
    threads: u32,
    inputs: [Vec<Block>; {{len .Inputs}}],
    outputs: [Vec<Block>; {{len .Outputs}}],
    workspace: Vec<Block>,
    sync: Vec<Block>,
}

impl Network {
    /// Fails if this CPU lacks something, and unless threads is 1 to {{.MaxThreads}}.
    pub fn new(threads: u32) -> Result<Self, &'static str> {
        if !(1..={{.MaxThreads}}).contains(&threads) {
            return Err("threads must be 1 to {{.MaxThreads}}");
        }
        // SAFETY: both functions only read facts.
        let (able, workspace) = unsafe { (cpu_ok() != 0, workspace_size(threads)) };
        if !able {
            return Err("this CPU lacks something of the target");
        }
        Ok(Self {
            threads,
            inputs: [{{range $i, $t := .Inputs}}{{if $i}}, {{end}}memory({{bytes .}}){{end}}],
            outputs: [{{range $i, $t := .Outputs}}{{if $i}}, {{end}}memory({{bytes .}}){{end}}],
            workspace: memory(workspace),
            sync: memory({{.SyncBytes}}),
        })
    }
{{range $i, $t := .Inputs}}
    pub fn input_{{$i}}(&mut self) -> &mut [{{.DType}}] {
        // SAFETY: the buffer has these elements, aligned, and all bytes are numbers.
        unsafe { std::slice::from_raw_parts_mut(self.inputs[{{$i}}].as_mut_ptr().cast(), {{elems .}}) }
    }
{{end}}{{range $i, $t := .Outputs}}
    pub fn output_{{$i}}(&self) -> &[{{.DType}}] {
        // SAFETY: as for inputs.
        unsafe { std::slice::from_raw_parts(self.outputs[{{$i}}].as_ptr().cast(), {{elems .}}) }
    }
{{end}}
    /// Computes the outputs from the inputs.
    pub fn run(&mut self) -> Result<(), &'static str> {
        let inputs: Vec<usize> = self.inputs.iter().map(|b| b.as_ptr() as usize).collect();
        let outputs: Vec<usize> = self.outputs.iter_mut().map(|b| b.as_mut_ptr() as usize).collect();
        let (workspace, sync) = (self.workspace.as_mut_ptr() as usize, self.sync.as_mut_ptr() as usize);
        let threads = self.threads;
        let call = |tid| {
            // SAFETY: the buffers are as large and aligned as the header wants; self is borrowed until all calls end.
            unsafe { run(inputs.as_ptr().cast(), outputs.as_ptr().cast(), workspace as *mut c_void, tid, threads, sync as *mut c_void) }
        };
        let status = std::thread::scope(|scope| {
            let others: Vec<_> = (1..threads).map(|tid| scope.spawn(move || call(tid))).collect();
            let first = call(0);
            others.into_iter().map(|t| t.join().unwrap_or(-1)).fold(first, |a, b| if a != 0 { a } else { b })
        });
        match status {
            0 => Ok(()),
            1 => Err("bad threads"),
            2 => Err("bad buffer"),
            _ => Err("a thread failed"),
        }
    }
}
