"""Operators that move, shape or allocate data without computing anything.

The list starts from MusaCoder's published one (arXiv 2606.04847, appendix J), without its entries
that compute or draw (``allclose``, ``rand``, ``randint``, ``randn``), and adds what current torch
dispatches for the same Python. Names are without overload.
"""

_NAMES = """
    _assert_async _assert_scalar _assert_tensor_metadata _cast_Byte _cast_Char _cast_Double
    _cast_Float _cast_Half _cast_Int _cast_Long _cast_Short _local_scalar_dense _reshape_alias
    _to_copy _unsafe_view alias arange as_strided broadcast_to chunk clone contiguous copy_ detach
    empty empty_like empty_permuted empty_strided equal expand expand_as fill_ flatten full
    full_like is_pinned item lift_fresh movedim narrow new_empty new_empty_strided new_full
    new_ones new_zeros ones ones_like permute ravel reshape resize_ select slice split
    split_with_sizes squeeze stride swapaxes t to transpose unbind unflatten unsafe_split
    unsqueeze view view_as zero_ zeros zeros_like
"""
PLUMBING = frozenset(_NAMES.split())


def compute_names(names: set[str]) -> set[str]:
    """The ones of *names* (``add.Tensor``, ``c10d::x``, ...) that are not plumbing."""
    return {name for name in names if name.split(".")[0] not in PLUMBING}
