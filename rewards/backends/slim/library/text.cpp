// Messages, errors and the names of types and devices.
#include "../kernelwright/array.h"

namespace kernelwright {

Message& Message::operator<<(const char* part) {
  text += part;
  return *this;
}
Message& Message::operator<<(const std::string& part) {
  text += part;
  return *this;
}
Message& Message::operator<<(char part) {
  text += part;
  return *this;
}
Message& Message::operator<<(bool part) {
  text += part ? '1' : '0';
  return *this;
}
Message& Message::operator<<(long long part) {
  text += std::to_string(part);
  return *this;
}
Message& Message::operator<<(unsigned long long part) {
  text += std::to_string(part);
  return *this;
}
Message& Message::operator<<(double part) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "%g", part);
  text += digits;
  return *this;
}

void raise(Error kind, std::string text) { throw c10::Error(std::move(text), kind); }

}  // namespace kernelwright

namespace c10 {

template class ArrayRef<int64_t>;

const char* toString(ScalarType type) {
  switch (type) {
#define KERNELWRIGHT_ITEM(type, name, number) \
  case ScalarType::name:                      \
    return #name;
    KERNELWRIGHT_SCALAR_TYPES(KERNELWRIGHT_ITEM)
#undef KERNELWRIGHT_ITEM
    default:
      return "Undefined";
  }
}

size_t elementSize(ScalarType scalar_type) {
  switch (scalar_type) {
#define KERNELWRIGHT_ITEM(type, name, number) \
  case ScalarType::name:                      \
    return sizeof(type);
    KERNELWRIGHT_SCALAR_TYPES(KERNELWRIGHT_ITEM)
#undef KERNELWRIGHT_ITEM
    default:
      kernelwright::fail(kernelwright::ERROR_TYPE, "undefined scalar type");
  }
}

Device::Device(const std::string& text) : type_(DeviceType::CPU), index_(-1) {
  const auto colon = text.find(':');
  const auto kind = text.substr(0, colon);
  TORCH_CHECK(kind == "cpu" || kind == "cuda", "no device '", text, "'");
  if (kind == "cuda") type_ = DeviceType::CUDA;
  if (colon != std::string::npos)
    index_ = static_cast<DeviceIndex>(std::stoi(text.substr(colon + 1)));
}

std::string Device::str() const {
  const std::string name = is_cpu() ? "cpu" : is_cuda() ? "cuda" : "device";
  return has_index() ? name + ":" + std::to_string(index_) : name;
}

std::ostream& operator<<(std::ostream& out, ScalarType type) { return out << toString(type); }
std::ostream& operator<<(std::ostream& out, const Device& device) { return out << device.str(); }
std::ostream& operator<<(std::ostream& out, DeviceType type) { return out << Device(type).str(); }
kernelwright::Message& append(kernelwright::Message& out, ScalarType type) {
  return out << toString(type);
}
kernelwright::Message& append(kernelwright::Message& out, const Device& device) {
  return out << device.str();
}
kernelwright::Message& append(kernelwright::Message& out, DeviceType type) {
  return out << Device(type).str();
}

}  // namespace c10
