//! Recognises the format of a model file by its first bytes, never by its name.
//!
//! Files that can run code when opened (pickles and what contains them) are refused before anything in them is read; every
//! refusal says how to get an accepted file.

use sogar_base::error::{Error, ErrorKind};

/// The format of a model file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// LightGBM's own text format.
    LightGbmText,
    /// LightGBM's JSON dump (`dump_model`), which LightGBM itself cannot load back.
    LightGbmJson,
    /// A Python pickle, plain or compressed as joblib does.
    Pickle,
    /// A zip archive (PyTorch, Keras, skops, …).
    Zip,
    /// XGBoost as JSON.
    XgBoostJson,
    /// XGBoost as UBJSON.
    XgBoostUbj,
    /// XGBoost's binary format of releases up to 2.
    XgBoostBinary,
    /// XGBoost's human-readable list of trees (`dump_model`), without objective and start values.
    XgBoostDump,
    /// An ONNX graph.
    Onnx,
    /// CatBoost's binary format.
    CatBoost,
    /// An empty file.
    Empty,
    /// None of these.
    Unknown,
}

/// Bytes of a file to search for a keyword.
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
            // zlib, gzip, bzip2, xz and LZ4: joblib's compressed formats.
            [0x78, 0x01 | 0x5e | 0x9c | 0xda, ..] | [0x1f, 0x8b, ..] => Format::Pickle,
            _ if head.starts_with(b"BZh") || head.starts_with(b"\xfd7zXZ") => Format::Pickle,
            _ if head.starts_with(b"\x04\x22\x4d\x18") => Format::Pickle,
            _ if head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06") => Format::Zip,
            _ if head.starts_with(b"CBM1") => Format::CatBoost,
            _ if head.starts_with(b"binf") => Format::XgBoostBinary,
            // The length of a key follows: UBJSON.
            [b'{', b'i' | b'U' | b'I' | b'l' | b'L', ..] if contains(b"learner") || contains(b"version") => {
                Format::XgBoostUbj
            }
            _ if head.trim_ascii_start().starts_with(b"{") => {
                // A key that only LightGBM has; both have a `tree_info` far inside.
                if contains(b"\"max_feature_idx\"") || contains(b"\"tree_structure\"") {
                    Format::LightGbmJson
                } else if contains(b"\"learner\"") || contains(b"\"gradient_booster\"") {
                    Format::XgBoostJson
                } else if contains(b"\"tree_info\"") {
                    Format::LightGbmJson
                } else {
                    Format::Unknown
                }
            }
            _ if head.trim_ascii_start().starts_with(b"[") && contains(b"\"nodeid\"") => Format::XgBoostDump,
            _ if head.starts_with(b"booster[0]") => Format::XgBoostDump,
            // A protobuf that starts with the small number `ir_version`, followed by a field of ONNX's ModelProto.
            [0x08, 1..=20, 0x12 | 0x1a | 0x22 | 0x28 | 0x32 | 0x3a | 0x42, ..] => Format::Onnx,
            // Fixed fields, then the names of objective and booster.
            _ if (contains(b"gbtree") || contains(b"gblinear")) && contains(b"\0\0\0\0\0") => {
                Format::XgBoostBinary
            }
            _ => Format::Unknown,
        }
    }

    /// The error for an unsupported format.
    pub fn refusal(self) -> Error {
        const EXPORT: &str = "export the model as LightGBM text (in Python `booster.save_model(\"model.txt\")`, \
                              or for scikit-learn's LGBMClassifier \
                              `classifier.booster_.save_model(\"model.txt\")`), as XGBoost JSON \
                              (`booster.save_model(\"model.json\")`), or any other model as ONNX (skl2onnx, \
                              `torch.onnx.export`)";
        const AGAIN: &str = "load it with XGBoost and save it as JSON: `booster.save_model(\"model.json\")`";
        let (message, help) = match self {
            Format::LightGbmText => ("this is a LightGBM text file".to_string(), EXPORT.to_string()),
            Format::LightGbmJson => ("this is LightGBM's JSON dump".into(), EXPORT.into()),
            Format::Pickle => (
                "this is a pickle (or a compressed one); it can run code when opened and is never loaded"
                    .into(),
                format!("open it yourself, then {EXPORT}"),
            ),
            Format::Zip => (
                "this is a zip archive, which may contain a pickle; it is never loaded".into(),
                format!("open it yourself, then {EXPORT}"),
            ),
            Format::XgBoostJson | Format::XgBoostUbj => ("this is an XGBoost model".into(), AGAIN.into()),
            Format::XgBoostBinary => (
                "this is XGBoost's old binary format, which XGBoost itself gave up in release 3.1".into(),
                "load it with an XGBoost release before 3.1 and save it as JSON: \
                 `booster.save_model(\"model.json\")`"
                    .into(),
            ),
            Format::XgBoostDump => (
                "this is a list of XGBoost's trees for people (`dump_model`): objective, start values and the \
                 precision of numbers are lost"
                    .into(),
                AGAIN.into(),
            ),
            Format::Onnx => ("this is an ONNX model".into(), EXPORT.into()),
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
    fn formats_are_recognised_by_content() {
        let cases: [(&[u8], Format); 19] = [
            (b"tree\nversion=v4\n", Format::LightGbmText),
            (b"tree\r\nversion=v4\r\n", Format::LightGbmText),
            (b"{\"name\":\"tree\",\"max_feature_idx\":3}", Format::LightGbmJson),
            (b"\x80\x04\x95\x10", Format::Pickle),
            (b"\x78\x9c\x00", Format::Pickle),
            (b"\x1f\x8b\x08", Format::Pickle),
            (b"PK\x03\x04\x14", Format::Zip),
            (b"{\"learner\":{\"attributes\":{}", Format::XgBoostJson),
            (b" {\n \"version\":[1,0,2],\"learner\":{}}", Format::XgBoostJson),
            (b"{L\x00\x00\x00\x00\x00\x00\x00\x07learner{", Format::XgBoostUbj),
            (b"\x00\x00\x00?\x03\x00\x00\x00\x00\x00\x00\x00\x00\x06gbtree", Format::XgBoostBinary),
            (b"[\n  { \"nodeid\": 0, \"depth\": 0,", Format::XgBoostDump),
            (b"booster[0]:\n0:[f0<1] yes=1", Format::XgBoostDump),
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
        let refused = [Format::Pickle, Format::Zip, Format::XgBoostBinary, Format::XgBoostDump];
        for format in refused.into_iter().chain([Format::Onnx, Format::Unknown, Format::Empty]) {
            assert!(format.refusal().remedy().is_some_and(|help| help.contains("save_model")), "{format:?}");
        }
    }
}
