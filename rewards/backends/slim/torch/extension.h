// The header that answers include; found before torch's own, precompiled or not.
#ifndef KERNELWRIGHT_TORCH_EXTENSION_H
#define KERNELWRIGHT_TORCH_EXTENSION_H
#include "../kernelwright/extension.h"
#endif
