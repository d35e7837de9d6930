"""The page about a run, from a folder as the stages write it."""

import json
import random
import re
from html.parser import HTMLParser

import pytest
import yaml

from kernelwright.configs import resolved
from kernelwright.data_synth.__main__ import SynthArguments
from kernelwright.eval.arguments import EvalArguments
from kernelwright.eval.report import main, page
from kernelwright.eval.summary import summarise
from kernelwright.rewards.prompt import answer
from kernelwright.rewards.record import to_line, to_plain
from kernelwright.rewards.reward import score
from kernelwright.rewards.task import Task
from kernelwright.rewards.verdict import Gate, Interval, Status, Verdict
from kernelwright.rl.arguments import RLArguments
from kernelwright.sft.arguments import SFTArguments

EVIL = "</pre><script>alert(1)</script><img src=x onerror=alert(2)>"
FAMILIES = ("norm", "matmul", "softmax")
REFERENCE = """import torch
import torch.nn as nn

class Model(nn.Module):
    def forward(self, x):
        return torch.relu(x) * {scale}

def get_inputs():
    return [torch.randn(64, {scale})]

def get_init_inputs():
    return []"""
KERNEL = '''import torch
from torch.utils.cpp_extension import load_inline

source = r"""
#include <torch/extension.h>

torch::Tensor scaled_relu(torch::Tensor x) {
  auto y = torch::empty_like(x);
  const float* in = x.data_ptr<float>();
  float* out = y.data_ptr<float>();
  #pragma omp parallel for
  for (int64_t i = 0; i < x.numel(); ++i) out[i] = in[i] > 0 ? in[i] * SCALE : 0.0f;  // one pass
  return y;
}
"""
ext = load_inline(name="scaled_relu", cpp_sources=source, functions=["scaled_relu"])


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return ext.scaled_relu(x.contiguous())'''
TASKS = [
    Task(f"synth/{i:03d}", REFERENCE.format(scale=i + 2), family=FAMILIES[i % 3]) for i in range(12)
]
BAD = [
    (Status.COMPILE_ERROR, "", "error: 'y' was not declared in this scope"),
    (Status.CORRECTNESS_ERROR, "values", "worst error 0.31 at (3, 7)"),
    (Status.CHEATING, "torch_operator:relu", "line 9: torch_operator relu"),
    (Status.EXTRACT_ERROR, "no_code_block", ""),
]


def verdict(draw, status=Status.OK, detail="", message="", speed=1.5):
    reached = {"extract_error": 0, "cheating": 1, "compile_error": 2}.get(status, 3)
    names = ("extract", "legality", "build", "correctness", "trace", "timing")
    passed = [status == Status.OK or i < reached for i in range(6)]
    gates = tuple(
        Gate(name, ok if i <= reached or status == Status.OK else None)
        for i, (name, ok) in enumerate(zip(names, passed, strict=True))
    )
    middle = speed * draw.uniform(0.9, 1.1)
    given = Verdict(
        status,
        detail,
        q=float(status == Status.OK),
        legal=status != Status.CHEATING,
        speedup={"eager": Interval(middle * 0.95, middle, middle * 1.05)}
        if status == Status.OK
        else {},
        gates=gates,
        latency_ms={"candidate": 0.1 / middle, "eager": 0.1} if status == Status.OK else {},
        message=message,
        backend="cpu",
        device="a processor, 2 cores",
        versions={"kernelwright": "0.1.0", "torch": "2.13"},
    )
    return {**to_plain(given), "reward": score(given)}


def sample(draw, task, step, right, speed, completion=None):
    bad = draw.choice(BAD)
    found = verdict(draw, speed=speed) if draw.random() < right else verdict(draw, bad[0], *bad[1:])
    return {
        "step": step,
        "task": task.id,
        "family": task.family,
        "completion": completion or answer(KERNEL.replace("SCALE", f"{draw.random():.3f}f")),
        "tokens": 200,
        "truncated": False,
        "reward": found["reward"],
        "verdict": found,
    }


