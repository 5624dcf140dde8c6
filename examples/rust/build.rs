//! Compiles the network with ripc, from PATH or from the variable RIPC, and links it.

use std::{env, path::Path, process::Command};

fn main() {
    let model = "../digits/digits.json";
    let out = env::var("OUT_DIR").unwrap();
    let base = Path::new(&out).join("libdigits");
    let ripc = env::var("RIPC").unwrap_or("ripc".into());
    let status = Command::new(&ripc)
        .args(["compile", model, "--name", "digits", "--emit", "a,rs", "-o"])
        .arg(&base)
        .status()
        .unwrap_or_else(|e| panic!("{ripc}: {e}; set RIPC to its path"));
    assert!(status.success(), "ripc compile {model} failed");
    println!("cargo:rustc-link-search=native={out}");
    println!("cargo:rustc-link-lib=static=digits");
    println!("cargo:rerun-if-changed={model}");
    println!("cargo:rerun-if-env-changed=RIPC");
}
