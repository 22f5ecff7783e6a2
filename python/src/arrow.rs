//! Tables and columns of other libraries, through Arrow's C data interface: cells are not copied, and their owner frees them.

use std::ffi::CStr;

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi_and_data_type};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{ArrayRef, make_array};
use arrow_schema::{ArrowError, DataType};
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

/// What an object exports: a column in chunks of one type. A table is a column of structs.
pub struct Chunks {
    /// The type of all chunks.
    pub kind: DataType,
    /// The cells, part by part.
    pub arrays: Vec<ArrayRef>,
}

impl Chunks {
    /// Reads an object; `None` if it does not have the interface.
    pub fn of(object: &Bound<'_, PyAny>) -> PyResult<Option<Chunks>> {
        let py = object.py();
        if object.hasattr(intern!(py, "__arrow_c_array__"))? {
            let exported = object.call_method0(intern!(py, "__arrow_c_array__"))?;
            let (schema, array) = exported.extract::<(Bound<'_, PyCapsule>, Bound<'_, PyCapsule>)>()?;
            return Chunks::one(&schema, &array).map(Some);
        }
        if object.hasattr(intern!(py, "__arrow_c_stream__"))? {
            let exported = object.call_method0(intern!(py, "__arrow_c_stream__"))?;
            return Chunks::all(exported.cast::<PyCapsule>()?).map(Some);
        }
        Ok(None)
    }

    /// A single array.
    fn one(schema: &Bound<'_, PyCapsule>, array: &Bound<'_, PyCapsule>) -> PyResult<Chunks> {
        let schema = schema.pointer_checked(Some(c"arrow_schema"))?.cast::<FFI_ArrowSchema>();
        // SAFETY: a capsule of this name points to a schema, which lives as long as the capsule.
        let kind = DataType::try_from(unsafe { schema.as_ref() }).map_err(fault)?;
        let array = array.pointer_checked(Some(c"arrow_array"))?.cast::<FFI_ArrowArray>();
        // SAFETY: a capsule of this name points to an array. It is moved out: an array without content is left, which is not released again.
        let array = unsafe { FFI_ArrowArray::from_raw(array.as_ptr()) };
        Ok(Chunks { arrays: vec![read(array, &kind)?], kind })
    }

    /// The arrays of a stream.
    fn all(stream: &Bound<'_, PyCapsule>) -> PyResult<Chunks> {
        let stream = stream.pointer_checked(Some(c"arrow_array_stream"))?.cast::<FFI_ArrowArrayStream>();
        // SAFETY: a capsule of this name points to a stream. It is moved out: an empty stream is left, which is not released again.
        let mut stream = unsafe { FFI_ArrowArrayStream::from_raw(stream.as_ptr()) };
        let (Some(get_schema), Some(get_next)) = (stream.get_schema, stream.get_next) else {
            return Err(PyValueError::new_err("this Arrow stream has been read before"));
        };
        let mut schema = FFI_ArrowSchema::empty();
        // SAFETY: the stream is not released, and `schema` is a place to write to.
        if unsafe { get_schema(&mut stream, &mut schema) } != 0 {
            return Err(complaint(&mut stream));
        }
        let kind = DataType::try_from(&schema).map_err(fault)?;
        let mut arrays = Vec::new();
        loop {
            let mut array = FFI_ArrowArray::empty();
            // SAFETY: as above. A stream ends with an array that is released.
            if unsafe { get_next(&mut stream, &mut array) } != 0 {
                return Err(complaint(&mut stream));
            }
            if array.is_released() {
                return Ok(Chunks { kind, arrays });
            }
            arrays.push(read(array, &kind)?);
        }
    }
}

/// The array of a type.
fn read(array: FFI_ArrowArray, kind: &DataType) -> PyResult<ArrayRef> {
    if array.is_released() {
        return Err(PyValueError::new_err("this Arrow array has been read before"));
    }
    // SAFETY: the interface promises that an array is of the type that comes with it.
    let data = unsafe { from_ffi_and_data_type(array, kind.clone()) };
    Ok(make_array(data.map_err(fault)?))
}

/// Why a stream has stopped.
fn complaint(stream: &mut FFI_ArrowArrayStream) -> PyErr {
    let said = stream.get_last_error.and_then(|get_last_error| {
        // SAFETY: the stream is not released. The text is null or valid until the next call.
        let text = unsafe { get_last_error(stream) };
        // SAFETY: as above.
        (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
    });
    PyValueError::new_err(said.unwrap_or_else(|| "the Arrow stream stopped without a reason".to_owned()))
}

/// Arrow's errors as Python's.
fn fault(cause: ArrowError) -> PyErr {
    PyValueError::new_err(cause.to_string())
}
