// SPDX-License-Identifier: Apache-2.0
// Recurrent layers and their gradients, step by step.
#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/tanh.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include "call.h"

namespace hostcann::opapi {
static constexpr char kFamily[] = "recurrent";
static constexpr Halves kHalves = Halves::as_they_are;

static Tensor time_first(In sequence, bool batch_first) {
  return batch_first ? sequence.transpose(0, 1) : sequence;
}

// The layers of a network: pass number `layer * directions + direction`, each with its weights.
struct Network {
  Tensors parameters;
  bool biases;
  int64_t layers;
  int64_t directions;

  size_t per_pass() const { return biases ? 4 : 2; }
  void check(Maybe batch_sizes, double dropout, bool train) const {
    TORCH_CHECK(!batch_sizes.has_value() || !batch_sizes->defined() || batch_sizes->numel() == 0,
                "batch_sizes: expected none, got packed sequences");
    TORCH_CHECK(!train || dropout == 0.0 || layers == 1, "dropout between layers: expected 0, got ",
                dropout);
    const size_t expected = static_cast<size_t>(layers * directions) * per_pass();
    TORCH_CHECK(parameters.size() == expected, "params: expected ", expected, " tensors, got ",
                parameters.size());
  }
};

struct Weights {
  Weights(const Network& network, int64_t pass) {
    const Tensor* first = &network.parameters[static_cast<size_t>(pass) * network.per_pass()];
    input = first[0];
    hidden = first[1];
    if (network.biases) {
      input_bias = first[2];
      hidden_bias = first[3];
    }
  }
  Tensor input, hidden;
  std::optional<Tensor> input_bias, hidden_bias;
};

// Calls step(time) in the order of a direction, or backwards.
template <class Step>
static void walk(int64_t steps, bool reverse, const Step& step) {
  for (int64_t i = 0; i < steps; ++i) step(reverse ? steps - 1 - i : i);
}

// Runs every pass over the sequence: run(pass, reverse, input, output) fills its half of a layer.
template <class Run>
static Tensor forward(const Network& network, In input, int64_t hidden, const Run& run) {
  Tensor sequence = input;
  for (int64_t layer = 0; layer < network.layers; ++layer) {
    Tensor output = at::empty({sequence.size(0), sequence.size(1), network.directions * hidden},
                              sequence.options());
    for (int64_t d = 0; d < network.directions; ++d) {
      run(layer * network.directions + d, d == 1, sequence, output.narrow(2, d * hidden, hidden));
    }
    sequence = output;
  }
  return sequence;
}

// What a pass's gates got: on the side of the input and on that of the hidden state.
struct GateGrads {
  Tensor input, hidden;
};

// Walks the layers back. back(pass, reverse, grad of the output, previous states) gives the
// gradients of all gates, over time.
template <class Back>
static Tensor backward(const Network& network, In input, In initial, Tensors states, In grad,
                       OutTensors grad_parameters, const Back& back) {
  Tensor grad_output = grad;
  for (int64_t layer = network.layers; layer-- > 0;) {
    const int64_t first = layer * network.directions;
    const Tensor below =
        layer == 0 ? input
                   : at::cat(std::vector<Tensor>(states.begin() + first - network.directions,
                                                 states.begin() + first),
                             2);
    Tensor grad_below = at::zeros_like(below);
    for (int64_t d = 0; d < network.directions; ++d) {
      const int64_t pass = first + d;
      const Tensor& state = states[static_cast<size_t>(pass)];
      const int64_t steps = state.size(0), hidden = state.size(2);
      const Tensor start = initial.select(0, pass).unsqueeze(0);
      const Tensor before = d == 0 ? at::cat({start, state.narrow(0, 0, steps - 1)})
                                   : at::cat({state.narrow(0, 1, steps - 1), start});
      const GateGrads gates = back(pass, d == 1, grad_output.narrow(2, d * hidden, hidden), before);
      const Weights weights(network, pass);
      Tensor* target = &grad_parameters[static_cast<size_t>(pass) * network.per_pass()];
      const Tensor flat_input = gates.input.flatten(0, 1), flat_hidden = gates.hidden.flatten(0, 1);
      assign(target[0], at::matmul(flat_input.t(), below.flatten(0, 1)));
      assign(target[1], at::matmul(flat_hidden.t(), before.flatten(0, 1)));
      if (network.biases) {
        assign(target[2], flat_input.sum(0));
        assign(target[3], flat_hidden.sum(0));
      }
      grad_below += at::matmul(gates.input, weights.input);
    }
    grad_output = grad_below;
  }
  return grad_output;
}

static Tensor given_or_zero(Maybe grad, int64_t pass, In like) {
  return grad.has_value() && grad->defined() ? grad->select(0, pass) : at::zeros_like(like);
}

static constexpr auto kComputable =
    [](In, Tensors parameters, const auto& /* initial */, Maybe batch_sizes, bool biases,
       int64_t layers, double dropout, bool train, bool bidirectional, const auto&...) {
      Network{parameters, biases, layers, bidirectional ? 2 : 1}.check(batch_sizes, dropout, train);
    };

HOSTCANN_ACLNN_CHECKED(LSTM,
                       (In input, Tensors parameters, Tensors initial, Maybe, bool biases,
                        int64_t layers, double, bool train, bool bidirectional, bool batch_first,
                        Out output, Out last_h, Out last_c, OutTensors is, OutTensors js,
                        OutTensors fs, OutTensors os, OutTensors hs, OutTensors cs,
                        OutTensors tanhs),
                       kComputable) {
  const Network network{parameters, biases, layers, bidirectional ? 2 : 1};
  const auto run = [&](int64_t pass, bool reverse, In sequence, const Tensor& target) {
    const Weights weights(network, pass);
    const auto at_pass = [pass](OutTensors list) { return list[static_cast<size_t>(pass)]; };
    const Tensor from_input = at::linear(sequence, weights.input, weights.input_bias);
    Tensor h = initial[0].select(0, pass), c = initial[1].select(0, pass);
    walk(sequence.size(0), reverse, [&](int64_t t) {
      const std::vector<Tensor> gates =
          (from_input[t] + at::linear(h, weights.hidden, weights.hidden_bias)).chunk(4, 1);
      const Tensor i = at::sigmoid(gates[0]), f = at::sigmoid(gates[1]);
      const Tensor j = at::tanh(gates[2]), o = at::sigmoid(gates[3]);
      c = f * c + i * j;
      const Tensor tanh = at::tanh(c);
      h = o * tanh;
      target[t].copy_(h);
      if (!train) return;
      at_pass(hs)[t].copy_(h);
      at_pass(cs)[t].copy_(c);
      at_pass(is)[t].copy_(i);
      at_pass(js)[t].copy_(j);
      at_pass(fs)[t].copy_(f);
      at_pass(os)[t].copy_(o);
      at_pass(tanhs)[t].copy_(tanh);
    });
    last_h.select(0, pass).copy_(h);
    last_c.select(0, pass).copy_(c);
  };
  const Tensor sequence = time_first(input, batch_first);
  Tensor target = time_first(output, batch_first);
  assign(target, forward(network, sequence, initial[0].size(2), run));
}

HOSTCANN_ACLNN(LstmBackward,
               (In input, Tensors initial, Tensors parameters, Maybe grad, Maybe grad_h,
                Maybe grad_c, Tensors is, Tensors js, Tensors fs, Tensors os, Tensors hs,
                Tensors cs, Tensors tanhs, Maybe batch_sizes, bool biases, int64_t layers,
                double dropout, bool train, bool bidirectional, bool batch_first, Maybe,
                Out grad_input, Out grad_first_h, Out grad_first_c, OutTensors grad_parameters)) {
  const Network network{parameters, biases, layers, bidirectional ? 2 : 1};
  network.check(batch_sizes, dropout, train);
  const Tensor sequence = time_first(input, batch_first);
  const auto back = [&](int64_t pass, bool reverse, In grad_output, In) {
    const auto of = [pass](Tensors list) { return list[static_cast<size_t>(pass)]; };
    const Tensor i = of(is), j = of(js), f = of(fs), o = of(os), c = of(cs), tanh = of(tanhs);
    const Tensor start = initial[1].select(0, pass);
    Tensor dh = given_or_zero(grad_h, pass, start), dc = given_or_zero(grad_c, pass, start);
    const int64_t steps = c.size(0);
    Tensor gates = at::empty({steps, c.size(1), 4 * c.size(2)}, c.options());
    walk(steps, !reverse, [&](int64_t t) {
      const int64_t earlier = reverse ? t + 1 : t - 1;
      const Tensor before = earlier < 0 || earlier == steps ? start : c[earlier];
      dh = dh + grad_output[t];
      dc = dc + dh * o[t] * (1 - tanh[t].square());
      const Tensor parts[] = {dc * j[t] * i[t] * (1 - i[t]), dc * before * f[t] * (1 - f[t]),
                              dc * i[t] * (1 - j[t].square()), dh * tanh[t] * o[t] * (1 - o[t])};
      gates[t].copy_(at::cat(at::TensorList(parts), 1));
      dc = dc * f[t];
      dh = at::matmul(gates[t], Weights(network, pass).hidden);
    });
    grad_first_h.select(0, pass).copy_(dh);
    grad_first_c.select(0, pass).copy_(dc);
    return GateGrads{gates, gates};
  };
  const int64_t width = network.directions * hs[0].size(2);
  const Tensor grad_output =
      grad.has_value() && grad->defined()
          ? time_first(*grad, batch_first)
          : at::zeros({sequence.size(0), sequence.size(1), width}, sequence.options());
  Tensor target = time_first(grad_input, batch_first);
  assign(target, backward(network, sequence, initial[0], hs, grad_output, grad_parameters, back));
}

HOSTCANN_ACLNN_CHECKED(GRU,
                       (In input, Tensors parameters, In initial, Maybe, bool biases,
                        int64_t layers, double, bool train, bool bidirectional, bool batch_first,
                        Out output, Out last_h, OutTensors rs, OutTensors zs, OutTensors ns,
                        OutTensors hidden_ns, OutTensors hs),
                       kComputable) {
  const Network network{parameters, biases, layers, bidirectional ? 2 : 1};
  const auto run = [&](int64_t pass, bool reverse, In sequence, const Tensor& target) {
    const Weights weights(network, pass);
    const auto at_pass = [pass](OutTensors list) { return list[static_cast<size_t>(pass)]; };
    const Tensor from_input = at::linear(sequence, weights.input, weights.input_bias);
    Tensor h = initial.select(0, pass);
    walk(sequence.size(0), reverse, [&](int64_t t) {
      const std::vector<Tensor> in = from_input[t].chunk(3, 1);
      const std::vector<Tensor> own =
          at::linear(h, weights.hidden, weights.hidden_bias).chunk(3, 1);
      const Tensor r = at::sigmoid(in[0] + own[0]), z = at::sigmoid(in[1] + own[1]);
      const Tensor n = at::tanh(in[2] + r * own[2]);
      h = (h - n) * z + n;
      target[t].copy_(h);
      if (!train) return;
      at_pass(rs)[t].copy_(r);
      at_pass(zs)[t].copy_(z);
      at_pass(ns)[t].copy_(n);
      at_pass(hidden_ns)[t].copy_(own[2]);
      at_pass(hs)[t].copy_(h);
    });
    last_h.select(0, pass).copy_(h);
  };
  const Tensor sequence = time_first(input, batch_first);
  Tensor target = time_first(output, batch_first);
  assign(target, forward(network, sequence, initial.size(2), run));
}

HOSTCANN_ACLNN(GRUBackward,
               (In input, Tensors parameters, In initial, In grad, In grad_h, Tensors rs,
                Tensors zs, Tensors ns, Tensors hidden_ns, Tensors hs, Maybe batch_sizes,
                bool biases, int64_t layers, bool bidirectional, bool batch_first, Out grad_input,
                Out grad_first, OutTensors grad_parameters)) {
  const Network network{parameters, biases, layers, bidirectional ? 2 : 1};
  network.check(batch_sizes, 0.0, true);
  const auto back = [&](int64_t pass, bool reverse, In grad_output, In before) {
    const auto of = [pass](Tensors list) { return list[static_cast<size_t>(pass)]; };
    const Tensor r = of(rs), z = of(zs), n = of(ns), own = of(hidden_ns);
    Tensor dh = grad_h.select(0, pass);
    Tensor from_input = at::empty({r.size(0), r.size(1), 3 * r.size(2)}, r.options());
    Tensor from_hidden = at::empty_like(from_input);
    walk(r.size(0), !reverse, [&](int64_t t) {
      dh = dh + grad_output[t];
      const Tensor dn = dh * (1 - z[t]) * (1 - n[t].square());
      const Tensor dz = dh * (before[t] - n[t]) * z[t] * (1 - z[t]);
      const Tensor dr = dn * own[t] * r[t] * (1 - r[t]);
      from_input[t].copy_(at::cat({dr, dz, dn}, 1));
      from_hidden[t].copy_(at::cat({dr, dz, dn * r[t]}, 1));
      dh = dh * z[t] + at::matmul(from_hidden[t], Weights(network, pass).hidden);
    });
    grad_first.select(0, pass).copy_(dh);
    return GateGrads{from_input, from_hidden};
  };
  const Tensor sequence = time_first(input, batch_first);
  Tensor target = time_first(grad_input, batch_first);
  assign(target, backward(network, sequence, initial, hs, time_first(grad, batch_first),
                          grad_parameters, back));
}

// The workspace holds the gates: input, forget, cell, output.
HOSTCANN_ACLNN(ThnnFusedLstmCell, (In from_input, In from_hidden, In c, Maybe input_bias,
                                   Maybe hidden_bias, Out next_h, Out next_c, Out workspace)) {
  Tensor sum = from_input + from_hidden;
  for (Maybe bias : {std::cref(input_bias), std::cref(hidden_bias)}) {
    if (bias.has_value() && bias->defined()) sum += *bias;
  }
  std::vector<Tensor> gates = sum.chunk(4, 1);
  for (size_t k = 0; k < 4; ++k) k == 2 ? gates[k].tanh_() : gates[k].sigmoid_();
  assign(workspace, sum);
  assign(next_c, gates[1] * c + gates[0] * gates[2]);
  assign(next_h, gates[3] * at::tanh(next_c));
}
HOSTCANN_ACLNN(ThnnFusedLstmCellBackward,
               (Maybe grad_h, Maybe grad_c, In c, In next_c, In workspace, bool has_bias,
                Out grad_gates, Out grad_previous, Out grad_bias)) {
  const std::vector<Tensor> gates = workspace.chunk(4, 1);
  const Tensor &i = gates[0], &f = gates[1], &j = gates[2], &o = gates[3];
  const auto given = [&c](Maybe grad) {
    return grad.has_value() && grad->defined() ? *grad : at::zeros_like(c);
  };
  const Tensor tanh = at::tanh(next_c), dh = given(grad_h);
  const Tensor dc = given(grad_c) + dh * o * (1 - tanh.square());
  assign(grad_gates, at::cat({dc * j * i * (1 - i), dc * c * f * (1 - f), dc * i * (1 - j.square()),
                              dh * tanh * o * (1 - o)},
                             1));
  assign(grad_previous, dc * f);
  if (has_bias) assign(grad_bias, grad_gates.sum(0));
}

}  // namespace hostcann::opapi
