#include "gguf_file.h"

#include "error.h"
#include "ggml.h"
#include "gguf.h"

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>

namespace llamaint {

namespace {

constexpr uint64_t max_key_bytes = 65535;
constexpr uint64_t max_text_bytes = 64 * 1024 * 1024;
constexpr uint64_t min_entry_bytes = 8 + 4 + 1;  // key length, type, value
constexpr uint64_t min_tensor_bytes = 8 + 4 + 4 + 8;

// Little-endian values of a file, never past its end.
class Bytes {
  public:
    explicit Bytes(const std::string & path) : file_(std::filesystem::u8path(path), std::ios::binary), path_(path) {
        if (!file_) {
            throw Error(ErrorCode::model_not_found, path + " cannot be opened");
        }
        file_.seekg(0, std::ios::end);
        size_ = static_cast<uint64_t>(file_.tellg());
        file_.seekg(0);
    }

    uint64_t size() const { return size_; }
    uint64_t position() const { return begin_ + at_; }
    uint64_t left() const { return size_ - position(); }

    template <typename T>
    T value(const char * what) {
        T result;
        copy(reinterpret_cast<char *>(&result), sizeof(result), what);
        return result;
    }

    std::string text(uint64_t limit, const char * what) {
        const auto length = value<uint64_t>(what);
        if (length > limit || length > left()) {
            fail(std::string("the length of ") + what + " is " + std::to_string(length) + " bytes");
        }
        std::string result(static_cast<size_t>(length), '\0');
        copy(result.data(), result.size(), what);
        return result;
    }

    void skip(uint64_t n, const char * what) {
        if (n > left()) {
            fail(std::string("the file ends inside ") + what);
        }
        if (n <= buffer_.size() - at_) {
            at_ += static_cast<size_t>(n);
            return;
        }
        begin_ = position() + n;
        at_ = 0;
        buffer_.clear();
        file_.seekg(static_cast<std::streamoff>(begin_));
    }

    [[noreturn]] void fail(const std::string & reason) const {
        throw Error(ErrorCode::model_load,
                    path_ + " is damaged: " + reason + " (at byte " + std::to_string(position()) + ")",
                    { { "position", double(position()) }, { "file_bytes", double(size_) } });
    }

  private:
    void copy(char * target, size_t n, const char * what) {
        if (n > left()) {
            fail(std::string("the file ends inside ") + what);
        }
        while (n > 0) {
            if (at_ == buffer_.size()) {
                refill(what);
            }
            const size_t part = std::min(n, buffer_.size() - at_);
            std::memcpy(target, buffer_.data() + at_, part);
            at_ += part;
            target += part;
            n -= part;
        }
    }

