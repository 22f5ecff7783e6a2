//! Constants of the graph: weights, shapes, class labels.

use super::damaged;
use super::external::ExternalFiles;
use super::proto::TensorProto;
use sogar_base::error::{Error, ErrorKind, Result};

/// ONNX's numbers for element types.
pub(super) mod kinds {
    pub const FLOAT: i64 = 1;
    pub const UINT8: i64 = 2;
    pub const INT32: i64 = 6;
    pub const INT64: i64 = 7;
    pub const STRING: i64 = 8;
    pub const BOOL: i64 = 9;
    pub const DOUBLE: i64 = 11;
}

/// A constant.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tensor {
    pub dims: Vec<usize>,
    pub data: Data,
}

/// The elements, row by row.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Data {
    Singles(Vec<f64>),
    Doubles(Vec<f64>),
    Integers(Vec<i64>),
    Texts(Vec<String>),
}

impl Tensor {
    /// Reads a constant, which must have as many elements as its dimensions say.
    pub fn read(proto: &TensorProto<'_>, files: &mut ExternalFiles) -> Result<Tensor> {
        let name = proto.name;
        let mut dims = Vec::with_capacity(proto.dims.len());
        for &dim in &proto.dims {
            dims.push(
                usize::try_from(dim)
                    .map_err(|_| damaged(format!("the weights `{name}` have the impossible size {dim}")))?,
            );
        }
        let count = dims
            .iter()
            .try_fold(1usize, |count, &dim| count.checked_mul(dim))
            .ok_or_else(|| damaged(format!("the weights `{name}` have an impossible number of elements")))?;
        let raw = if proto.is_external { Some(files.bytes(name, &proto.external)?) } else { proto.raw };
        let data = match proto.kind {
            kinds::FLOAT => Data::Singles(match raw {
                Some(raw) => fixed(raw, name, |bytes| f64::from(f32::from_le_bytes(bytes)))?,
                None => proto.singles.iter().map(|&value| f64::from(value)).collect(),
            }),
            kinds::DOUBLE => Data::Doubles(match raw {
                Some(raw) => fixed(raw, name, f64::from_le_bytes)?,
                None => proto.doubles.clone(),
            }),
            kinds::INT64 => Data::Integers(match raw {
                Some(raw) => fixed(raw, name, i64::from_le_bytes)?,
                None => proto.integers.clone(),
            }),
            kinds::INT32 => Data::Integers(match raw {
                Some(raw) => fixed(raw, name, |bytes| i64::from(i32::from_le_bytes(bytes)))?,
                None => proto.integers.clone(),
            }),
            kinds::BOOL | kinds::UINT8 => Data::Integers(match raw {
                Some(raw) => raw.iter().map(|&byte| i64::from(byte)).collect(),
                None => proto.integers.clone(),
            }),
            kinds::STRING => Data::Texts(
                proto.texts.iter().map(|text| String::from_utf8_lossy(text).into_owned()).collect(),
            ),
            kind => {
                let message = format!("the weights `{name}` are of a type (number {kind}) that is not read");
                return Err(Error::new(ErrorKind::Model, message)
                    .help("export the model in single precision (float32), without quantisation"));
            }
        };
        let tensor = Tensor { dims, data };
        if tensor.len() == count {
            Ok(tensor)
        } else {
            Err(damaged(format!(
                "the weights `{name}` should have {count} elements, but {} are there",
                tensor.len()
            )))
        }
    }

    /// A list.
    pub fn list(data: Data) -> Tensor {
        let mut tensor = Tensor { dims: Vec::new(), data };
        tensor.dims.push(tensor.len());
        tensor
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        match &self.data {
            Data::Singles(list) | Data::Doubles(list) => list.len(),
            Data::Integers(list) => list.len(),
            Data::Texts(list) => list.len(),
        }
    }

    /// The elements as numbers; `None` for texts.
    pub fn numbers(&self) -> Option<Vec<f64>> {
        match &self.data {
            Data::Singles(list) | Data::Doubles(list) => Some(list.clone()),
            Data::Integers(list) => Some(list.iter().map(|&value| value as f64).collect()),
            Data::Texts(_) => None,
        }
    }

