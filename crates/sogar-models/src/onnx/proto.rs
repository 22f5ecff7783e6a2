//! The relevant messages of an ONNX file, as views of the file's bytes.
//!
//! Unused fields (documentation, shapes of inner values, training information) are skipped.

use super::wire::{Field, Message};
use sogar_base::error::Result;

/// `ModelProto`.
#[derive(Debug, Default)]
pub(super) struct Model<'a> {
    /// The program that wrote the file.
    pub producer: &'a str,
    /// The graph.
    pub graph: Option<&'a [u8]>,
    /// Versions of the operator sets, by domain.
    pub operator_sets: Vec<(&'a str, i64)>,
    /// The user's entries in the file.
    pub metadata: Vec<(&'a str, &'a str)>,
}

/// `GraphProto`.
#[derive(Debug, Default)]
pub(super) struct Graph<'a> {
    pub nodes: Vec<Node<'a>>,
    pub initializers: Vec<TensorProto<'a>>,
    pub inputs: Vec<ValueInfo<'a>>,
    pub outputs: Vec<ValueInfo<'a>>,
    pub sparse_initializers: usize,
}

/// `NodeProto`.
#[derive(Debug, Default)]
pub(super) struct Node<'a> {
    pub inputs: Vec<&'a str>,
    pub outputs: Vec<&'a str>,
    pub name: &'a str,
    pub operator: &'a str,
    pub domain: &'a str,
    /// Its attributes, decoded on demand.
    pub attributes: Vec<&'a [u8]>,
}

/// `TensorProto`.
#[derive(Debug, Default)]
pub(super) struct TensorProto<'a> {
    pub name: &'a str,
    pub dims: Vec<i64>,
    pub kind: i64,
    pub raw: Option<&'a [u8]>,
    pub singles: Vec<f32>,
    pub doubles: Vec<f64>,
    pub integers: Vec<i64>,
    pub texts: Vec<&'a [u8]>,
    /// Where the numbers are, if not here.
    pub external: Vec<(&'a str, &'a str)>,
    pub is_external: bool,
}

/// `ValueInfoProto`: an input or output.
#[derive(Debug, Default)]
pub(super) struct ValueInfo<'a> {
    pub name: &'a str,
    /// The element type of a tensor; 0 for anything else.
    pub kind: i64,
    /// The dimensions of a tensor; `None` for one that varies.
    pub dims: Option<Vec<Option<i64>>>,
}

impl<'a> Model<'a> {
    pub fn read(bytes: &'a [u8]) -> Result<Self> {
        let mut model = Model::default();
        let mut message = Message::of(bytes);
        while let Some((number, field)) = message.next()? {
            match number {
                2 => model.producer = field.text()?,
                7 => model.graph = Some(field.bytes()?),
                8 => {
                    let (mut domain, mut version) = ("", 0);
                    each(field, |number, field| {
                        match number {
                            1 => domain = field.text()?,
                            2 => version = field.integer()?,
                            _ => {}
                        }
                        Ok(())
                    })?;
                    model.operator_sets.push((domain, version));
                }
                14 => model.metadata.push(entry(field)?),
                _ => {}
            }
        }
        Ok(model)
    }
}

impl<'a> Graph<'a> {
    pub fn read(bytes: &'a [u8]) -> Result<Self> {
        let mut graph = Graph::default();
        each(Field::Bytes(bytes), |number, field| {
            match number {
                1 => graph.nodes.push(Node::read(field)?),
                5 => graph.initializers.push(TensorProto::read(field)?),
                11 => graph.inputs.push(ValueInfo::read(field)?),
                12 => graph.outputs.push(ValueInfo::read(field)?),
                15 => graph.sparse_initializers += 1,
                _ => {}
            }
            Ok(())
        })?;
        Ok(graph)
    }
}

impl<'a> Node<'a> {
    fn read(field: Field<'a>) -> Result<Self> {
        let mut node = Node::default();
        each(field, |number, field| {
            match number {
                1 => node.inputs.push(field.text()?),
                2 => node.outputs.push(field.text()?),
                3 => node.name = field.text()?,
                4 => node.operator = field.text()?,
                5 => node.attributes.push(field.bytes()?),
                7 => node.domain = field.text()?,
                _ => {}
            }
            Ok(())
        })?;
        Ok(node)
    }
}

impl<'a> TensorProto<'a> {
    pub fn read(field: Field<'a>) -> Result<Self> {
        let mut tensor = TensorProto::default();
        each(field, |number, field| {
            match number {
                1 => field.integers(&mut tensor.dims)?,
                2 => tensor.kind = field.integer()?,
                4 => field.singles(&mut tensor.singles)?,
                5 | 7 | 11 => field.integers(&mut tensor.integers)?,
                6 => tensor.texts.push(field.bytes()?),
                8 => tensor.name = field.text()?,
                9 => tensor.raw = Some(field.bytes()?),
                10 => field.doubles(&mut tensor.doubles)?,
                13 => tensor.external.push(entry(field)?),
                14 => tensor.is_external = field.integer()? == 1,
                _ => {}
            }
            Ok(())
        })?;
        Ok(tensor)
    }
}

impl<'a> ValueInfo<'a> {
    fn read(field: Field<'a>) -> Result<Self> {
        let mut info = ValueInfo::default();
        each(field, |number, field| {
            match number {
                1 => info.name = field.text()?,
                2 => each(field, |number, field| match number {
                    1 => info.read_tensor_type(field),
                    _ => Ok(()),
                })?,
                _ => {}
            }
            Ok(())
        })?;
        Ok(info)
    }

    fn read_tensor_type(&mut self, field: Field<'a>) -> Result<()> {
        each(field, |number, field| {
            match number {
                1 => self.kind = field.integer()?,
                2 => {
                    let mut dims = Vec::new();
                    each(field, |number, field| {
                        if number == 1 {
                            let mut size = None;
                            each(field, |number, field| {
                                if number == 1 {
                                    size = Some(field.integer()?);
                                }
                                Ok(())
                            })?;
                            dims.push(size);
                        }
                        Ok(())
                    })?;
                    self.dims = Some(dims);
                }
                _ => {}
            }
            Ok(())
        })
    }
}

/// Visits the fields of a nested message.
pub(super) fn each<'a>(field: Field<'a>, mut visit: impl FnMut(u32, Field<'a>) -> Result<()>) -> Result<()> {
    let mut message = Message::of(field.bytes()?);
    while let Some((number, field)) = message.next()? {
        visit(number, field)?;
    }
    Ok(())
}

/// A key with its value.
fn entry<'a>(field: Field<'a>) -> Result<(&'a str, &'a str)> {
    let (mut key, mut value) = ("", "");
    each(field, |number, field| {
        match number {
            1 => key = field.text()?,
            2 => value = field.text()?,
            _ => {}
        }
        Ok(())
    })?;
    Ok((key, value))
}
