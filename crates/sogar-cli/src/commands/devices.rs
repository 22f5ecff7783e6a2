//! `sogar devices`: the values of `--device` on this machine.

use serde_json::json;
use sogar::Result;
use sogar::device::{GPU_BUILT_IN, Listed, devices};

use crate::output::{Exit, Output};

/// Runs `sogar devices`.
pub fn run(output: &Output) -> Result<Exit> {
    let list = devices();
    if output.json {
        output.print_json(&json!({ "gpu_built_in": GPU_BUILT_IN, "devices": list }))?;
    } else {
        output.print(as_text(&list))?;
    }
    Ok(Exit::Complete)
}

fn as_text(list: &[Listed]) -> String {
    let mut text: String = list.iter().map(entry).collect();
    text += match (GPU_BUILT_IN, list.len()) {
        (false, _) => {
            "\nThis build can't use GPUs. To build one that can: cargo install --path crates/sogar-cli --features gpu\n"
        }
        (true, 0..=1) => "\nNo GPU was found: a driver for Vulkan, Metal or DirectX 12 is needed.\n",
        _ => {
            "\n--device auto uses a GPU only where it is faster, and a software adapter never; --device gpu:N uses it anyway.\n"
        }
    };
    text
}

fn entry(device: &Listed) -> String {
    let Listed { device, name, kind, backend, driver, limits } = device;
    let mut text = format!("{device:<6} {name}");
    if let (Some(backend), Some(driver), Some(limits)) = (backend, driver, limits) {
        let mebibytes = |bytes: u64| bytes >> 20;
        text += &format!(
            "\n       {kind}, through {backend}; driver {driver}\n       buffers of {} MiB, of which a kernel sees {} MiB; {} buffers, {} threads together\n",
            mebibytes(limits.largest_buffer),
            mebibytes(limits.largest_binding),
            limits.bindings,
            limits.workgroup,
        );
    } else {
        text += "\n";
    }
    text
}
