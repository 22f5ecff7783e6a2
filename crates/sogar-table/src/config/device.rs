//! The requested device.

use std::fmt;
use std::str::FromStr;

use sogar_base::error::{Error, ErrorKind, suggest};

/// The requested device.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Device {
    /// A GPU if it is faster, otherwise the CPU.
    #[default]
    Auto,
    /// Only the CPU.
    Cpu,
    /// A GPU: the first one, or the one with this number in `sogar devices`.
    Gpu(Option<u32>),
}

impl FromStr for Device {
    type Err = Error;

    fn from_str(text: &str) -> Result<Device, Error> {
        let number =
            |text: &str| text.parse().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()));
        match text.split_once(':') {
            None if text == "auto" => Ok(Device::Auto),
            None if text == "cpu" => Ok(Device::Cpu),
            None if text == "gpu" => Ok(Device::Gpu(None)),
            Some(("gpu", after)) if number(after).is_some() => Ok(Device::Gpu(number(after))),
            _ => {
                let nearest = suggest(text, ["auto", "cpu", "gpu", "gpu:0"]);
                Err(Error::new(ErrorKind::Config, format!("`{text}` is not a device"))
                    .help(format!("{nearest} (`sogar devices` lists all of them)")))
            }
        }
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Device::Auto => f.write_str("auto"),
            Device::Cpu => f.write_str("cpu"),
            Device::Gpu(None) => f.write_str("gpu"),
            Device::Gpu(Some(number)) => write!(f, "gpu:{number}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_read_as_they_are_written() {
        for device in [Device::Auto, Device::Cpu, Device::Gpu(None), Device::Gpu(Some(3))] {
            assert_eq!(device.to_string().parse::<Device>().ok(), Some(device));
        }
        for wrong in
            ["", "GPU", "gpu:", "gpu:-1", "gpu:+1", "gpu:x", "gpu:99999999999", "cuda", "cpu:0", "</script>"]
        {
            let error = wrong.parse::<Device>().unwrap_err();
            assert!(error.to_string().contains(&format!("`{wrong}`")), "{error}");
        }
    }
}
