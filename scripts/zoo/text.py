"""T5, Whisper, BART, Phi-3 and Longformer from small configs: every call differs, the last one in its length too."""

from __future__ import annotations

from typing import Any

import torch

from zoo.subject import Call, Dice, Subject, mask, seeded

LOUD = 60
"""A token of BART's whose hidden states leave the range of float16."""


def make_t5(transformers: Any) -> Subject:
    config = transformers.T5Config(
        vocab_size=64, d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4, decoder_start_token_id=0
    )
    dice = Dice(1)

    def call(length: int, target: int, padding: int) -> Call:
        return {
            "input_ids": dice.tokens(2, length),
            "attention_mask": mask(2, length, padding),
            "decoder_input_ids": dice.tokens(2, target),
        }

    model = seeded(transformers.T5ForConditionalGeneration, config)
    return Subject(model, [call(10, 5, 0), call(10, 5, 3), call(13, 6, 2)])


def make_whisper(transformers: Any) -> Subject:
    layers = {f"{part}_layers": 2 for part in ("encoder", "decoder")}
    heads = {f"{part}_attention_heads": 4 for part in ("encoder", "decoder")}
    widths = {f"{part}_ffn_dim": 64 for part in ("encoder", "decoder")}
    special = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 1}
    sizes = {"vocab_size": 64, "d_model": 32, "num_mel_bins": 8, "max_source_positions": 20, "max_target_positions": 20}
    config = transformers.WhisperConfig(**sizes, **layers, **heads, **widths, **special)
    dice = Dice(2)

    def call(target: int) -> Call:
        return {"input_features": dice.numbers(2, 8, 40), "decoder_input_ids": dice.tokens(2, target)}

    return Subject(seeded(transformers.WhisperForConditionalGeneration, config), [call(5), call(5), call(7)])


def make_bart(transformers: Any) -> Subject:
    """In float16, as when a cached decoder is fed one token. The second call overflows in the last encoder layer."""
    layers = {f"{part}_layers": 2 for part in ("encoder", "decoder")}
    heads = {f"{part}_attention_heads": 4 for part in ("encoder", "decoder")}
    widths = {f"{part}_ffn_dim": 64 for part in ("encoder", "decoder")}
    config = transformers.BartConfig(vocab_size=64, d_model=32, max_position_embeddings=40, **layers, **heads, **widths)
    model: Any = seeded(transformers.BartForConditionalGeneration, config)
    with torch.no_grad():
        model.get_input_embeddings().weight[LOUD, 0] = 20.0
        model.get_encoder().layers[-1].final_layer_norm.weight[0] = 13_000.0
    dice = Dice(3)

    def call(length: int, padding: int = 0) -> Call:
        return {
            "input_ids": dice.tokens(2, length),
            "attention_mask": mask(2, length, padding),
            "decoder_input_ids": dice.tokens(2, 1),
        }

    calls = [call(10), call(10, 3), call(12)]
    calls[1]["input_ids"][0, 4] = LOUD
    return Subject(model.half(), calls)


def make_phi3(transformers: Any) -> Subject:
    """With longrope: the second call is longer than the original context, the third is short again."""
    config = transformers.Phi3Config(
        vocab_size=64,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=64,
        original_max_position_embeddings=16,
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=2,
        rope_scaling={"type": "longrope", "short_factor": [1.0] * 4, "long_factor": [1.5, 2.0, 3.0, 4.0]},
    )
    dice = Dice(4)

    def call(length: int) -> Call:
        return {"input_ids": dice.tokens(2, length), "attention_mask": mask(2, length)}

    return Subject(seeded(transformers.Phi3ForCausalLM, config), [call(10), call(20), call(12)])


def make_longformer(transformers: Any) -> Subject:
    """Lengths that have to be padded to the window. Global attention, which breaks elsewhere, is another call."""
    config = transformers.LongformerConfig(
        vocab_size=64,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=80,
        attention_window=8,
        pad_token_id=1,
        bos_token_id=0,
        eos_token_id=2,
    )
    dice = Dice(5)

    def call(length: int, padding: int = 0) -> Call:
        return {"input_ids": dice.tokens(2, length), "attention_mask": mask(2, length, padding)}

    calls = [call(20), call(20, 4), call(29)]
    looks_everywhere = call(20)
    looks_everywhere["global_attention_mask"] = torch.zeros(2, 20, dtype=torch.long)
    looks_everywhere["global_attention_mask"][0, :2] = 1
    return Subject(seeded(transformers.LongformerModel, config), calls, [looks_everywhere, call(16)])
