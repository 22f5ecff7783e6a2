//! An extension module leaves Python's own symbols to whoever loads it, which some linkers must be told.

fn main() {
    pyo3_build_config::add_extension_module_link_args();
}
