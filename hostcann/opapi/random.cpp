// SPDX-License-Identifier: Apache-2.0
// Random numbers. A call's numbers follow from its seed and offset alone; they are torch's CPU
// numbers for some other seed, not the device's.
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/bernoulli.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/multinomial.h>
#include <ATen/ops/normal.h>
#include <ATen/ops/random.h>
#include <ATen/ops/randperm.h>
#include <ATen/ops/uniform.h>
#include <ATen/ops/zeros.h>

#include "call.h"

namespace hostcann::opapi {
static constexpr char kFamily[] = "random";
static constexpr Halves kHalves = Halves::as_they_are;

// Neighbouring seeds and offsets must give unrelated numbers, and torch's CPU generator only
// uses the low 32 bits of its seed: both go through the finaliser of SplitMix64.
static at::Generator generator(int64_t seed, int64_t offset) {
  const auto mixed = [](uint64_t x) {
    x += 0x9e3779b97f4a7c15U;
    x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31U);
  };
  return at::detail::createCPUGenerator(
      mixed(mixed(static_cast<uint64_t>(seed)) + static_cast<uint64_t>(offset)));
}

static void expect_range(Out, double from, double to, uint64_t, uint64_t) {
  TORCH_CHECK(from <= to, "from: expected at most to, ", to, ", got ", from);
}
HOSTCANN_ACLNN_CHECKED(InplaceUniform,
                       (Out self, double from, double to, uint64_t seed, uint64_t offset),
                       expect_range) {
  self.uniform_(from, to, generator(static_cast<int64_t>(seed), static_cast<int64_t>(offset)));
}
HOSTCANN_ACLNN(InplaceNormal, (Out self, float mean, float std, int64_t seed, int64_t offset)) {
  self.normal_(mean, std, generator(seed, offset));
}
HOSTCANN_ACLNN(NormalFloatFloat, (float mean, float std, int64_t seed, int64_t offset, Out out)) {
  out.normal_(mean, std, generator(seed, offset));
}
HOSTCANN_ACLNN(NormalFloatTensor, (float mean, In std, int64_t seed, int64_t offset, Out out)) {
  assign(out, at::normal(mean, std, generator(seed, offset)));
}
HOSTCANN_ACLNN(NormalTensorFloat, (In mean, float std, int64_t seed, int64_t offset, Out out)) {
  assign(out, at::normal(mean, std, generator(seed, offset)));
}
HOSTCANN_ACLNN(NormalTensorTensor, (In mean, In std, int64_t seed, int64_t offset, Out out)) {
  assign(out, at::normal(mean, std, generator(seed, offset)));
}
HOSTCANN_ACLNN(InplaceRandom, (Out self, int64_t from, int64_t to, int64_t seed, int64_t offset)) {
  self.random_(from, to, generator(seed, offset));
}
HOSTCANN_ACLNN(InplaceRandomWithoutFromTo, (Out self, int64_t seed, int64_t offset)) {
  self.random_(generator(seed, offset));
}
HOSTCANN_ACLNN(Randperm, (int64_t n, int64_t seed, int64_t offset, Out out)) {
  at::randperm_out(out, n, generator(seed, offset));
}
static void expect_probability(Out, Number probability, int64_t, int64_t) {
  const double p = probability.toDouble();
  TORCH_CHECK(p >= 0 && p <= 1, "prob: expected 0 to 1, got ", p);
}
HOSTCANN_ACLNN_CHECKED(InplaceBernoulli,
                       (Out self, Number probability, int64_t seed, int64_t offset),
                       expect_probability) {
  self.bernoulli_(probability.toDouble(), generator(seed, offset));
}
HOSTCANN_ACLNN(InplaceBernoulliTensor, (Out self, In probability, int64_t seed, int64_t offset)) {
  self.bernoulli_(probability, generator(seed, offset));
}
static void expect_samples(In self, int64_t samples, bool replacement, int64_t, int64_t, Out) {
  TORCH_CHECK(replacement || samples <= self.size(-1), "numsamples: expected at most ",
              self.size(-1), ", the number of categories, got ", samples);
}
HOSTCANN_ACLNN_CHECKED(Multinomial,
                       (In self, int64_t samples, bool replacement, int64_t seed, int64_t offset,
                        Out out),
                       expect_samples) {
  assign(out, at::multinomial(self, samples, replacement, generator(seed, offset)));
}

// A mask holds one bit per element, eight to a byte, least significant first.
static void fill_mask(Out mask, double drop, int64_t seed, int64_t offset) {
  const Tensor bits = at::zeros({mask.numel() * 8}, ScalarType::Byte);
  bits.bernoulli_(1.0 - drop, generator(seed, offset));
  const uint8_t* bit = bits.const_data_ptr<uint8_t>();
  auto* bytes = static_cast<uint8_t*>(mask.mutable_data_ptr());
  TORCH_CHECK(mask.is_contiguous() && mask.element_size() == 1,
              "mask: expected contiguous bytes, got ", mask.scalar_type());
  for (int64_t i = 0; i < mask.numel(); ++i, bit += 8) {
    unsigned byte = 0;
    for (unsigned b = 0; b < 8; ++b) byte |= static_cast<unsigned>(bit[b] != 0) << b;
    bytes[i] = static_cast<uint8_t>(byte);
  }
}
HOSTCANN_ACLNN(DropoutGenMask, (Ints, double drop, int64_t seed, int64_t offset, Out mask)) {
  fill_mask(mask, drop, seed, offset);
}
HOSTCANN_ACLNN(DropoutGenMaskV2,
               (Ints, double drop, int64_t seed, int64_t offset, ScalarType, Out mask)) {
  fill_mask(mask, drop, seed, offset);
}
Tensor mask_bits(In mask, int64_t count) {
  TORCH_CHECK(mask.is_contiguous() && mask.numel() * 8 >= count, "mask: expected at least ", count,
              " bits, got ", mask.numel() * 8);
  Tensor bits = at::empty({count}, ScalarType::Bool);
  const auto* bytes = static_cast<const uint8_t*>(mask.const_data_ptr());
  bool* bit = bits.mutable_data_ptr<bool>();
  for (int64_t i = 0; i < count; ++i) {
    bit[i] = ((static_cast<unsigned>(bytes[i / 8]) >> static_cast<unsigned>(i % 8)) & 1U) != 0;
  }
  return bits;
}
HOSTCANN_ACLNN(DropoutDoMask, (In self, In mask, double drop, Out out)) {
  const Tensor kept = at::empty({self.numel()}, self.options());
  const double scale = drop == 1.0 ? 0.0 : 1.0 / (1.0 - drop);
  // As torch.dropout on a CPU: the mask is scaled first, in the input's type.
  kept.copy_(mask_bits(mask, self.numel())).mul_(scale);
  at::mul_out(out, self, kept.view(self.sizes()));
}

}  // namespace hostcann::opapi
