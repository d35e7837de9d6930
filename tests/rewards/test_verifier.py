"""The verifier, with real processes and a real compiler: every bad kernel is a verdict."""

import time
from collections.abc import Iterator

import pytest

from kernelwright.rewards.candidate import Candidate
from kernelwright.rewards.prompt import answer as completion
from kernelwright.rewards.task import Task
from kernelwright.rewards.verdict import Status, Verdict
from kernelwright.rewards.verifier import LocalVerifier, VerifierOptions

from .answers import CPP, HONEST, LOOP, RELU_TASK, answer

TASK = Task("relu", RELU_TASK)


@pytest.fixture(scope="module")
def verifier() -> Iterator[LocalVerifier]:
    options = VerifierOptions(
        time=False, run_timeout_s=8.0, build_timeout_s=30.0, memory_bytes=1 << 30
    )
    with LocalVerifier(options) as made:
        yield made


def judged(verifier: LocalVerifier, source: str, task: Task = TASK) -> Verdict:
    [verdict] = verifier.verify_all([(task, Candidate.from_source(source))])
    return verdict


def test_an_honest_kernel_is_ok_and_held_by_the_sandbox(verifier: LocalVerifier) -> None:
    verdict = judged(verifier, HONEST)
    assert verdict.label == "ok", verdict.message
    assert (verdict.q, verdict.legal, verdict.headers) == (1.0, True, "slim")
    assert verdict.reward == 1.0
    assert {"limits", "no_new_privs"} <= set(verdict.protections)
    assert verdict.peak_memory_bytes > 0
    assert [gate.passed for gate in verdict.gates] == [True] * 5 + [None]


@pytest.mark.parametrize(
    ("source", "label"),
    [
        (answer("for (long i = 0; i < n; i++) b[i] = a[i];"), "correctness_error:values"),
        (answer("for (long i = 0; i < n; i++) b[i] = 0;"), "correctness_error:values"),
        (answer(""), "correctness_error:non_finite"),
        (answer(LOOP.replace("i < n", "i < n - 1")), "correctness_error:non_finite"),
        (answer(forward="return ext.run(x)[0]"), "correctness_error:shape"),
        (answer(forward="return (ext.run(x),)"), "correctness_error:structure"),
        (answer(forward="return ext.run(x).double()"), "correctness_error:dtype"),
        (answer("int z = undeclared;"), "compile_error"),
        (answer(forward="return ext.missing(x)"), "runtime_error:AttributeError"),
        (answer('throw std::runtime_error("boom");'), "runtime_error:RuntimeError"),
        (answer("*(volatile int*)0 = 1;"), "runtime_error:SIGSEGV"),
        (answer("for (volatile long k = 0;; k++) {}"), "timeout:run"),
        (answer(head="while True: pass"), "timeout:build"),
        (answer(head="raise ValueError('no')"), "runtime_error:init_ValueError"),
        ("class ModelNew(:\n", "compile_error:python_syntax"),
    ],
)
def test_a_bad_kernel_is_a_value(verifier: LocalVerifier, source: str, label: str) -> None:
    verdict = judged(verifier, source)
    assert verdict.label.startswith(label), (verdict.label, verdict.message)
    assert verdict.reward == -1.0


def test_a_flood_of_output_fills_nothing(verifier: LocalVerifier) -> None:
    flood = 'for (;;) { std::fputs("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", stdout); }'
    cpp = CPP.replace("#include", "#include <cstdio>\n#include", 1)
    assert judged(verifier, answer(flood, cpp=cpp)).label == "timeout:run"


def test_an_allocation_without_end_is_out_of_memory(verifier: LocalVerifier) -> None:
    body = "std::vector<std::vector<char>> all; for (;;) all.emplace_back(1 << 28, 'x');"
    verdict = judged(
        verifier, answer(body, cpp=CPP.replace("#include", "#include <vector>\n#include", 1))
    )
    assert verdict.status is Status.RUNTIME_ERROR
    assert "bad_alloc" in verdict.message or "memory" in verdict.detail + verdict.message


def test_a_process_that_outlives_its_deadline_is_gone(verifier: LocalVerifier) -> None:
    body = "if (fork() == 0) { setsid(); if (fork() == 0) { sleep(300); } } for (;;) {}"
    cpp = CPP.replace("#include", "#include <unistd.h>\n#include", 1)
    verdict = judged(verifier, answer(body, cpp=cpp))
    assert verdict.status in (Status.TIMEOUT, Status.CHEATING, Status.COMPILE_ERROR)


def test_clean_exit_inside_forward_is_no_success(verifier: LocalVerifier) -> None:
    cpp = CPP.replace("#include", "#include <cstdlib>\n#include", 1)
    verdict = judged(verifier, answer("std::_Exit(0);", cpp=cpp))
    assert verdict.status in (Status.RUNTIME_ERROR, Status.CHEATING)


