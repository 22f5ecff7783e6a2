//! Tables: columns from Arrow, from NumPy or from lists, or a file.
//!
//! [`sogar::table`] decides what a column means, for all kinds of tables, so a data frame, a Parquet file and a CSV file with the
//! same contents are the same table.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::builder::LargeStringBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{
    Array, ArrayRef, DictionaryArray, Float64Array, Int32Array, Int64Array, LargeStringArray, UInt64Array,
};
use arrow_schema::DataType;
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};
use sogar::table::{Cells, Column, MISSING, ReadOptions, parquet};
use sogar::{Error, ErrorKind};

use crate::arrow::Chunks;
use crate::errors::OrRaise;
use crate::running::run_detached;
use crate::settings::parsed;

/// A table of the engine.
#[pyclass(frozen, weakref, module = "sogar._native")]
pub struct Table {
    /// The table.
    pub inner: Arc<sogar::table::Table>,
}

impl From<sogar::table::Table> for Table {
    fn from(table: sogar::table::Table) -> Table {
        Table { inner: Arc::new(table) }
    }
}

#[pymethods]
impl Table {
    /// A CSV or Parquet file, read as the configuration says.
    #[staticmethod]
    fn read(py: Python<'_>, path: PathBuf, config: &str) -> PyResult<Table> {
        let options = parsed(py, config)?.read_options().or_raise(py)?;
        let table = run_detached(py, move || sogar::table::Table::read(&path, &options))?;
        Ok(table.or_raise(py)?.into())
    }

    /// Anything with the Arrow PyCapsule interface.
    #[staticmethod]
    fn from_arrow(py: Python<'_>, data: &Bound<'_, PyAny>, config: &str, origin: PathBuf) -> PyResult<Table> {
        let options = parsed(py, config)?.read_options().or_raise(py)?;
        let batches = Chunks::of(data)?;
        let Some((fields, batches)) = batches.as_ref().and_then(|batches| match &batches.kind {
            DataType::Struct(fields) => Some((fields, &batches.arrays)),
            _ => None,
        }) else {
            return Err(PyTypeError::new_err("this is no table: it exports no columns through Arrow"));
        };
        if batches.iter().any(|batch| batch.null_count() > 0) {
            return Err(PyValueError::new_err("rows of the table are missing as a whole"));
        }
        let made = py.detach(|| {
            let mut columns = Vec::with_capacity(fields.len());
            for (index, field) in fields.iter().enumerate() {
                let chunks: Vec<ArrayRef> =
                    batches.iter().map(|batch| batch.as_struct().column(index).clone()).collect();
                columns.push(parquet::column(field.name(), field.data_type(), &chunks, &options)?);
            }
            sogar::table::Table::from_columns(origin, columns)
        });
        Ok(made.or_raise(py)?.into())
    }

    /// Columns one by one. Each is a one-dimensional array of 64-bit floats (NaN is missing), an Arrow array, a pair of 64-bit
    /// integers and a mask of missing ones, a pair of codes (32-bit integers, −1 is missing) and their strings, or a list of
    /// strings and `None`.
    #[staticmethod]
    fn from_columns(
        py: Python<'_>,
        names: Vec<String>,
        columns: Vec<Bound<'_, PyAny>>,
        config: &str,
        origin: PathBuf,
    ) -> PyResult<Table> {
        let options = parsed(py, config)?.read_options().or_raise(py)?;
        let columns = names
            .iter()
            .zip(&columns)
            .map(|(name, column)| read_column(py, name, column, &options))
            .collect::<PyResult<Vec<_>>>()?;
        let made = py.detach(|| sogar::table::Table::from_columns(origin, columns));
        Ok(made.or_raise(py)?.into())
    }

    /// Number of rows.
    #[getter]
    fn rows(&self) -> usize {
        self.inner.rows
    }

    /// Names of the columns.
    #[getter]
    fn names(&self) -> Vec<&str> {
        self.inner.names().collect()
    }

    /// SHA-256 of the file, or of the contents.
    #[getter]
    fn hash(&self) -> &str {
        &self.inner.hash
    }

    /// The file, if there is one.
    #[getter]
    fn path(&self) -> &Path {
        &self.inner.path
    }

