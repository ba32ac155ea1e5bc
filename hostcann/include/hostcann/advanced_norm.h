// SPDX-License-Identifier: Apache-2.0
// Normalisation of the rows of a matrix, and its gradients. All is computed in float and rounded
// once.
#ifndef HOSTCANN_ADVANCED_NORM_H
#define HOSTCANN_ADVANCED_NORM_H

#include <cstddef>
#include <cstdint>

#include "hostcann/advanced_call.h"
#include "hostcann/advanced_reduce.h"
#include "hostcann/shape_info.h"
#include "hostcann/tiling_structs.h"

namespace AscendC {

struct LayerNormConfig {
  bool isNoBeta = false;
  bool isNoGamma = false;
  bool isOnlyOutput = false;
  bool isOutputRstd = true;
};
inline constexpr LayerNormConfig LNCFG_NORM = {};
struct LayerNormPara {
  uint32_t aLength;
  uint32_t rLength;
  uint32_t rLengthWithPadding;
};
struct NormalizeConfig {
  ReducePattern reducePattern = ReducePattern::AR;
  int32_t aLength = -1;
  bool isNoBeta = false;
  bool isNoGamma = false;
  bool isOnlyOutput = false;
};
inline constexpr NormalizeConfig NLCFG_NORM = {};
struct NormalizePara {
  uint32_t aLength;
  uint32_t rLength;
  uint32_t rLengthWithPadding;
};
struct LayerNormGradShapeInfo {
  DataFormat dataFormat = DataFormat::ND;
};
struct WelfordUpdateConfig {
  bool isInplace = false;
};
inline constexpr WelfordUpdateConfig WFUPDATE_DEFAULT_CFG = {};
struct WelfordUpdateParam {
  uint32_t rnLength;
  uint32_t abLength;
  uint32_t abComputeLength;
  float nRec;
};
struct WelfordFinalizePara {
  uint32_t rnLength;
  uint32_t abLength;
  uint32_t headCount;
  uint32_t headCountLength;
  uint32_t tailCount;
  uint32_t tailCountLength;
  float abRec;
  float rRec;
  float rRecWithCorrection;
};

}  // namespace AscendC

namespace hostcann {

// Rows of `length` elements, of which `used` count.
struct NormRows {
  size_t count;
  size_t length;
  size_t used;

  size_t elements() const { return count * length; }
};

template <typename T, typename Tiling>
inline NormRows tiled_rows(const char* caller, const Tiling& tiling) {
  const NormRows rows{size_t{tiling.bLength} * tiling.sLength, tiling.hLength,
                      tiling.originalHLength != 0 ? tiling.originalHLength : tiling.hLength};
  require_rows(caller, rows.count, rows.length, rows.used, sizeof(T));
  return rows;
}

struct Moments {
  float mean;
  float variance;
};
template <typename At>
inline Moments moments(size_t count, At at) {
  const float mean = tree_sum<float>(0, count, at) / static_cast<float>(count);
  const auto square = [&](size_t i) { return (at(i) - mean) * (at(i) - mean); };
  return {mean, tree_sum<float>(0, count, square) / static_cast<float>(count)};
}
inline float inverse_deviation(float variance, float epsilon) {
  return 1.0f / __builtin_sqrtf(variance + epsilon);
}

}  // namespace hostcann

