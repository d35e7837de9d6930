"""A policy of a few thousand weights, and a trainer around it with a reward written in the test."""

import pytest

TEXT = "def f(x):\n    return x\n"


@pytest.fixture(scope="session")
def policy_folder(tmp_path_factory):
    from kernelwright.policy.scratch import save_scratch
    from kernelwright.policy.tokenizer import train_tokenizer

    tokenizer = train_tokenizer([TEXT] * 20, vocab_size=512)
    return save_scratch("32x1", tokenizer, tmp_path_factory.mktemp("policy"), seed=0)


@pytest.fixture
def grpo_config(tmp_path):
    from trl import GRPOConfig

    def make(**given):
        base = {
            "output_dir": str(tmp_path / "run"),
            "max_steps": 2,
            "per_device_train_batch_size": 8,
            "num_generations": 4,
            "max_completion_length": 8,
            "learning_rate": 1e-2,
            "logging_steps": 1,
            "save_strategy": "no",
            "report_to": "none",
            "disable_tqdm": True,
            "use_cpu": True,
            "bf16": False,
            "gradient_checkpointing": False,
        }
        return GRPOConfig(**base | given)

    return make


@pytest.fixture
def make_trainer(policy_folder, grpo_config):
    """A function of a reward and config fields: the trainer, and the advantages it hands on."""

    def make(reward, **given):
        from datasets import Dataset

        from kernelwright.policy.load import load_policy
        from kernelwright.rl.trainer import KernelGRPOTrainer

        model, tokenizer = load_policy(policy_folder, dtype="float32")
        prompts = [[{"role": "user", "content": f"task {index}"}] for index in range(8)]
        advantages = []
        trainer = KernelGRPOTrainer(
            model=model,
            reward_funcs=reward,
            args=grpo_config(**given),
            train_dataset=Dataset.from_dict({"prompt": prompts}),
            processing_class=tokenizer,
            on_advantages=advantages.append,
        )
        return trainer, advantages

    return make