    /// The columns by name: arrays of floats, or lists of strings and `None`.
    fn columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let columns = PyDict::new(py);
        for column in &self.inner.columns {
            match &column.cells {
                Cells::Numbers(values) => columns.set_item(&column.name, PyArray1::from_slice(py, values))?,
                Cells::Text { codes, levels } => {
                    let texts = PyList::new(py, codes.iter().map(|&code| levels.get(code as usize)))?;
                    columns.set_item(&column.name, texts)?;
                }
            }
        }
        Ok(columns)
    }

    /// The whole table, as objects that can be pickled.
    fn state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let columns = PyList::empty(py);
        for column in &self.inner.columns {
            match &column.cells {
                Cells::Numbers(values) => {
                    columns.append((&column.name, PyArray1::from_slice(py, values), None::<()>))?
                }
                Cells::Text { codes, levels } => {
                    columns.append((&column.name, PyArray1::from_slice(py, codes), levels))?;
                }
            }
        }
        (&self.inner.path, &self.inner.hash, self.inner.rows, columns).into_pyobject(py)
    }

    /// The table of another process.
    #[staticmethod]
    fn from_state(
        path: PathBuf,
        digest: String,
        rows: usize,
        columns: Vec<(String, Bound<'_, PyAny>, Option<Vec<String>>)>,
    ) -> PyResult<Table> {
        let columns = columns
            .into_iter()
            .map(|(name, cells, levels)| {
                let cells = match levels {
                    None => Cells::Numbers(cells.extract::<PyReadonlyArray1<'_, f64>>()?.as_array().to_vec()),
                    Some(levels) => {
                        let codes = cells.extract::<PyReadonlyArray1<'_, u32>>()?.as_array().to_vec();
                        Cells::Text { codes, levels }
                    }
                };
                let fits = cells.len() == rows
                    && match &cells {
                        Cells::Numbers(_) => true,
                        Cells::Text { codes, levels } => {
                            codes.iter().all(|&code| code == MISSING || (code as usize) < levels.len())
                        }
                    };
                if fits {
                    Ok(Column { name, cells })
                } else {
                    Err(PyValueError::new_err(format!("column `{name}` is damaged")))
                }
            })
            .collect::<PyResult<_>>()?;
        Ok(sogar::table::Table {
            path,
            hash: digest,
            rows,
            columns,
            lines: Vec::new(),
            names: Default::default(),
        }
        .into())
    }

    fn __len__(&self) -> usize {
        self.inner.rows
    }
}

/// Which cells are missing.
type Gaps<'py> = PyReadonlyArray1<'py, bool>;

/// Reads one column of any form, through the reader of all Arrow columns.
fn read_column(
    py: Python<'_>,
    name: &str,
    column: &Bound<'_, PyAny>,
    options: &ReadOptions,
) -> PyResult<Column> {
    let chunks: Vec<ArrayRef> = if let Ok(values) = column.extract::<PyReadonlyArray1<'_, f64>>() {
        vec![Arc::new(Float64Array::from_iter_values(values.as_array().iter().copied()))]
    } else if let Ok(list) = column.cast::<PyList>() {
        let mut texts = LargeStringBuilder::new();
        for (row, cell) in list.iter().enumerate() {
            if cell.is_none() {
                texts.append_null();
                continue;
            }
            let Ok(text) = cell.cast::<PyString>()?.to_str() else {
                let error =
                    Error::new(ErrorKind::Table, "the text has half of a character (a lone surrogate)");
                return Err(error.row(row + 1).column(name).help(
                    "correct the cell; `text.encode(\"utf-16\", \"surrogatepass\").decode(\"utf-16\")` joins two halves",
                ))
                .or_raise(py);
            };
            texts.append_value(text);
        }
        vec![Arc::new(texts.finish())]
    } else if let Ok((codes, levels)) = column.extract::<(PyReadonlyArray1<'_, i32>, Vec<String>)>() {
        let codes: Int32Array = codes.as_array().iter().map(|&code| (code >= 0).then_some(code)).collect();
        let levels = Arc::new(LargeStringArray::from(levels));
        let coded = DictionaryArray::<Int32Type>::try_new(codes, levels)
            .map_err(|cause| PyValueError::new_err(format!("column `{name}`: {cause}")))?;
        vec![Arc::new(coded)]
    } else if let Ok((values, gaps)) = column.extract::<(PyReadonlyArray1<'_, i64>, Gaps<'_>)>() {
        let cells = values.as_array().into_iter().zip(gaps.as_array());
        vec![Arc::new(cells.map(|(&value, &gap)| (!gap).then_some(value)).collect::<Int64Array>())]
    } else if let Ok((values, gaps)) = column.extract::<(PyReadonlyArray1<'_, u64>, Gaps<'_>)>() {
        let cells = values.as_array().into_iter().zip(gaps.as_array());
        vec![Arc::new(cells.map(|(&value, &gap)| (!gap).then_some(value)).collect::<UInt64Array>())]
    } else if let Some(chunks) = Chunks::of(column)? {
        chunks.arrays
    } else {
        return Err(PyTypeError::new_err(format!("column `{name}` is of a type that sogar does not take")));
    };
    let kind = chunks.first().map_or(DataType::Null, |chunk| chunk.data_type().clone());
    py.detach(|| parquet::column(name, &kind, &chunks, options)).or_raise(py)
}
