//! Layer 7: the GPU through wgpu: device choice, buffers, pipelines, submission.