    /// The elements as whole numbers; `None` for anything else.
    pub fn integers(&self) -> Option<&[i64]> {
        match &self.data {
            Data::Integers(list) => Some(list),
            _ => None,
        }
    }

    /// The only element, if it is a number.
    pub fn scalar(&self) -> Option<f64> {
        if self.len() == 1 { self.numbers()?.first().copied() } else { None }
    }

    /// One number for each of `width` columns: given separately, or one for all. `None` for any other shape.
    pub fn per_column(&self, width: usize) -> Option<Vec<f64>> {
        let mut leading = self.dims.iter().rev();
        let last = leading.next().copied().unwrap_or(1);
        if leading.any(|&dim| dim != 1) {
            return None;
        }
        match self.numbers()? {
            list if last == width => Some(list),
            list if last == 1 => Some(vec![*list.first()?; width]),
            _ => None,
        }
    }

    /// The numbers of a matrix: rows, columns, elements row by row.
    pub fn matrix(&self) -> Option<(usize, usize, Vec<f64>)> {
        match self.dims[..] {
            [rows, columns] => Some((rows, columns, self.numbers()?)),
            _ => None,
        }
    }

    /// The matrix with rows and columns exchanged.
    pub fn transposed(&self) -> Option<Tensor> {
        let (rows, columns, list) = self.matrix()?;
        let data =
            (0..columns).flat_map(|c| (0..rows).map(move |r| (r, c))).map(|(r, c)| list[r * columns + c]);
        let data = match self.data {
            Data::Singles(_) => Data::Singles(data.collect()),
            _ => Data::Doubles(data.collect()),
        };
        Some(Tensor { dims: vec![columns, rows], data })
    }

    /// The elements as names of classes.
    pub fn class_names(&self) -> Vec<String> {
        match &self.data {
            Data::Integers(list) => list.iter().map(i64::to_string).collect(),
            Data::Texts(list) => list.clone(),
            Data::Singles(list) | Data::Doubles(list) => list.iter().map(f64::to_string).collect(),
        }
    }
}

/// The numbers of `N` bytes each in raw data.
fn fixed<T, const N: usize>(raw: &[u8], name: &str, read: impl Fn([u8; N]) -> T) -> Result<Vec<T>> {
    match raw.as_chunks::<N>() {
        (chunks, []) => Ok(chunks.iter().map(|chunk| read(*chunk)).collect()),
        _ => Err(damaged(format!("the weights `{name}` end in the middle of a number"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(dims: &[i64], kind: i64, raw: &[u8]) -> Result<Tensor> {
        let proto =
            TensorProto { name: "w", dims: dims.to_vec(), kind, raw: Some(raw), ..TensorProto::default() };
        Tensor::read(&proto, &mut ExternalFiles::none())
    }

    #[test]
    fn the_announced_size_must_be_there() {
        let bytes = [0, 0, 0x80, 0x3f, 0, 0, 0, 0x40];
        let tensor = read(&[1, 2], kinds::FLOAT, &bytes).unwrap();
        assert_eq!(tensor.numbers().unwrap(), [1.0, 2.0]);
        assert_eq!(tensor.transposed().unwrap().dims, [2, 1]);
        for dims in [&[1, 3][..], &[-1, 2], &[i64::MAX, i64::MAX], &[2_684_354_560], &[0]] {
            assert!(read(dims, kinds::FLOAT, &bytes).is_err(), "{dims:?}");
        }
        assert!(read(&[2], kinds::FLOAT, &bytes[..7]).is_err());
        assert!(read(&[2], 10, &bytes).unwrap_err().to_string().contains("type"));
    }

    #[test]
    fn constants_are_spread_over_columns() {
        let list = |dims: &[usize]| Tensor {
            dims: dims.to_vec(),
            data: Data::Singles(vec![3.0; dims.iter().product()]),
        };
        assert_eq!(list(&[]).per_column(2).unwrap(), [3.0, 3.0]);
        assert_eq!(list(&[1]).per_column(2).unwrap().len(), 2);
        assert_eq!(list(&[1, 2]).per_column(2).unwrap().len(), 2);
        assert!(list(&[2, 1]).per_column(2).is_none());
        assert!(list(&[3]).per_column(2).is_none());
    }
}
