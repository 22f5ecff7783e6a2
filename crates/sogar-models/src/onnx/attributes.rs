//! The attributes of a node, by name.

use super::damaged;
use super::external::ExternalFiles;
use super::proto::{Node, TensorProto, each};
use super::tensor::{Data, Tensor};
use super::wire::Field;
use sogar_base::error::Result;

/// A node's type, with its attributes.
#[derive(Debug, Default)]
pub(super) struct Attributes<'a> {
    list: Vec<Attribute<'a>>,
}

#[derive(Debug, Default)]
struct Attribute<'a> {
    name: &'a str,
    float: Option<f32>,
    integer: Option<i64>,
    text: Option<&'a [u8]>,
    tensor: Option<TensorProto<'a>>,
    floats: Vec<f32>,
    integers: Vec<i64>,
    texts: Vec<&'a [u8]>,
}

impl<'a> Attributes<'a> {
    pub fn of(node: &Node<'a>) -> Result<Self> {
        let mut list = Vec::with_capacity(node.attributes.len());
        for bytes in &node.attributes {
            let mut attribute = Attribute::default();
            each(Field::Bytes(bytes), |number, field| {
                match number {
                    1 => attribute.name = field.text()?,
                    2 => attribute.float = Some(field.single()?),
                    3 => attribute.integer = Some(field.integer()?),
                    4 => attribute.text = Some(field.bytes()?),
                    5 => attribute.tensor = Some(TensorProto::read(field)?),
                    7 => field.singles(&mut attribute.floats)?,
                    8 => field.integers(&mut attribute.integers)?,
                    9 => attribute.texts.push(field.bytes()?),
                    _ => {}
                }
                Ok(())
            })?;
            list.push(attribute);
        }
        Ok(Attributes { list })
    }

    fn find(&self, name: &str) -> Option<&Attribute<'a>> {
        self.list.iter().find(|attribute| attribute.name == name)
    }

    /// A whole number.
    pub fn integer(&self, name: &str) -> Option<i64> {
        self.find(name)?.integer
    }

    /// A number.
    pub fn float(&self, name: &str) -> Option<f32> {
        self.find(name)?.float
    }

    /// A text; empty if absent.
    pub fn text(&self, name: &str) -> Result<&'a str> {
        let bytes = self.find(name).and_then(|attribute| attribute.text).unwrap_or_default();
        std::str::from_utf8(bytes).map_err(|_| damaged(format!("the attribute `{name}` is not UTF-8 text")))
    }

    /// A list of whole numbers; empty if absent.
    pub fn integers(&self, name: &str) -> &[i64] {
        self.find(name).map_or(&[], |attribute| &attribute.integers)
    }

    /// A list of texts; empty if absent.
    pub fn texts(&self, name: &str) -> &[&'a [u8]] {
        self.find(name).map_or(&[], |attribute| &attribute.texts)
    }

    /// A list of numbers, or a tensor under the name with `_as_tensor` added; empty if absent.
    pub fn numbers(&self, name: &str, files: &mut ExternalFiles) -> Result<Vec<f64>> {
        if let Some(tensor) = self.tensor(&format!("{name}_as_tensor"), files)? {
            return tensor.numbers().ok_or_else(|| damaged(format!("the attribute `{name}` holds texts")));
        }
        Ok(self
            .find(name)
            .map_or(Vec::new(), |found| found.floats.iter().map(|&value| f64::from(value)).collect()))
    }

    /// A tensor.
    pub fn tensor(&self, name: &str, files: &mut ExternalFiles) -> Result<Option<Tensor>> {
        match self.find(name).and_then(|attribute| attribute.tensor.as_ref()) {
            Some(proto) => Ok(Some(Tensor::read(proto, files)?)),
            None => Ok(None),
        }
    }

    /// The value of a `Constant` node.
    pub fn constant(&self, files: &mut ExternalFiles) -> Result<Option<Tensor>> {
        if let Some(tensor) = self.tensor("value", files)? {
            return Ok(Some(tensor));
        }
        let scalar = |data| Tensor { dims: Vec::new(), data };
        Ok(match self.list.first() {
            Some(Attribute { name: "value_float", float: Some(value), .. }) => {
                Some(scalar(Data::Singles(vec![f64::from(*value)])))
            }
            Some(Attribute { name: "value_int", integer: Some(value), .. }) => {
                Some(scalar(Data::Integers(vec![*value])))
            }
            Some(Attribute { name: "value_floats", floats, .. }) => {
                Some(Tensor::list(Data::Singles(floats.iter().map(|&value| f64::from(value)).collect())))
            }
            Some(Attribute { name: "value_ints", integers, .. }) => {
                Some(Tensor::list(Data::Integers(integers.clone())))
            }
            _ => None,
        })
    }
}
