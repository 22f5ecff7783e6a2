//! The loader of an extension module provides Python's own symbols; some linkers need a flag for that.

fn main() {
    pyo3_build_config::add_extension_module_link_args();
}