namespace AscendC {

// [B, S, H] by its last axis: what is left of the mean and the variance, times gamma, plus beta.
template <typename T, bool isReuseSource = false>
inline void LayerNorm(const LocalTensor<T>& output, const LocalTensor<T>& outputMean,
                      const LocalTensor<T>& outputVariance, const LocalTensor<T>& inputX,
                      const LocalTensor<T>& gamma, const LocalTensor<T>& beta,
                      const hostcann::Scratch& scratch, const T epsilon,
                      const LayerNormTiling& tiling, hostcann::CallSite = {}) {
  using namespace hostcann;
  HOSTCANN_TAKES(LayerNorm, half, float);
  const NormRows rows = tiled_rows<T>("LayerNorm", tiling);
  const T* const x = input("LayerNorm", "inputX", inputX, rows.elements());
  const T* const scale = input("LayerNorm", "gamma", gamma, rows.length);
  const T* const shift = input("LayerNorm", "beta", beta, rows.length);
  T* const means = hostcann::output("LayerNorm", "outputMean", outputMean, rows.count);
  T* const variances = hostcann::output("LayerNorm", "outputVariance", outputVariance, rows.count);
  T* const to = hostcann::output("LayerNorm", "output", output, rows.elements());
  for (size_t row = 0; row < rows.count; ++row) {
    const T* const from = x + row * rows.length;
    const Moments of = moments(rows.used, [&](size_t i) { return wide(from[i]); });
    const float factor = inverse_deviation(of.variance, wide(epsilon));
    means[row] = static_cast<T>(of.mean);
    variances[row] = static_cast<T>(of.variance);
    for (size_t i = 0; i < rows.length; ++i) {
      to[row * rows.length + i] =
          static_cast<T>((wide(from[i]) - of.mean) * factor * wide(scale[i]) + wide(shift[i]));
    }
  }
  scratch.use("LayerNorm", {{output, rows.elements()}, {inputX, rows.elements()}});
}
template <typename T, bool isReuseSource = false>
inline void LayerNorm(const LocalTensor<T>& output, const LocalTensor<T>& outputMean,
                      const LocalTensor<T>& outputVariance, const LocalTensor<T>& inputX,
                      const LocalTensor<T>& gamma, const LocalTensor<T>& beta, const T epsilon,
                      const LayerNormTiling& tiling, hostcann::CallSite site = {}) {
  LayerNorm<T>(output, outputMean, outputVariance, inputX, gamma, beta, hostcann::Scratch(),
               epsilon, tiling, site);
}

// [A, R] of which rLength elements count, with the mean and the inverse of the deviation.
template <typename U, typename T, bool isReuseSource = false,
          const LayerNormConfig& config = LNCFG_NORM>
inline void LayerNorm(const LocalTensor<T>& output, const LocalTensor<float>& outputMean,
                      const LocalTensor<float>& outputRstd, const LocalTensor<T>& inputX,
                      const LocalTensor<U>& gamma, const LocalTensor<U>& beta, const float epsilon,
                      const hostcann::Scratch& scratch, const LayerNormPara& para,
                      const LayerNormSeparateTiling&, hostcann::CallSite = {}) {
  using namespace hostcann;
  HOSTCANN_TAKES(LayerNorm, half, float);
  static_assert(kIsOneOf<U, half, float> && sizeof(U) >= sizeof(T),
                "LayerNorm of dav-2201 takes gamma and beta no narrower than inputX");
  static_assert(config.isOutputRstd && !config.isOnlyOutput,
                "LayerNorm of dav-2201 puts out the mean and the inverse of the deviation");
  const NormRows rows{para.aLength, para.rLengthWithPadding, para.rLength};
  require_rows("LayerNorm", rows.count, rows.length, rows.used, sizeof(T));
  const T* const x = input("LayerNorm", "inputX", inputX, rows.elements());
  const U* scale = nullptr;
  const U* shift = nullptr;
  if constexpr (!config.isNoGamma) scale = input("LayerNorm", "gamma", gamma, rows.used);
  if constexpr (!config.isNoBeta) shift = input("LayerNorm", "beta", beta, rows.used);
  float* const means = hostcann::output("LayerNorm", "outputMean", outputMean, rows.count);
  float* const factors = hostcann::output("LayerNorm", "outputRstd", outputRstd, rows.count);
  T* const to = hostcann::output("LayerNorm", "output", output, rows.elements());
  for (size_t row = 0; row < rows.count; ++row) {
    const T* const from = x + row * rows.length;
    const Moments of = moments(rows.used, [&](size_t i) { return wide(from[i]); });
    means[row] = of.mean;
    factors[row] = inverse_deviation(of.variance, epsilon);
    for (size_t i = 0; i < rows.used; ++i) {
      float value = (wide(from[i]) - of.mean) * factors[row];
      if constexpr (!config.isNoGamma) value *= wide(scale[i]);
      if constexpr (!config.isNoBeta) value += wide(shift[i]);
      to[row * rows.length + i] = static_cast<T>(value);
    }
  }
  scratch.use("LayerNorm", {{output, rows.elements()}, {inputX, rows.elements()}});
}
template <typename U, typename T, bool isReuseSource = false,
          const LayerNormConfig& config = LNCFG_NORM>
inline void LayerNorm(const LocalTensor<T>& output, const LocalTensor<float>& outputMean,
                      const LocalTensor<float>& outputRstd, const LocalTensor<T>& inputX,
                      const LocalTensor<U>& gamma, const LocalTensor<U>& beta, const float epsilon,
                      const LayerNormPara& para, const LayerNormSeparateTiling& tiling,
                      hostcann::CallSite site = {}) {
  LayerNorm<U, T, isReuseSource, config>(output, outputMean, outputRstd, inputX, gamma, beta,
                                         epsilon, hostcann::Scratch(), para, tiling, site);
}

// From means and variances that are known: what is left of them, times gamma, plus beta.
template <typename U, typename T, bool isReuseSource = false,
          const NormalizeConfig& config = NLCFG_NORM>
inline void Normalize(const LocalTensor<T>& output, const LocalTensor<float>& outputRstd,
                      const LocalTensor<float>& inputMean, const LocalTensor<float>& inputVariance,
                      const LocalTensor<T>& inputX, const LocalTensor<U>& gamma,
                      const LocalTensor<U>& beta, const hostcann::Scratch& scratch,
                      const float epsilon, const NormalizePara& para, hostcann::CallSite = {}) {
  using namespace hostcann;
  HOSTCANN_TAKES(Normalize, half, float);
  static_assert(kIsOneOf<U, half, float> && sizeof(U) >= sizeof(T),
                "Normalize of dav-2201 takes gamma and beta no narrower than inputX");
  const NormRows rows{para.aLength, para.rLengthWithPadding, para.rLength};
  require_rows("Normalize", rows.count, rows.length, rows.used, sizeof(T));
  const T* const x = input("Normalize", "inputX", inputX, rows.elements());
  const float* const means = input("Normalize", "inputMean", inputMean, rows.count);
  const float* const variances = input("Normalize", "inputVariance", inputVariance, rows.count);
  const U* scale = nullptr;
  const U* shift = nullptr;
  if constexpr (!config.isNoGamma) scale = input("Normalize", "gamma", gamma, rows.used);
  if constexpr (!config.isNoBeta) shift = input("Normalize", "beta", beta, rows.used);
  float* const factors = hostcann::output("Normalize", "outputRstd", outputRstd, rows.count);
  T* const to = hostcann::output("Normalize", "output", output, rows.elements());
  for (size_t row = 0; row < rows.count; ++row) {
    const float mean = means[row];
    const float factor = inverse_deviation(variances[row], epsilon);
    factors[row] = factor;
    for (size_t i = 0; i < rows.used; ++i) {
      float value = (wide(x[row * rows.length + i]) - mean) * factor;
      if constexpr (!config.isNoGamma) value *= wide(scale[i]);
      if constexpr (!config.isNoBeta) value += wide(shift[i]);
      to[row * rows.length + i] = static_cast<T>(value);
    }
  }
  scratch.use("Normalize", {{output, rows.elements()}, {inputX, rows.elements()}});
}
template <typename U, typename T, bool isReuseSource = false,
          const NormalizeConfig& config = NLCFG_NORM>
inline void Normalize(const LocalTensor<T>& output, const LocalTensor<float>& outputRstd,
                      const LocalTensor<float>& inputMean, const LocalTensor<float>& inputVariance,
                      const LocalTensor<T>& inputX, const LocalTensor<U>& gamma,
                      const LocalTensor<U>& beta, const float epsilon, const NormalizePara& para,
                      hostcann::CallSite site = {}) {
  Normalize<U, T, isReuseSource, config>(output, outputRstd, inputMean, inputVariance, inputX,
                                         gamma, beta, hostcann::Scratch(), epsilon, para, site);
}

// x / sqrt(mean of the squares + epsilon), times gamma.
template <typename T, bool isBasicBlock = false>
inline void RmsNorm(const LocalTensor<T>& dstLocal, const LocalTensor<T>& srcLocal,
                    const LocalTensor<T>& gammaLocal, const hostcann::Scratch& scratch,
                    const T epsilon, const RmsNormTiling& tiling, hostcann::CallSite = {}) {
  using namespace hostcann;
  HOSTCANN_TAKES(RmsNorm, half, float);
  const NormRows rows = tiled_rows<T>("RmsNorm", tiling);
  const T* const x = input("RmsNorm", "src", srcLocal, rows.elements());
  const T* const scale = input("RmsNorm", "gamma", gammaLocal, rows.length);
  T* const to = output("RmsNorm", "dst", dstLocal, rows.elements());
  for (size_t row = 0; row < rows.count; ++row) {
    const T* const from = x + row * rows.length;
    const auto square = [&](size_t i) { return wide(from[i]) * wide(from[i]); };
    const float mean = tree_sum<float>(0, rows.used, square) / static_cast<float>(rows.used);
    const float factor = inverse_deviation(mean, wide(epsilon));
    for (size_t i = 0; i < rows.length; ++i) {
      to[row * rows.length + i] = static_cast<T>(wide(from[i]) * factor * wide(scale[i]));
    }
  }
  scratch.use("RmsNorm", {{dstLocal, rows.elements()}, {srcLocal, rows.elements()}});
}
template <typename T, bool isBasicBlock = false>
inline void RmsNorm(const LocalTensor<T>& dstLocal, const LocalTensor<T>& srcLocal,
                    const LocalTensor<T>& gammaLocal, const T epsilon, const RmsNormTiling& tiling,
                    hostcann::CallSite site = {}) {
  RmsNorm<T>(dstLocal, srcLocal, gammaLocal, hostcann::Scratch(), epsilon, tiling, site);
}

// LayerNorm of alpha * src + gx. CANN calls rstd what holds the variance.
template <typename T, bool isReuseSrc = false, bool isBasicBlock = false>
inline void DeepNorm(const LocalTensor<T>& dstLocal, const LocalTensor<T>& meanLocal,
                     const LocalTensor<T>& rstdLocal, const LocalTensor<T>& srcLocal,
                     const LocalTensor<T>& gxLocal, const LocalTensor<T>& betaLocal,
                     const LocalTensor<T>& gammaLocal, const hostcann::Scratch& scratch,
                     const T alpha, const T epsilon, const DeepNormTiling& tiling,
                     hostcann::CallSite = {}) {
  using namespace hostcann;
  HOSTCANN_TAKES(DeepNorm, half, float);
  const NormRows rows = tiled_rows<T>("DeepNorm", tiling);
  const T* const x = input("DeepNorm", "src", srcLocal, rows.elements());
  const T* const more = input("DeepNorm", "gx", gxLocal, rows.elements());
  const T* const shift = input("DeepNorm", "beta", betaLocal, rows.length);
  const T* const scale = input("DeepNorm", "gamma", gammaLocal, rows.length);
  T* const means = output("DeepNorm", "mean", meanLocal, rows.count);
  T* const variances = output("DeepNorm", "rstd", rstdLocal, rows.count);
  T* const to = output("DeepNorm", "dst", dstLocal, rows.elements());
  for (size_t row = 0; row < rows.count; ++row) {
    const size_t begin = row * rows.length;
    const auto joined = [&](size_t i) {
      return wide(alpha) * wide(x[begin + i]) + wide(more[begin + i]);
    };
    const Moments of = moments(rows.used, joined);
    const float factor = inverse_deviation(of.variance, wide(epsilon));
    means[row] = static_cast<T>(of.mean);
    variances[row] = static_cast<T>(of.variance);
    for (size_t i = 0; i < rows.length; ++i) {
      to[begin + i] =
          static_cast<T>((joined(i) - of.mean) * factor * wide(scale[i]) + wide(shift[i]));
    }
  }
  scratch.use("DeepNorm", {{dstLocal, rows.elements()}, {srcLocal, rows.elements()}});
}
template <typename T, bool isReuseSrc = false, bool isBasicBlock = false>
inline void DeepNorm(const LocalTensor<T>& dstLocal, const LocalTensor<T>& meanLocal,
                     const LocalTensor<T>& rstdLocal, const LocalTensor<T>& srcLocal,
                     const LocalTensor<T>& gxLocal, const LocalTensor<T>& betaLocal,
                     const LocalTensor<T>& gammaLocal, const T alpha, const T epsilon,
                     const DeepNormTiling& tiling, hostcann::CallSite site = {}) {
  DeepNorm<T>(dstLocal, meanLocal, rstdLocal, srcLocal, gxLocal, betaLocal, gammaLocal,
              hostcann::Scratch(), alpha, epsilon, tiling, site);
}

// The gradient of LayerNorm by its input, and what LayerNormGradBeta makes gamma's of.
template <typename T, bool isReuseSource = false>
inline void LayerNormGrad(const LocalTensor<T>& outputPdX, const LocalTensor<T>& resForGamma,
                          const LocalTensor<T>& inputDy, const LocalTensor<T>& inputX,
                          const LocalTensor<T>& inputVariance, const LocalTensor<T>& inputMean,
                          const LocalTensor<T>& inputGamma, const hostcann::Scratch& scratch,
                          T epsilon, const LayerNormGradTiling& tiling,
                          const LayerNormGradShapeInfo& = {}, hostcann::CallSite = {}) {
  using namespace hostcann;
  HOSTCANN_TAKES(LayerNormGrad, half, float);
  const NormRows rows = tiled_rows<T>("LayerNormGrad", tiling);
  const T* const dy = input("LayerNormGrad", "inputDy", inputDy, rows.elements());
  const T* const x = input("LayerNormGrad", "inputX", inputX, rows.elements());
  const T* const variances = input("LayerNormGrad", "inputVariance", inputVariance, rows.count);
  const T* const means = input("LayerNormGrad", "inputMean", inputMean, rows.count);
  const T* const scale = input("LayerNormGrad", "inputGamma", inputGamma, rows.length);
  T* const dx = output("LayerNormGrad", "outputPdX", outputPdX, rows.elements());
  T* const normal = output("LayerNormGrad", "resForGamma", resForGamma, rows.elements());
  const float count = static_cast<float>(rows.length);
  for (size_t row = 0; row < rows.count; ++row) {
    const size_t begin = row * rows.length;
    const float mean = wide(means[row]);
    const float factor = inverse_deviation(wide(variances[row]), wide(epsilon));
    const auto centred = [&](size_t i) { return wide(x[begin + i]) - mean; };
    const auto scaled = [&](size_t i) { return wide(dy[begin + i]) * wide(scale[i]); };
    const auto product = [&](size_t i) { return scaled(i) * centred(i); };
    const float by_variance =
        -0.5f * tree_sum<float>(0, rows.length, product) * factor * factor * factor;
    const float by_mean = -tree_sum<float>(0, rows.length, scaled) * factor +
                          by_variance * -2.0f * tree_sum<float>(0, rows.length, centred) / count;
    for (size_t i = 0; i < rows.length; ++i) {
      const float gradient =
          scaled(i) * factor + by_variance * 2.0f * centred(i) / count + by_mean / count;
      const float of_gamma = centred(i) * factor;
      dx[begin + i] = static_cast<T>(gradient);
      normal[begin + i] = static_cast<T>(of_gamma);
    }
  }
  scratch.use("LayerNormGrad", {{outputPdX, rows.elements()}, {inputX, rows.elements()}});
}
template <typename T, bool isReuseSource = false>
inline void LayerNormGrad(const LocalTensor<T>& outputPdX, const LocalTensor<T>& resForGamma,
                          const LocalTensor<T>& inputDy, const LocalTensor<T>& inputX,
                          const LocalTensor<T>& inputVariance, const LocalTensor<T>& inputMean,
                          const LocalTensor<T>& inputGamma, T epsilon,
                          const LayerNormGradTiling& tiling,
                          const LayerNormGradShapeInfo& shapeInfo = {},
                          hostcann::CallSite site = {}) {
  LayerNormGrad<T>(outputPdX, resForGamma, inputDy, inputX, inputVariance, inputMean, inputGamma,
                   hostcann::Scratch(), epsilon, tiling, shapeInfo, site);
}

// Sums over the rows: of dy * resForGamma for gamma, of dy for beta.
template <typename T, bool isReuseSource = false>
inline void LayerNormGradBeta(const LocalTensor<T>& outputPdGamma,
                              const LocalTensor<T>& outputPdBeta, const LocalTensor<T>& resForGamma,
                              const LocalTensor<T>& inputDy, const hostcann::Scratch& scratch,
                              const LayerNormGradBetaTiling& tiling, hostcann::CallSite = {}) {
  using namespace hostcann;
  HOSTCANN_TAKES(LayerNormGradBeta, half, float);
  const NormRows rows = tiled_rows<T>("LayerNormGradBeta", tiling);
  const T* const normal = input("LayerNormGradBeta", "resForGamma", resForGamma, rows.elements());
  const T* const dy = input("LayerNormGradBeta", "inputDy", inputDy, rows.elements());
  T* const of_gamma = output("LayerNormGradBeta", "outputPdGamma", outputPdGamma, rows.length);
  T* const of_beta = output("LayerNormGradBeta", "outputPdBeta", outputPdBeta, rows.length);
  for (size_t i = 0; i < rows.length; ++i) {
    const auto gradient = [&](size_t row) { return wide(dy[row * rows.length + i]); };
    const auto product = [&](size_t row) {
      return gradient(row) * wide(normal[row * rows.length + i]);
    };
    of_gamma[i] = static_cast<T>(tree_sum<float>(0, rows.count, product));
    of_beta[i] = static_cast<T>(tree_sum<float>(0, rows.count, gradient));
  }
  scratch.use("LayerNormGradBeta", {{resForGamma, rows.elements()}, {inputDy, rows.elements()}});
}
template <typename T, bool isReuseSource = false>
inline void LayerNormGradBeta(const LocalTensor<T>& outputPdGamma,
                              const LocalTensor<T>& outputPdBeta, const LocalTensor<T>& resForGamma,
                              const LocalTensor<T>& inputDy, const LayerNormGradBetaTiling& tiling,
                              hostcann::CallSite site = {}) {
  LayerNormGradBeta<T>(outputPdGamma, outputPdBeta, resForGamma, inputDy, hostcann::Scratch(),
                       tiling, site);
}

// One more block of Welford's running mean and sum of squared deviations, element by element.
template <typename T, typename U, bool isReuseSource = false,
          const WelfordUpdateConfig& config = WFUPDATE_DEFAULT_CFG>
inline void WelfordUpdate(const LocalTensor<U>& outputMean, const LocalTensor<U>& outputVariance,
                          const LocalTensor<U>& inputMean, const LocalTensor<U>& inputVariance,
                          const LocalTensor<T>& inputX, const hostcann::Scratch& scratch,
                          const WelfordUpdateParam& para, hostcann::CallSite = {}) {
  using namespace hostcann;
  HOSTCANN_TAKES(WelfordUpdate, half, float);
  static_assert(std::is_same_v<U, float>,
                "WelfordUpdate of dav-2201 takes mean and variance in float");
  const size_t length = para.abLength;
  const size_t used = para.abComputeLength;
  if (para.rnLength != 1) {
    fault("WelfordUpdate: expected rnLength to be 1, got %u", para.rnLength);
  }
  require_rows("WelfordUpdate", 1, length, used, sizeof(T));
  const T* const x = input("WelfordUpdate", "inputX", inputX, used);
  const float* const means = input("WelfordUpdate", "inputMean", inputMean, length);
  const float* const squares = input("WelfordUpdate", "inputVariance", inputVariance, length);
  const size_t written = config.isInplace ? length : used;
  float* const new_means = output("WelfordUpdate", "outputMean", outputMean, written);
  float* const new_squares = output("WelfordUpdate", "outputVariance", outputVariance, written);
  for (size_t i = 0; i < written; ++i) {
    const float mean = means[i];
    const float step = i < used ? wide(x[i]) - mean : 0.0f;
    new_means[i] = mean + step * para.nRec;
    new_squares[i] = squares[i] + (i < used ? step * (wide(x[i]) - new_means[i]) : 0.0f);
  }
  scratch.use("WelfordUpdate", {{outputMean, written}, {inputX, used}});
}
template <typename T, typename U, bool isReuseSource = false,
          const WelfordUpdateConfig& config = WFUPDATE_DEFAULT_CFG>
inline void WelfordUpdate(const LocalTensor<U>& outputMean, const LocalTensor<U>& outputVariance,
                          const LocalTensor<U>& inputMean, const LocalTensor<U>& inputVariance,
                          const LocalTensor<T>& inputX, const WelfordUpdateParam& para,
                          hostcann::CallSite site = {}) {
  WelfordUpdate<T, U, isReuseSource, config>(outputMean, outputVariance, inputMean, inputVariance,
                                             inputX, hostcann::Scratch(), para, site);
}

}  // namespace AscendC

