//! Recognizes digits: cargo run PICTURES.npy ANSWERS.npy

#[allow(dead_code)] // it has more than this program needs
mod digits {
    include!(concat!(env!("OUT_DIR"), "/libdigits.rs"));
}

/// The bytes of the numbers in a .npy file, version 1. Its shape is the caller's business.
fn read(path: &str) -> Result<Vec<u8>, String> {
    let all = std::fs::read(path).map_err(|e| format!("{path}: {e}"))?;
    if all.len() < 10 || all[..8] != *b"\x93NUMPY\x01\x00" {
        return Err(format!("{path}: no .npy file of version 1"));
    }
    let head = 10 + usize::from(u16::from_le_bytes([all[8], all[9]]));
    Ok(all[head.min(all.len())..].to_vec())
}

fn main() -> Result<(), String> {
    let args: Vec<String> = std::env::args().collect();
    if args.len() != 3 {
        return Err("usage: digits PICTURES.npy ANSWERS.npy".into());
    }
    let (pictures, answers) = (read(&args[1])?, read(&args[2])?);
    let mut net = digits::Network::new(2)?;
    let size = 4 * net.input_0().len();
    let (mut right, mut all) = (0, 0);
    for (picture, answer) in pictures.chunks_exact(size).zip(answers.chunks_exact(8)) {
        for (to, from) in net.input_0().iter_mut().zip(picture.chunks_exact(4)) {
            *to = f32::from_le_bytes(from.try_into().unwrap());
        }
        net.run()?;
        let logits = net.output_0();
        let best = (0..logits.len()).max_by(|&a, &b| logits[a].total_cmp(&logits[b])).unwrap_or(0);
        right += usize::from(best as i64 == i64::from_le_bytes(answer.try_into().unwrap()));
        all += 1;
    }
    println!("{right} of {all} right, {}", digits::TARGET);
    Ok(())
}
