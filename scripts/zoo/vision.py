"""LayoutLMv3 and Grounding DINO from small configs; neither needs torchvision."""

from __future__ import annotations

from typing import Any

import torch

from zoo.subject import Call, Dice, Subject, mask, seeded

FIRST, LAST, DOT = 101, 102, 1012
"""The tokens by which Grounding DINO tells phrases apart; their numbers stand in its code."""


def make_layoutlmv3(transformers: Any) -> Subject:
    config = transformers.LayoutLMv3Config(
        vocab_size=64,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=40,
        coordinate_size=6,
        shape_size=4,
        max_2d_position_embeddings=128,
        input_size=32,
        patch_size=16,
        pad_token_id=1,
        bos_token_id=0,
        eos_token_id=2,
    )
    dice = Dice(6)

    def call(length: int, padding: int = 0) -> Call:
        corners, sizes = dice.tokens(2, length, 2), dice.tokens(2, length, 2)
        return {
            "input_ids": dice.tokens(2, length),
            "bbox": torch.cat([corners, corners + sizes], dim=-1),
            "attention_mask": mask(2, length, padding),
            "pixel_values": dice.numbers(2, 3, 32, 32),
        }

    calls = [call(10), call(10, 3), call(14)]
    without_image = {name: value for name, value in call(10).items() if name != "pixel_values"}
    return Subject(seeded(transformers.LayoutLMv3Model, config), calls, [without_image])


def make_grounding_dino(transformers: Any) -> Subject:
    """The detection model. Of 64 pixels the last level would be 1 x 1, which breaks once more than real sizes do."""
    backbone = transformers.SwinConfig(
        image_size=128,
        patch_size=4,
        embed_dim=16,
        depths=[1, 1, 1, 1],
        num_heads=[1, 2, 2, 2],
        window_size=4,
        out_features=["stage2", "stage3", "stage4"],
    )
    words = transformers.BertConfig(
        vocab_size=2000,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=64,
    )
    sizes = {f"{part}_{what}": n for part in ("encoder", "decoder") for what, n in (("layers", 2), ("ffn_dim", 64))}
    heads = {f"{part}_attention_heads": 4 for part in ("encoder", "decoder")}
    config = transformers.GroundingDinoConfig(
        backbone_config=backbone, text_config=words, num_queries=20, d_model=32, max_text_len=16, **sizes, **heads
    )
    dice = Dice(7)

    def call(tokens: list[int], dark: int = 0) -> Call:
        ids = torch.tensor([tokens, tokens])
        pixel_mask = torch.ones(2, 128, 128, dtype=torch.long)
        pixel_mask[-1, :, 128 - dark :] = 0
        return {
            "pixel_values": dice.numbers(2, 3, 128, 128),
            "pixel_mask": pixel_mask,
            "input_ids": ids,
            "attention_mask": (ids > 0).long(),
            "token_type_ids": torch.zeros_like(ids),
        }

    calls = [
        call([FIRST, 7, 8, DOT, 9, DOT, LAST]),
        call([FIRST, 17, DOT, 8, 19, DOT, LAST], dark=40),
        call([FIRST, 7, DOT, 8, DOT, 19, 20, DOT, LAST]),
    ]
    padded = call([FIRST, 7, 8, 9, DOT, LAST, 0], dark=16)
    return Subject(seeded(transformers.GroundingDinoForObjectDetection, config), calls, [padded])