def write(folder, name, rows):
    folder.mkdir(parents=True, exist_ok=True)
    lines = (row if isinstance(row, str) else json.dumps(row) for row in rows)
    (folder / name).write_text("".join(f"{line}\n" for line in lines))


def configure(folder, own, **more):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.yaml").write_text(yaml.safe_dump({**resolved(own), **more}))


def evaluation(run, name, right, speed, seed, tasks=TASKS):
    draw, folder = random.Random(seed), run / name
    held = str(run / "synth" / "eval_tasks.jsonl")
    configure(folder, EvalArguments(f"{run}/{name}/final", held, str(folder), samples_per_task=8))
    rows = [
        {**sample(draw, task, 0, right, speed), "sample": i} for task in tasks for i in range(8)
    ]
    write(folder, "samples.jsonl", rows)
    summary = summarise(rows, name, 8, ["eager"])
    (folder / "summary.json").write_text(json.dumps(summary))
    return rows


@pytest.fixture
def run(tmp_path):
    folder = tmp_path / "quickstart"
    write(folder / "synth", "eval_tasks.jsonl", map(to_line, TASKS))
    configure(folder / "synth", SynthArguments())
    (folder / "synth" / "card.json").write_text('{"verdicts": {"norm": {"openmp": {"ok": 40}}}}')
    draw = random.Random(0)
    for name, extra in (("sft", {}), ("rft", {"samples_per_prompt": 4})):
        configure(folder / name, SFTArguments(**extra), seed=0, model_name_or_path="scratch:1m")
        rows = [
            {"step": s, "time_s": s, "loss": 2.0 / (1 + s / 20), "num_tokens": s * 900.0}
            for s in range(10, 160, 10)
        ]
        rows += [{"step": s, "time_s": s, "eval_loss": 2.2 / (1 + s / 20)} for s in (50, 100, 150)]
        write(folder / name, "metrics.jsonl", rows)
        (folder / name / "final").mkdir()
    configure(folder / "rl", RLArguments("tasks.jsonl"), seed=0, temperature=0.9)
    (folder / "rl" / "final").mkdir()
    steps = range(1, 41)
    samples = [
        sample(draw, task, s, 0.4 + s / 80, 1 + s / 50)
        for s in steps
        for task in TASKS
        for _ in "12"
    ]
    write(folder / "rl", "samples.jsonl", samples)
    metrics = [
        {
            "step": s,
            "time_s": 9.0 * s,
            "kl": s / 9000,
            "entropy": 0.6 - s / 100,
            "completions/mean_length": 200 - s,
            "completions/clipped_ratio": 0.02,
            "frac_reward_zero_std": 0.1,
            "grad_norm": draw.random(),
            "verify_share": 0.6 + draw.random() / 9,
        }
        for s in steps
    ]
    write(folder / "rl", "metrics.jsonl", metrics)
    evaluation(folder, "eval_sft", 0.45, 1.05, 1)
    evaluation(folder, "eval_rft", 0.6, 1.1, 2)
    evaluation(folder, "eval_rl", 0.85, 1.8, 3)
    cost = {"digest": "", "wall_s": 321.0, "peak_rss_mb": 1500.0}
    stages = ("synth", "sft", "eval_sft", "rft", "eval_rft", "rl", "eval_rl")
    (folder / "pipeline.json").write_text(json.dumps({"stages": dict.fromkeys(stages, cost)}))
    return folder


def text_of(html):
    bare = re.sub(r"<(style|svg).*?</\1>", " ", html, flags=re.DOTALL)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", bare))


