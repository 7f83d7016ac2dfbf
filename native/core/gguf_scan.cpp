#include "gguf_scan.h"

#include "error.h"
#include "gguf_check.h"
#include "llama.h"

#include <algorithm>

namespace llamaint {

namespace {

const char * kind_of(const MetadataValue & value) {
    static const char * names[] = { "a bool", "an int", "a float", "a text" };
    return names[value.index()];
}

const char * kind_of(const GgufValue & value) {
    static const char * names[] = { "a bool", "an int", "a float", "a text", "an array" };
    return names[value.index()];
}

void apply_overrides(GgufFile & file, const std::map<std::string, MetadataValue> & overrides) {
    for (const auto & [key, value] : overrides) {
        const GgufValue * present = file.find(key);
        // llama.cpp would only warn and keep what the file says.
        if (present && present->index() != value.index()) {
            throw Error(ErrorCode::config, "kv_overrides: \"" + key + "\" is " + kind_of(*present) +
                                               " in the file, not " + kind_of(value));
        }
        std::visit([&, name = key](const auto & v) { file.metadata[name] = v; }, value);
    }
}

// Names of all parts, first part included. llama.cpp derives them the same way.
std::vector<std::string> parts_of(const std::string & path, int n_parts) {
    std::string prefix(path.size() + 1, '\0');
    const int length = llama_split_prefix(prefix.data(), prefix.size(), path.c_str(), 0, n_parts);
    if (length <= 0) {
        throw Error(ErrorCode::model_load,
                    path + " is the first of " + std::to_string(n_parts) + " parts, but is not named ...-00001-of-" +
                        std::string(5 - std::min<size_t>(5, std::to_string(n_parts).size()), '0') +
                        std::to_string(n_parts) + ".gguf");
    }
    prefix.resize(static_cast<size_t>(length));
    std::vector<std::string> parts;
    for (int part = 0; part < n_parts; ++part) {
        std::string name(path.size() + 32, '\0');
        name.resize(static_cast<size_t>(llama_split_path(name.data(), name.size(), prefix.c_str(), part, n_parts)));
        parts.push_back(std::move(name));
    }
    return parts;
}

void read_other_parts(const std::string & path, GgufFile & first) {
    const int n_parts = static_cast<int>(first.number("split.count").value_or(0));
    if (n_parts <= 1) {
        return;
    }
    if (n_parts > 65535 || first.number("split.no").value_or(-1) != 0) {
        throw Error(ErrorCode::model_load, path + " is not the first part of a split model",
                    { { "part", first.number("split.no").value_or(-1) }, { "n_parts", double(n_parts) } });
    }
    const auto parts = parts_of(path, n_parts);
    for (int part = 1; part < n_parts; ++part) {
        const std::string & name = parts[static_cast<size_t>(part)];
        const GgufFile other = GgufFile::read(name);
        if (other.number("split.no").value_or(-1) != part) {
            throw Error(ErrorCode::model_load, name + " is not part " + std::to_string(part) + " of the model");
        }
        first.tensors.insert(first.tensors.end(), other.tensors.begin(), other.tensors.end());
        first.file_bytes += other.file_bytes;
    }
}

}  // namespace

GgufFile scan_model_file(const std::string & path, const std::map<std::string, MetadataValue> & overrides) {
    GgufFile file = GgufFile::read(path);
    apply_overrides(file, overrides);
    read_other_parts(path, file);
    check_model(file, path);
    return file;
}

}  // namespace llamaint
