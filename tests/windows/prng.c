/* bcryptprimitives.dll for a wine that has none (before 8.5): Rust's standard library asks it for random bytes. */
#include <stddef.h>

unsigned char __stdcall SystemFunction036(void *, unsigned long);

__declspec(dllexport) int __stdcall ProcessPrng(unsigned char *to, size_t len) {
    return SystemFunction036(to, (unsigned long)len);
}
