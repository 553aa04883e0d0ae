"""The bound of what rounding may do to a PyTorch computation, against the definition and against float32."""

import pytest

torch = pytest.importorskip("torch")
condition = pytest.importorskip("attnspec.parity.condition")


def tensor(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).double()


def test_one_product_is_off_by_its_own_rounding():
    x = tensor(3).requires_grad_()
    (error,) = condition.rounding_errors(lambda: [x * 2.5])
    assert torch.equal(error, (x * 2.5).abs())


def test_errors_pass_through_what_follows():
    x = tensor(3).requires_grad_()
    (error,) = condition.rounding_errors(lambda: [(x * 2.5) * 4])
    assert torch.allclose(error, 2 * (x * 10).abs(), rtol=1e-15)


def test_an_error_that_cancels_is_counted_once_a_step():
    """y − y is exactly 0 whatever y is off by; only the difference's own rounding is left, and that is of 0."""
    x = tensor(3).requires_grad_()

    def compute():
        y = x * 2.5
        return [y - y]

    (error,) = condition.rounding_errors(compute)
    assert torch.equal(error, torch.zeros(3))


def test_a_sum_of_products_is_off_by_the_sizes_of_its_terms():
    a, b = tensor(2, 5).requires_grad_(), tensor(5, 3, seed=1)
    (error,) = condition.rounding_errors(lambda: [a @ b])
    assert torch.allclose(error, 1.01 * (5 + 4) * (a.abs() @ b.abs()), rtol=1e-14)


def test_an_operation_without_a_rule_stops_it():
    x = tensor(3).requires_grad_()
    with pytest.raises(ValueError, match=r"an operation that has a rule.*came sinh"):
        condition.rounding_errors(lambda: [torch.sinh(x)])


def test_several_results_are_not_taken_for_exact():
    x = tensor(4).requires_grad_()
    with pytest.raises(ValueError, match=r"came var_mean"):
        condition.rounding_errors(lambda: [torch.var_mean(x)[0]])


def operations():
    F, weight, bias = torch.nn.functional, tensor(6, 6, seed=3), tensor(6, seed=4)
    return {
        "linear": lambda x: F.linear(x, weight.to(x), bias.to(x)),
        "softmax": lambda x: F.softmax(x * 5, dim=-1),
        "layer_norm": lambda x: F.layer_norm(x + 3, (6,), bias.to(x), bias.to(x), 1e-12),
        "gelu": lambda x: F.gelu(x * 3),
        "tanh": lambda x: torch.tanh(x),
        "attention": lambda x: F.scaled_dot_product_attention(x[None], x[None], x[None])[0],
    }


@pytest.mark.parametrize("name", ["linear", "softmax", "layer_norm", "gelu", "tanh", "attention"])
def test_float32_stays_within_and_comes_near(name):
    """Over many inputs the worst error is below the bound, and no less than a hundredth of it."""
    compute, worst = operations()[name], 0.0
    for seed in range(40):
        x = tensor(4, 6, seed=seed).float().double().requires_grad_()
        (error,) = condition.rounding_errors(lambda x=x: [compute(x)])
        off = (compute(x.float()).double() - compute(x)).detach().abs()
        worst = max(worst, float((off / (2**-24 * error)).max()))
    assert 0.01 < worst < 1


def test_the_number_of_threads_is_what_it_was():
    before = torch.get_num_threads()
    x = tensor(3).requires_grad_()
    condition.rounding_errors(lambda: [x * 2])
    assert torch.get_num_threads() == before