    void refill(const char * what) {
        constexpr size_t chunk = 256 * 1024;
        begin_ += at_;
        at_ = 0;
        buffer_.resize(static_cast<size_t>(std::min<uint64_t>(chunk, size_ - begin_)));
        file_.read(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
        if (static_cast<size_t>(file_.gcount()) != buffer_.size()) {
            fail(std::string("reading failed inside ") + what);
        }
    }

    std::ifstream file_;
    std::string path_;
    uint64_t size_ = 0;
    uint64_t begin_ = 0;  // place of the buffer in the file
    size_t at_ = 0;
    std::vector<char> buffer_;
};

size_t number_bytes(uint32_t type) {
    switch (type) {
    case GGUF_TYPE_UINT8:
    case GGUF_TYPE_INT8:
    case GGUF_TYPE_BOOL:
        return 1;
    case GGUF_TYPE_UINT16:
    case GGUF_TYPE_INT16:
        return 2;
    case GGUF_TYPE_UINT32:
    case GGUF_TYPE_INT32:
    case GGUF_TYPE_FLOAT32:
        return 4;
    case GGUF_TYPE_UINT64:
    case GGUF_TYPE_INT64:
    case GGUF_TYPE_FLOAT64:
        return 8;
    default:
        return 0;
    }
}

GgufValue read_scalar(Bytes & bytes, uint32_t type, const std::string & key) {
    const char * what = key.c_str();
    switch (type) {
    case GGUF_TYPE_UINT8:
        return int64_t(bytes.value<uint8_t>(what));
    case GGUF_TYPE_INT8:
        return int64_t(bytes.value<int8_t>(what));
    case GGUF_TYPE_UINT16:
        return int64_t(bytes.value<uint16_t>(what));
    case GGUF_TYPE_INT16:
        return int64_t(bytes.value<int16_t>(what));
    case GGUF_TYPE_UINT32:
        return int64_t(bytes.value<uint32_t>(what));
    case GGUF_TYPE_INT32:
        return int64_t(bytes.value<int32_t>(what));
    case GGUF_TYPE_UINT64: {
        const auto value = bytes.value<uint64_t>(what);
        return value > uint64_t(INT64_MAX) ? GgufValue(double(value)) : GgufValue(int64_t(value));
    }
    case GGUF_TYPE_INT64:
        return bytes.value<int64_t>(what);
    case GGUF_TYPE_FLOAT32:
        return double(bytes.value<float>(what));
    case GGUF_TYPE_FLOAT64:
        return bytes.value<double>(what);
    case GGUF_TYPE_BOOL:
        return bytes.value<uint8_t>(what) != 0;
    case GGUF_TYPE_STRING:
        return bytes.text(max_text_bytes, what);
    default:
        bytes.fail("metadata " + key + " has the unknown type " + std::to_string(type));
    }
}

double as_number(const GgufValue & value) {
    if (const auto * integer = std::get_if<int64_t>(&value)) {
        return double(*integer);
    }
    if (const auto * flag = std::get_if<bool>(&value)) {
        return *flag;
    }
    const auto * real = std::get_if<double>(&value);
    return real ? *real : NAN;
}

GgufArray read_array(Bytes & bytes, const std::string & key) {
    GgufArray array;
    array.type = bytes.value<uint32_t>(key.c_str());
    array.count = bytes.value<uint64_t>(key.c_str());
    const size_t each = array.type == GGUF_TYPE_STRING ? 8 : number_bytes(array.type);
    if (each == 0) {
        bytes.fail("the elements of " + key + " have the type " + std::to_string(array.type));
    }
    if (array.count > bytes.left() / each) {
        bytes.fail(key + " claims " + std::to_string(array.count) + " elements");
    }
    if (array.type == GGUF_TYPE_STRING) {
        for (uint64_t i = 0; i < array.count; ++i) {
            bytes.skip(bytes.value<uint64_t>(key.c_str()), key.c_str());
        }
    } else if (array.count <= GgufArray::max_kept) {
        for (uint64_t i = 0; i < array.count; ++i) {
            array.numbers.push_back(as_number(read_scalar(bytes, array.type, key)));
        }
    } else {
        bytes.skip(array.count * each, key.c_str());
    }
    return array;
}

void read_metadata(Bytes & bytes, GgufFile & file, uint64_t count) {
    for (uint64_t i = 0; i < count; ++i) {
        const std::string key = bytes.text(max_key_bytes, "a metadata key");
        const auto type = bytes.value<uint32_t>("a metadata type");
        GgufValue value = type == GGUF_TYPE_ARRAY ? GgufValue(read_array(bytes, key)) : read_scalar(bytes, type, key);
        if (key.empty() || !file.metadata.emplace(key, std::move(value)).second) {
            bytes.fail(key.empty() ? "a metadata key is empty" : "metadata " + key + " stands there twice");
        }
    }
}

// Bytes of a tensor's data, or nullopt when the shape and the type do not fit each other.
std::optional<uint64_t> data_bytes(const GgufTensor & tensor) {
    if (tensor.type >= GGML_TYPE_COUNT || ggml_blck_size(static_cast<ggml_type>(tensor.type)) == 0) {
        return std::nullopt;
    }
    const auto type = static_cast<ggml_type>(tensor.type);
    const auto block = static_cast<uint64_t>(ggml_blck_size(type));
    if (tensor.shape[0] % block != 0) {
        return std::nullopt;
    }
    uint64_t n = ggml_type_size(type);
    for (size_t i = 0; i < tensor.shape.size(); ++i) {
        const uint64_t extent = i == 0 ? tensor.shape[0] / block : tensor.shape[i];
        if (extent == 0 || n > (uint64_t(1) << 62) / extent) {
            return std::nullopt;
        }
        n *= extent;
    }
    return n;
}

void read_tensors(Bytes & bytes, GgufFile & file, uint64_t count) {
    std::set<std::string> names;
    for (uint64_t i = 0; i < count; ++i) {
        GgufTensor tensor;
        tensor.name = bytes.text(GGML_MAX_NAME - 1, "a tensor's name");
        const auto n_dims = bytes.value<uint32_t>("a tensor's shape");
        if (n_dims < 1 || n_dims > GGML_MAX_DIMS) {
            bytes.fail("tensor " + tensor.name + " has " + std::to_string(n_dims) + " dimensions");
        }
        for (uint32_t d = 0; d < n_dims; ++d) {
            tensor.shape.push_back(bytes.value<uint64_t>("a tensor's shape"));
        }
        tensor.type = bytes.value<uint32_t>("a tensor's type");
        tensor.offset = bytes.value<uint64_t>("a tensor's offset");
        const auto n_bytes = data_bytes(tensor);
        if (!n_bytes) {
            bytes.fail("the shape of tensor " + tensor.name + " is not possible for its type " +
                       std::to_string(tensor.type));
        }
        if (!names.insert(tensor.name).second) {
            bytes.fail("tensor " + tensor.name + " stands there twice");
        }
        tensor.n_bytes = *n_bytes;
        file.tensors.push_back(std::move(tensor));
    }
}

void check_extents(const Bytes & bytes, const GgufFile & file, uint64_t alignment) {
    for (const GgufTensor & tensor : file.tensors) {
        if (tensor.offset % alignment != 0) {
            bytes.fail("the data of tensor " + tensor.name + " is not aligned");
        }
        const uint64_t room = file.file_bytes - std::min(file.file_bytes, file.data_offset);
        if (tensor.offset > room || tensor.n_bytes > room - tensor.offset) {
            bytes.fail("the file ends before the data of tensor " + tensor.name + ": it should reach byte " +
                       std::to_string(file.data_offset + tensor.offset + tensor.n_bytes) + " of " +
                       std::to_string(file.file_bytes));
        }
    }
}

uint64_t alignment_of(const Bytes & bytes, const GgufFile & file) {
    const GgufValue * value = file.find(GGUF_KEY_GENERAL_ALIGNMENT);
    if (!value) {
        return GGUF_DEFAULT_ALIGNMENT;
    }
    const auto * alignment = std::get_if<int64_t>(value);
    // llama.cpp lays tensors out in the file as in memory: at least 32 bytes apart.
    if (!alignment || *alignment < 8 || *alignment > (1 << 20) || (*alignment & (*alignment - 1)) != 0) {
        bytes.fail("general.alignment is not a power of two from 8 to 1048576");
    }
    return static_cast<uint64_t>(*alignment);
}

}  // namespace

GgufFile GgufFile::read(const std::string & path) {
    Bytes bytes(path);
    GgufFile file;
    file.file_bytes = bytes.size();
    if (bytes.size() < 24) {
        bytes.fail("it has only " + std::to_string(bytes.size()) + " bytes");
    }
    if (bytes.value<uint32_t>("the magic") != 0x46554747u) {
        throw Error(ErrorCode::model_load, path + " is not a GGUF file (it does not begin with \"GGUF\")");
    }
    file.version = bytes.value<uint32_t>("the version");
    if (file.version < 2 || file.version > GGUF_VERSION) {
        throw Error(ErrorCode::unsupported,
                    path + " is GGUF version " + std::to_string(file.version) + "; versions 2 to " +
                        std::to_string(GGUF_VERSION) + " (little-endian) can be read",
                    { { "version", double(file.version) } });
    }
    const auto n_tensors = bytes.value<uint64_t>("the number of tensors");
    const auto n_metadata = bytes.value<uint64_t>("the number of metadata entries");
    if (n_metadata > bytes.left() / min_entry_bytes || n_tensors > bytes.left() / min_tensor_bytes) {
        bytes.fail("it claims " + std::to_string(n_metadata) + " metadata entries and " + std::to_string(n_tensors) +
                   " tensors");
    }
    read_metadata(bytes, file, n_metadata);
    const uint64_t alignment = alignment_of(bytes, file);
    read_tensors(bytes, file, n_tensors);
    file.data_offset = (bytes.position() + alignment - 1) / alignment * alignment;
    check_extents(bytes, file, alignment);
    return file;
}

const GgufValue * GgufFile::find(const std::string & key) const {
    const auto found = metadata.find(key);
    return found == metadata.end() ? nullptr : &found->second;
}

std::optional<double> GgufFile::number(const std::string & key) const {
    const GgufValue * value = find(key);
    if (!value || std::holds_alternative<std::string>(*value) || std::holds_alternative<GgufArray>(*value)) {
        return std::nullopt;
    }
    return as_number(*value);
}

std::optional<std::string> GgufFile::text(const std::string & key) const {
    const GgufValue * value = find(key);
    const auto * string = value ? std::get_if<std::string>(value) : nullptr;
    return string ? std::optional<std::string>(*string) : std::nullopt;
}

const GgufArray * GgufFile::array(const std::string & key) const {
    const GgufValue * value = find(key);
    return value ? std::get_if<GgufArray>(value) : nullptr;
}

}  // namespace llamaint