def test_the_page_says_what_was_measured(run, capsys):
    assert main([str(run)]) == 0
    assert capsys.readouterr().out.strip() == str(run / "report.html")
    html = (run / "report.html").read_text()
    assert len(html) < 2_000_000
    text = text_of(html)
    summary = json.loads((run / "eval_rl" / "summary.json").read_text())
    found = summary["metrics"]["faster/eager"]
    assert f"{100 * found['value']:.0f} % [{100 * found['lower']:.0f}," in text
    assert "for RL. The intervals do not overlap; paired by task, the change in points is +" in text
    for part in ("Pass@8", "torch_operator", "a processor, 2 cores", "5.3 min", "1,500 MB"):
        assert part in text, part
    assert "largest speed-up" in text and "torch.relu(x)" in text
    assert html.count("<svg") == 14  # fast_p, 4 over steps, 7 small ones, 2 losses


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.seen, self.attributes = set(), set()

    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)
        self.attributes |= {(name, value) for name, value in attrs}


def test_an_untrusted_completion_is_text_and_nothing_else(run):
    rows = [json.loads(line) for line in (run / "eval_rl" / "samples.jsonl").open()]
    evil = [{**row, "completion": EVIL, "family": EVIL} for row in rows]
    for row in evil:
        row["verdict"] = {**row["verdict"], "message": EVIL, "device": EVIL}
        if row["verdict"]["status"] == "cheating":
            row["verdict"]["detail"] = EVIL
    write(run / "eval_rl", "samples.jsonl", evil)
    summary = summarise(evil, EVIL, 8, ["eager"])
    (run / "eval_rl" / "summary.json").write_text(json.dumps(summary))
    html = page(run)
    assert "&lt;script&gt;" in html
    tags = Tags()
    tags.feed(html)
    assert not tags.seen & {"script", "img", "link", "iframe", "object", "form"}
    assert not [name for name, _ in tags.attributes if name.startswith("on")]
    outside = [v for n, v in tags.attributes if n in ("href", "src", "xlink:href") and v[0] != "#"]
    assert not outside and "url(http" not in html and "@import" not in html


def test_overlap_and_a_difference_that_holds_zero_are_said(run):
    evaluation(run, "eval_sft", 0.6, 1.1, 4)
    evaluation(run, "eval_rl", 0.6, 1.1, 5)
    text = text_of(page(run))
    assert "The intervals overlap" in text and "no evidence of a change" in text


def test_missing_stages_are_left_out_with_a_note(run):
    for name in ("rl", "rft", "eval_rl", "eval_rft"):
        (run / name / "config.yaml").unlink()
    text = text_of(page(run))
    assert "no reinforcement learning" in text and "no rejection fine-tuning" in text
    assert "nothing to compare it with" in text
    assert "How answers ended" in text and "Reinforcement learning:" not in text


def test_an_unfinished_run_has_a_page_too(tmp_path):
    configure(tmp_path / "sft", SFTArguments())
    text = text_of(page(tmp_path))
    assert "No finished evaluation" in text and "Not finished when this page was made: sft" in text


def test_an_evaluation_in_which_nothing_was_right_or_scored_has_a_page(run):
    evaluation(run, "eval_rl", 0.0, 1.0, 6)
    assert "none measured" not in text_of(page(run))
    rows = [json.loads(line) for line in (run / "eval_rl" / "samples.jsonl").open()]
    for row in rows:
        row["reward"] = None
        row["verdict"] |= {"status": "infra_error", "speedup": {}, "reward": None}
    write(run / "eval_rl", "samples.jsonl", rows)
    (run / "eval_rl" / "summary.json").write_text(json.dumps(summarise(rows, "m", 8, ["eager"])))
    text = text_of(page(run))
    assert "none measured for RL" in text and "infra_error" in text


def test_one_stage_alone_has_a_page(run):
    assert "nothing to compare it with" in text_of(page(run / "eval_sft"))
    assert "Reinforcement learning: rl" in text_of(page(run / "rl"))


def test_the_page_is_the_same_when_made_again(run):
    assert page(run) == page(run)


def test_a_folder_that_is_no_run_is_refused_in_one_line(tmp_path, capsys):
    assert main([str(tmp_path)]) == 2
    assert main([str(tmp_path / "nowhere")]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 2
