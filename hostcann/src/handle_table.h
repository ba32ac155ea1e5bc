// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <vector>

namespace hostcann {

// Handles are not addresses: a slot number and its generation behind a tag that makes them
// non-canonical. A stale, foreign or dereferenced handle is therefore always noticed.
template <typename T>
class HandleTable {
 public:
  explicit HandleTable(char tag) : tag_(static_cast<uint64_t>(tag) << 56) {}

  void* insert(std::shared_ptr<T> object) {
    std::unique_lock lock(mutex_);
    uint32_t index;
    if (free_.empty()) {
      index = static_cast<uint32_t>(slots_.size());
      slots_.emplace_back();
    } else {
      index = free_.back();
      free_.pop_back();
    }
    Slot& slot = slots_[index];
    slot.object = std::move(object);
    return reinterpret_cast<void*>(tag_ | (uint64_t{slot.generation} << 24) | index);
  }

  std::shared_ptr<T> find(const void* handle) const {
    std::shared_lock lock(mutex_);
    const Slot* slot = slot_of(handle);
    return slot == nullptr ? nullptr : slot->object;
  }

  std::shared_ptr<T> remove(const void* handle) {
    std::unique_lock lock(mutex_);
    Slot* slot = const_cast<Slot*>(slot_of(handle));
    if (slot == nullptr) return nullptr;
    ++slot->generation;
    free_.push_back(static_cast<uint32_t>(slot - slots_.data()));
    return std::move(slot->object);
  }

  template <typename Predicate>
  void remove_if(Predicate matches) {
    std::vector<std::shared_ptr<T>> removed;  // destroyed after the lock is gone
    std::unique_lock lock(mutex_);
    for (Slot& slot : slots_) {
      if (slot.object == nullptr || !matches(*slot.object)) continue;
      ++slot.generation;
      free_.push_back(static_cast<uint32_t>(&slot - slots_.data()));
      removed.push_back(std::move(slot.object));
      slot.object = nullptr;
    }
    lock.unlock();
  }

  std::vector<std::shared_ptr<T>> all() const {
    std::shared_lock lock(mutex_);
    std::vector<std::shared_ptr<T>> found;
    for (const Slot& slot : slots_) {
      if (slot.object != nullptr) found.push_back(slot.object);
    }
    return found;
  }

 private:
  struct Slot {
    std::shared_ptr<T> object;
    uint32_t generation = 1;
  };

  const Slot* slot_of(const void* handle) const {
    const auto bits = reinterpret_cast<uint64_t>(handle);
    const uint64_t index = bits & 0xffffff;
    if ((bits >> 56 << 56) != tag_ || index >= slots_.size()) return nullptr;
    const Slot& slot = slots_[index];
    if (slot.object == nullptr || slot.generation != static_cast<uint32_t>(bits >> 24)) {
      return nullptr;
    }
    return &slot;
  }

  const uint64_t tag_;
  mutable std::shared_mutex mutex_;
  std::vector<Slot> slots_;
  std::vector<uint32_t> free_;
};

}  // namespace hostcann
