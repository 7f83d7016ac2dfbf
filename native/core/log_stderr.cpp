// llama.cpp writes a few warnings to stderr with fprintf. The linker redirects those calls here
// (--wrap, native/CMakeLists.txt); they become warnings in our log.

#include "log.h"

#include <cstdarg>
#include <cstdio>
#include <string>

#if defined(__unix__) && !defined(__APPLE__)

namespace {

int print(FILE * stream, const char * format, va_list args) {
    if (stream != stderr) {
        return std::vfprintf(stream, format, args);
    }
    va_list again;
    va_copy(again, args);
    const int length = std::vsnprintf(nullptr, 0, format, args);
    if (length > 0) {
        std::string text(static_cast<size_t>(length) + 1, '\0');
        std::vsnprintf(text.data(), text.size(), format, again);
        llamaint::log::add(GGML_LOG_LEVEL_WARN, text.c_str());
    }
    va_end(again);
    return length;
}

}  // namespace

extern "C" {

__attribute__((format(printf, 2, 3))) int __wrap_fprintf(FILE * stream, const char * format, ...) {
    va_list args;
    va_start(args, format);
    const int written = print(stream, format, args);
    va_end(args);
    return written;
}

__attribute__((format(printf, 3, 4))) int __wrap___fprintf_chk(FILE * stream, int, const char * format, ...) {
    va_list args;
    va_start(args, format);
    const int written = print(stream, format, args);
    va_end(args);
    return written;
}

}  // extern "C"

#endif
