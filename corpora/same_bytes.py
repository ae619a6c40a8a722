"""Make products round alike on every x86-64 machine of the last ten years: import before numpy.

OpenBLAS, numpy and numba choose their code by the processor. Here all take that of AVX2, with one
thread, so that the same text gives the same bytes.
"""

import os

os.environ |= {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "OPENBLAS_CORETYPE": "Haswell",
    "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR",
    "NUMBA_CPU_NAME": "haswell",
    "NUMBA_CPU_FEATURES": "+avx2,+fma",
}
