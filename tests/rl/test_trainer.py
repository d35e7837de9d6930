"""What the trainer does with unscored, lonely and uniform groups, and its loss by hand."""

import pytest
import torch

NO = None


def fixed(rewards):
    """A reward function that gives *rewards*, whatever was written."""

    def kernel(completions, **_):
        assert len(completions) == len(rewards)
        return list(rewards)

    return kernel


def one_batch(trainer):
    trainer.model.train()
    trainer.current_gradient_accumulation_steps = 1
    rows = next(iter(trainer.get_train_dataloader()))
    return trainer._generate_and_score_completions(rows)


def weights_of(trainer):
    return {name: each.detach().clone() for name, each in trainer.model.named_parameters()}


def moved(trainer, before):
    return any(not torch.equal(before[n], p) for n, p in trainer.model.named_parameters())


def logps(trainer, batch):
    ids = torch.cat([batch["prompt_ids"], batch["completion_ids"]], 1)
    mask = torch.cat([batch["prompt_mask"], batch["completion_mask"]], 1)
    from kernelwright.policy.load import load_policy

    model, _ = load_policy(trainer.model.config._name_or_path, dtype="float32")
    logits = model(input_ids=ids, attention_mask=mask).logits[:, :-1]
    width = batch["completion_ids"].size(1)
    picked = logits[:, -width:].log_softmax(-1)
    return model, picked.gather(-1, batch["completion_ids"].unsqueeze(-1)).squeeze(-1)


def test_advantages_are_equation_3_over_scored_samples(make_trainer):
    _, advantages = trainer_and_batch = make_trainer(fixed([1, 3, NO, 2, -1, NO, NO, NO]))
    one_batch(trainer_and_batch[0])
    # mean 2, std 1 over the three scored samples of the first group; the second has one only
    expected = [-1 / 1.0001, 1 / 1.0001, None, 0, None, None, None, None]
    for got, want in zip(advantages[0], expected, strict=True):
        assert got == (want if want is None else pytest.approx(want, abs=1e-6))


def test_loss_and_gradient_are_equation_5_by_hand(make_trainer):
    trainer, advantages = make_trainer(fixed([1, 3, NO, 2, -1, 1, 1, 1]))
    batch = one_batch(trainer)
    loss = trainer._compute_loss(trainer.model, batch)
    loss.backward()

    model, logps_B_T = logps(trainer, batch)
    ratio_B_T = (logps_B_T - logps_B_T.detach()).exp()
    lengths = batch["completion_mask"].sum(1).tolist()
    by_group = []
    for group in (range(0, 4), range(4, 8)):
        stays = [i for i in group if advantages[0][i] is not None]
        surrogate = sum(advantages[0][i] * ratio_B_T[i, : lengths[i]].sum() for i in stays)
        by_group.append(surrogate / sum(lengths[i] for i in stays))
    wanted = -sum(by_group) / 2
    wanted.backward()

    assert loss.item() == pytest.approx(wanted.item(), abs=1e-5)
    for (name, mine), (_, theirs) in zip(
        trainer.model.named_parameters(), model.named_parameters(), strict=True
    ):
        torch.testing.assert_close(mine.grad, theirs.grad, atol=1e-5, rtol=1e-3, msg=name)


def test_without_missing_scores_and_with_equal_lengths_the_loss_is_trls(make_trainer):
    from trl import GRPOTrainer

    trainer, _ = make_trainer(fixed([1, 3, 0, 2, -1, 1, 1, 1]), top_k=1)
    batch = one_batch(trainer)
    lengths = set(batch["completion_mask"].sum(1).tolist())
    ours = trainer._compute_loss(trainer.model, batch).item()
    plain = GRPOTrainer._generate_and_score_completions
    rows = next(iter(trainer.get_train_dataloader()))
    theirs = trainer._compute_loss(
        trainer.model,
        {"tool_mask": torch.ones_like(batch["completion_mask"])} | plain(trainer, rows),
    ).item()
    assert len(lengths) == 1
    assert ours == pytest.approx(theirs, abs=1e-6)


@pytest.mark.parametrize(
    "rewards",
    [
        pytest.param([NO] * 8, id="all infra"),
        pytest.param([1, NO, NO, NO, NO, NO, NO, -1], id="one scored sample a group"),
        pytest.param([1.1] * 4 + [-1, NO, -1, -1], id="no variance"),
    ],
)
def test_a_step_with_nothing_to_learn_moves_neither_weights_nor_optimiser(make_trainer, rewards):
    trainer, _ = make_trainer(fixed(rewards), weight_decay=0.5, beta=0.1)
    before = weights_of(trainer)
    trainer.train()
    assert not moved(trainer, before)
    assert not trainer.optimizer.state_dict()["state"]
    assert [each["idle_step"] for each in trainer.state.log_history[:2]] == [1.0, 1.0]


def test_an_idle_step_after_a_learning_one_does_not_coast_on_momentum(make_trainer):
    calls = []

    def kernel(completions, **_):
        calls.append(weights_of(trainer))
        return [1, 2, 3, 4] * 2 if len(calls) == 1 else [NO] * len(completions)

    trainer, _ = make_trainer(kernel, max_steps=3, weight_decay=0.5)
    trainer.train()
    first, second, third = calls
    assert any(not torch.equal(first[name], second[name]) for name in first)
    assert all(torch.equal(second[name], third[name]) for name in first)
    assert not moved(trainer, third)


def test_a_group_without_scores_changes_nothing_about_the_other(make_trainer):
    """Same completions, same rewards for the first group: same gradient with or without it."""
    rewards = [1, 3, 0, 2]
    gradients = []
    for rest in ([NO] * 4, [NO, NO, NO, 4]):
        trainer, _ = make_trainer(fixed(rewards + rest), beta=0.1)
        trainer._compute_loss(trainer.model, one_batch(trainer)).backward()
        gradients.append([each.grad.clone() for each in trainer.model.parameters()])
    for one, other in zip(*gradients, strict=True):
        torch.testing.assert_close(one, other)


def test_a_reward_that_raises_ends_the_run_with_its_own_error(make_trainer):
    def kernel(**_):
        raise RuntimeError("the verifier broke")

    trainer, advantages = make_trainer(kernel)
    with pytest.raises(RuntimeError, match="the verifier broke"):
        trainer.train()
    assert advantages == []