@pytest.mark.parametrize(
    "source",
    [
        answer(forward="ext.run(x)\n        return torch.relu(x) * 0.5"),
        answer(forward="return getattr(torch, 're' + 'lu')(x) * 0.5"),
        answer(forward="return x.clamp(min=0) * 0.5"),
        answer(cpp=CPP.replace("BODY", "return at::relu(x);")),
    ],
)
def test_work_done_by_torch_is_cheating(verifier: LocalVerifier, source: str) -> None:
    verdict = judged(verifier, source)
    assert verdict.status is Status.CHEATING, verdict.label
    assert verdict.reward == -1.0


def test_a_cached_result_is_caught(verifier: LocalVerifier) -> None:
    body = LOOP.replace("b[i] =", "b[i] =")
    cpp = CPP.replace(
        "auto y", "static torch::Tensor kept; if (kept.defined()) return kept; auto y"
    )
    verdict = judged(verifier, answer(body, cpp=cpp.replace("return y;", "kept = y; return y;")))
    assert verdict.status is Status.CORRECTNESS_ERROR
    assert verdict.q < 0.5


def test_result_written_into_the_input_is_caught(verifier: LocalVerifier) -> None:
    verdict = judged(verifier, answer(cpp=CPP.replace("torch::empty_like(x)", "x")))
    assert verdict.label == "correctness_error:input_mutated"


def test_half_right_earns_half(verifier: LocalVerifier) -> None:
    small = LOOP.replace("a[i] * 0.5f", "(a[i] > 6.0f ? 3.0f : a[i] * 0.5f)")
    verdict = judged(verifier, answer(small))
    assert verdict.status is Status.CORRECTNESS_ERROR
    assert 0 < verdict.q < 1
    assert verdict.reward == -0.5 + 0.5 * verdict.q


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("no code here", "extract_error:no_code_block"),
        (f"{completion(HONEST)}\n{completion(HONEST)}", "extract_error:two_answers"),
        ("y" * (5 << 20), "extract_error:completion_too_long"),
    ],
)
def test_a_completion_without_one_answer_is_a_value(
    verifier: LocalVerifier, text: str, label: str
) -> None:
    [verdict] = verifier.verify_all([(TASK, text)])
    assert (verdict.label, verdict.reward) == (label, -1.0)


def test_a_task_that_cannot_be_judged_earns_nothing(verifier: LocalVerifier) -> None:
    task = Task("zero", RELU_TASK.replace("* 0.5", "* 0.0"))
    verdict = judged(verifier, HONEST, task)
    assert verdict.status is Status.INVALID_PROBLEM
    assert verdict.reward is None


def test_identical_pairs_are_verified_once(verifier: LocalVerifier) -> None:
    source = answer() + "\n# once"
    began = time.perf_counter()
    one = judged(verifier, source)
    first = time.perf_counter() - began
    began = time.perf_counter()
    verdicts = verifier.verify_all([(TASK, Candidate.from_source(source))] * 20)
    assert time.perf_counter() - began < first
    assert verdicts == [one] * 20


def test_all_gates_diagnoses_and_still_earns_nothing() -> None:
    with LocalVerifier(VerifierOptions(time=False, all_gates=True)) as verifier:
        verdict = judged(verifier, answer(forward="return torch.relu(x) * 0.5"))
    assert verdict.status is Status.CHEATING
    assert verdict.gates[3].passed is True
    assert verdict.gates[4].passed is False
    assert verdict.reward == -1.0


def test_a_killed_oracle_or_warm_parent_is_not_the_candidates_fault() -> None:
    options = VerifierOptions(time=False, infra_retries=0)
    with LocalVerifier(options) as verifier:
        assert judged(verifier, HONEST).status is Status.OK
        process = verifier._oracles["eager"]._process
        assert process is not None
        process.kill()
        process.wait()
        verdict = judged(verifier, HONEST + "\n# again")
        assert verdict.status is Status.INFRA_ERROR
        assert verdict.reward is None
        assert judged(verifier, HONEST + "\n# third").status is Status.OK


def test_speed_is_an_interval_against_each_baseline() -> None:
    with LocalVerifier(VerifierOptions(baselines=("eager",))) as verifier:
        verdict = judged(verifier, HONEST)
        slow = answer(
            "for (int k = 0; k < 60; k++) for (volatile long i = 0; i < n; i = i + 1) "
            "b[i] = a[i] > 0.0f ? a[i] * 0.5f : 0.0f;"
        )
        slower = judged(verifier, slow)
    found = verdict.speedup["eager"]
    assert 0 < found.lower <= found.median <= found.upper
    assert set(verdict.latency_ms) == {"candidate", "eager"}
    assert slower.status is Status.OK
    assert slower.speedup["eager"].upper < 0.5
    assert slower.reward == 1.0
