//! What kind of model a file is, told by its first bytes, never by its name.
//!
//! Files that can run code when they are opened (pickles and what contains them) are refused by what they
//! are, before anything in them is read; every refusal says how to get a file that is accepted.

use crate::error::{Error, ErrorKind};

/// A kind of model file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// LightGBM's own text format.
    LightGbmText,
    /// LightGBM's JSON dump (`dump_model`), which cannot be loaded back by LightGBM either.
    LightGbmJson,
    /// A Python pickle, plain or compressed as joblib does.
    Pickle,
    /// A zip archive (PyTorch, Keras, skops, …).
    Zip,
    /// XGBoost as JSON or UBJSON.
    XgBoost,
    /// An ONNX graph.
    Onnx,
    /// CatBoost's binary format.
    CatBoost,
    /// An empty file.
    Empty,
    /// None of these.
    Unknown,
}

/// How far into a file a telling word is searched.
const LOOKED_AT: usize = 4096;

impl Format {
    /// The format of a file with these bytes.
    pub fn of(bytes: &[u8]) -> Format {
        let head = &bytes[..bytes.len().min(LOOKED_AT)];
        let contains = |word: &[u8]| head.windows(word.len()).any(|window| window == word);
        match head {
            [] => Format::Empty,
            _ if head.starts_with(b"tree\n") || head.starts_with(b"tree\r\n") => Format::LightGbmText,
            [0x80, 0..=5, ..] => Format::Pickle,
            // zlib, gzip, bzip2, xz and LZ4: what joblib writes when asked to compress.
            [0x78, 0x01 | 0x5e | 0x9c | 0xda, ..] | [0x1f, 0x8b, ..] => Format::Pickle,
            _ if head.starts_with(b"BZh") || head.starts_with(b"\xfd7zXZ") => Format::Pickle,
            _ if head.starts_with(b"\x04\x22\x4d\x18") => Format::Pickle,
            _ if head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06") => Format::Zip,
            _ if head.starts_with(b"CBM1") => Format::CatBoost,
            _ if head.starts_with(b"binf") => Format::XgBoost,
            _ if head.trim_ascii_start().starts_with(b"{") => {
                if contains(b"\"tree_info\"") || contains(b"\"max_feature_idx\"") {
                    Format::LightGbmJson
                } else if contains(b"learner") || contains(b"gradient_booster") {
                    Format::XgBoost
                } else {
                    Format::Unknown
                }
            }
            // A protobuf that opens with the small number `ir_version` and goes on with a field of ONNX's
            // ModelProto.
            [0x08, 1..=20, 0x12 | 0x1a | 0x22 | 0x28 | 0x32 | 0x3a | 0x42, ..] => Format::Onnx,
            _ => Format::Unknown,
        }
    }

    /// The error for a file of a format that is not read.
    pub(crate) fn refusal(self) -> Error {
        const EXPORT: &str = "export the model as LightGBM text, in Python: \
                              `booster.save_model(\"model.txt\")`, or for scikit-learn's LGBMClassifier \
                              `classifier.booster_.save_model(\"model.txt\")`";
        let (message, help) = match self {
            Format::LightGbmText => ("this is a LightGBM text file".to_string(), EXPORT.to_string()),
            Format::LightGbmJson => ("this is LightGBM's JSON dump, not its text file".into(), EXPORT.into()),
            Format::Pickle => (
                "this is a pickle (or a compressed one); it can run code when opened and is never loaded"
                    .into(),
                format!("open it yourself, then {EXPORT}"),
            ),
            Format::Zip => (
                "this is a zip archive, which may contain a pickle; it is never loaded".into(),
                format!("open it yourself, then {EXPORT}"),
            ),
            Format::XgBoost => ("XGBoost models are not read by this version".into(), EXPORT.into()),
            Format::Onnx => ("ONNX models are not read by this version".into(), EXPORT.into()),
            Format::CatBoost => ("CatBoost models are not read by this version".into(), EXPORT.into()),
            Format::Empty => ("the file is empty".into(), EXPORT.into()),
            Format::Unknown => ("this is not a model file that is known".into(), EXPORT.into()),
        };
        Error::new(ErrorKind::Model, message).help(help)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_told_by_content() {
        let cases: [(&[u8], Format); 15] = [
            (b"tree\nversion=v4\n", Format::LightGbmText),
            (b"tree\r\nversion=v4\r\n", Format::LightGbmText),
            (b"{\"name\":\"tree\",\"max_feature_idx\":3}", Format::LightGbmJson),
            (b"\x80\x04\x95\x10", Format::Pickle),
            (b"\x78\x9c\x00", Format::Pickle),
            (b"\x1f\x8b\x08", Format::Pickle),
            (b"PK\x03\x04\x14", Format::Zip),
            (b"{\"learner\":{\"attributes\":{}", Format::XgBoost),
            (b"{L\x00\x00\x00\x00\x00\x00\x00\x07learner{", Format::XgBoost),
            (b"\x08\x08\x12\x08skl2onnx", Format::Onnx),
            (b"CBM1\x00", Format::CatBoost),
            (b"", Format::Empty),
            (b"age,sex\n1,2\n", Format::Unknown),
            (b"{\"points\": []}", Format::Unknown),
            (b"\x00\x01", Format::Unknown),
        ];
        for (bytes, format) in cases {
            assert_eq!(Format::of(bytes), format, "{bytes:?}");
        }
    }

    #[test]
    fn every_refusal_says_how_to_export() {
        for format in
            [Format::Pickle, Format::Zip, Format::XgBoost, Format::Onnx, Format::Unknown, Format::Empty]
        {
            assert!(format.refusal().remedy().is_some_and(|help| help.contains("save_model")), "{format:?}");
        }
    }
}