namespace hostcann {

// The mean and the variance of what element i stands for `count(i)` times.
template <typename Count>
inline void welford_finalize(const AscendC::LocalTensor<float>& output_mean,
                             const AscendC::LocalTensor<float>& output_variance,
                             const AscendC::LocalTensor<float>& input_mean,
                             const AscendC::LocalTensor<float>& input_variance,
                             const AscendC::WelfordFinalizePara& para, Count count) {
  require_rows("WelfordFinalize", 1, para.abLength, para.abLength, sizeof(float));
  const float* const means = input("WelfordFinalize", "inputMean", input_mean, para.abLength);
  const float* const squares =
      input("WelfordFinalize", "inputVariance", input_variance, para.abLength);
  const float mean =
      tree_sum<float>(0, para.abLength, [&](size_t i) { return means[i] * count(i); }) * para.rRec;
  const auto square = [&](size_t i) {
    return squares[i] + count(i) * (means[i] - mean) * (means[i] - mean);
  };
  const float variance = tree_sum<float>(0, para.abLength, square) * para.rRec;
  *output("WelfordFinalize", "outputMean", output_mean, 1) = mean;
  *output("WelfordFinalize", "outputVariance", output_variance, 1) = variance;
}

}  // namespace hostcann

namespace AscendC {

// Without counts every element stands for rnLength blocks, or for those of the head or the tail.
template <bool isReuseSource = false>
inline void WelfordFinalize(const LocalTensor<float>& outputMean,
                            const LocalTensor<float>& outputVariance,
                            const LocalTensor<float>& inputMean,
                            const LocalTensor<float>& inputVariance,
                            const hostcann::Scratch& scratch, const WelfordFinalizePara& para,
                            hostcann::CallSite = {}) {
  if (para.headCountLength + para.tailCountLength != para.abLength ||
      (para.tailCount == 0 && para.tailCountLength != 0)) {
    hostcann::fault(
        "WelfordFinalize: expected headCountLength + tailCountLength to be abLength and a count "
        "for "
        "the tail, got %u + %u for %u and %u",
        para.headCountLength, para.tailCountLength, para.abLength, para.tailCount);
  }
  hostcann::welford_finalize(
      outputMean, outputVariance, inputMean, inputVariance, para, [&](size_t i) {
        return static_cast<float>(i < para.headCountLength ? para.headCount : para.tailCount);
      });
  scratch.use("WelfordFinalize", {{inputMean, para.abLength}, {inputVariance, para.abLength}});
}
template <bool isReuseSource = false>
inline void WelfordFinalize(const LocalTensor<float>& outputMean,
                            const LocalTensor<float>& outputVariance,
                            const LocalTensor<float>& inputMean,
                            const LocalTensor<float>& inputVariance,
                            const WelfordFinalizePara& para, hostcann::CallSite site = {}) {
  WelfordFinalize(outputMean, outputVariance, inputMean, inputVariance, hostcann::Scratch(), para,
                  site);
}
template <bool isReuseSource = false>
inline void WelfordFinalize(const LocalTensor<float>& outputMean,
                            const LocalTensor<float>& outputVariance,
                            const LocalTensor<float>& inputMean,
                            const LocalTensor<float>& inputVariance,
                            const LocalTensor<int32_t>& counts, const hostcann::Scratch& scratch,
                            const WelfordFinalizePara& para, hostcann::CallSite = {}) {
  const int32_t* const of = hostcann::input("WelfordFinalize", "counts", counts, para.abLength);
  hostcann::welford_finalize(outputMean, outputVariance, inputMean, inputVariance, para,
                             [&](size_t i) { return static_cast<float>(of[i]); });
  scratch.use("WelfordFinalize", {{inputMean, para.abLength}, {inputVariance, para.abLength}});
}
template <bool isReuseSource = false>
inline void WelfordFinalize(const LocalTensor<float>& outputMean,
                            const LocalTensor<float>& outputVariance,
                            const LocalTensor<float>& inputMean,
                            const LocalTensor<float>& inputVariance,
                            const LocalTensor<int32_t>& counts, const WelfordFinalizePara& para,
                            hostcann::CallSite site = {}) {
  WelfordFinalize(outputMean, outputVariance, inputMean, inputVariance, counts, hostcann::Scratch(),
                  para, site);
}

}  // namespace AscendC

#endif  // HOSTCANN_ADVANCED_NORM_H
