//! Where a figure goes, and in which format.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde_json::json;
use sogar::files::write_atomically;
use sogar::plot::Mark;
use sogar::{Error, ErrorKind, Result};

use crate::files::Outputs;
use crate::output::{Exit, Output};

#[derive(Debug, Args)]
pub struct FigureArgs {
    /// The file to write, .svg or .png [default: print SVG]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// As what, if the file's name does not tell
    #[arg(long, short, value_enum)]
    format: Option<Format>,
    /// Pixels of a PNG for each pixel of the figure
    #[arg(long, value_name = "FACTOR", default_value_t = 2.0)]
    scale: f32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Svg,
    Png,
}

impl FigureArgs {
    /// Checks before the work what would fail after it. `inputs` are read.
    pub fn require<'a>(&'a self, inputs: impl IntoIterator<Item = &'a PathBuf>) -> Result<()> {
        Outputs::new(&self.output).inputs(inputs).checked()?;
        if self.format()? == Format::Png && self.output.is_none() {
            return Err(Error::new(ErrorKind::Usage, "a PNG is not printed on a terminal")
                .help("name a file with -o FILE.png"));
        }
        if !(self.scale.is_finite() && self.scale > 0.0) {
            return Err(Error::new(ErrorKind::Usage, "--scale is not a number above 0"));
        }
        Ok(())
    }

    fn format(&self) -> Result<Format> {
        let ending = self.output.as_ref().and_then(|path| path.extension());
        let ending = ending.map(|ending| ending.to_string_lossy().to_lowercase());
        match (self.format, ending.as_deref()) {
            (Some(format), _) => Ok(format),
            (None, Some("png")) => Ok(Format::Png),
            (None, Some("svg")) => Ok(Format::Svg),
            (None, None) if self.output.is_none() => Ok(Format::Svg),
            (None, _) => {
                Err(Error::new(ErrorKind::Usage, "the file's name does not tell whether to write SVG or PNG")
                    .help("let it end in .svg or .png, or say --format svg or --format png"))
            }
        }
    }

    /// Writes or prints the figure.
    pub fn write(&self, svg: &str, output: &Output) -> Result<Exit> {
        let Some(path) = &self.output else {
            output.print(svg)?;
            return Ok(Exit::Complete);
        };
        let bytes = match self.format()? {
            Format::Svg => svg.as_bytes().to_vec(),
            Format::Png => pixels(svg, self.scale)?,
        };
        write_atomically(path, |out| out.write_all(&bytes))?;
        if output.json {
            output.print_json(&json!({ "figure": path }))?;
        } else {
            output.print(format!("Written to {}.\n", path.display()))?;
        }
        Ok(Exit::Complete)
    }
}

/// The figure as PNG.
#[cfg(feature = "png")]
pub fn pixels(svg: &str, scale: f32) -> Result<Vec<u8>> {
    sogar::plot::png(svg, scale)
}

/// The error of a build without PNG.
#[cfg(not(feature = "png"))]
pub fn pixels(_svg: &str, _scale: f32) -> Result<Vec<u8>> {
    Err(Error::new(ErrorKind::Usage, "this build cannot write PNG")
        .help("write SVG, or build with `--features png`"))
}

/// `NAME=COST,LOSS`.
pub fn mark(text: &str) -> Result<Mark> {
    let number =
        |text: &str| text.trim().parse::<f64>().ok().filter(|value| value.is_finite() && *value >= 0.0);
    let parsed = text.rsplit_once('=').and_then(|(name, pair)| {
        let (cost, loss) = pair.split_once(',')?;
        Some(Mark {
            name: name.trim().to_owned(),
            cost: number(cost)?,
            loss: number(loss).filter(|loss| *loss <= 1.0)?,
        })
    });
    parsed.ok_or_else(|| {
        Error::new(ErrorKind::Usage, format!("`{text}` is not a result to be marked"))
            .help("write NAME=COST,LOSS, for example --mark \"GLANCE=0.31,0.12\" (a loss is between 0 and 1)")
    })
}
