// SPDX-License-Identifier: Apache-2.0
// Tiling data as an operator's host side declares it, field by field, and hands it to the kernel as
// the bytes of a plain struct with the same fields.
#ifndef HOSTCANN_TILING_DATA_H
#define HOSTCANN_TILING_DATA_H

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace optiling {

class TilingDef {
 public:
  virtual ~TilingDef() = default;

  // Throws std::length_error where CANN would write beyond the buffer or leave it as it was.
  void SaveToBuffer(void* buffer, size_t capacity) const {
    if (capacity < GetDataSize()) {
      throw std::length_error("SaveToBuffer: expected a buffer of at least " +
                              std::to_string(GetDataSize()) + " bytes, got " +
                              std::to_string(capacity));
    }
    uint8_t* const to = static_cast<uint8_t*>(buffer);
    std::memset(to, 0, GetDataSize());
    for (const Field& field : fields_) {
      const uint8_t* const from = reinterpret_cast<const uint8_t*>(this) + field.member;
      if (field.nested) {
        const TilingDef* inner = reinterpret_cast<const TilingDef*>(from);
        inner->SaveToBuffer(to + field.offset, field.bytes);
      } else {
        std::memcpy(to + field.offset, from, field.bytes);
      }
    }
  }
  // Whole eights, as the kernel copies it in words.
  size_t GetDataSize() const { return aligned(end_, widest_); }

 protected:
  // One member of the class that inherits: where it is there, and what it takes in the buffer.
  struct Field {
    template <typename T>
    Field(TilingDef& owner, const T& value) : bytes(sizeof(T)) {
      add(owner, &value, alignof(std::remove_all_extents_t<T>));
    }
    Field(TilingDef& owner, const TilingDef& value) : bytes(value.GetDataSize()), nested(true) {
      add(owner, &value, value.widest_);
    }

    size_t member = 0;
    size_t offset = 0;
    size_t bytes;
    bool nested = false;

   private:
    void add(TilingDef& owner, const void* value, size_t alignment) {
      member = static_cast<const uint8_t*>(value) - reinterpret_cast<const uint8_t*>(&owner);
      offset = aligned(owner.end_, alignment);
      owner.end_ = offset + bytes;
      if (alignment > owner.widest_) owner.widest_ = alignment;
      owner.fields_.push_back(*this);
    }
  };

 private:
  static size_t aligned(size_t bytes, size_t to) { return (bytes + to - 1) / to * to; }

  std::vector<Field> fields_;
  size_t end_ = 0;
  size_t widest_ = 1;
};

}  // namespace optiling

#define BEGIN_TILING_DATA_DEF(class_name) class class_name : public ::optiling::TilingDef {
#define TILING_DATA_FIELD_DEF(data_type, field_name)                \
 public:                                                            \
  void set_##field_name(data_type value) { field_name##_ = value; } \
  data_type get_##field_name() const { return field_name##_; }      \
                                                                    \
 private:                                                           \
  static_assert(std::is_arithmetic_v<data_type>, #field_name);      \
  data_type field_name##_ = 0;                                      \
  Field field_name##_field_ { *this, field_name##_ }
#define TILING_DATA_FIELD_DEF_ARR(arr_type, arr_size, field_name) \
 public:                                                          \
  void set_##field_name(const arr_type* values) {                 \
    std::memcpy(field_name##_, values, sizeof(field_name##_));    \
  }                                                               \
  arr_type* get_##field_name() { return field_name##_; }          \
                                                                  \
 private:                                                         \
  arr_type field_name##_[arr_size] = {};                          \
  Field field_name##_field_ { *this, field_name##_ }
#define TILING_DATA_FIELD_DEF_STRUCT(struct_type, field_name) \
 public:                                                      \
  struct_type field_name;                                     \
                                                              \
 private:                                                     \
  Field field_name##_field_ { *this, static_cast<const ::optiling::TilingDef&>(field_name) }
#define END_TILING_DATA_DEF }

// Finds a class by its operator's name in CANN's framework; here nothing looks for one.
#define REGISTER_TILING_DATA_CLASS(op_type, class_name) \
  static_assert(std::is_base_of_v<::optiling::TilingDef, class_name>, #op_type);

#endif  // HOSTCANN_TILING_DATA_H
