"""Rows about stages stand in the pipeline's order, whatever was asked first."""

from __future__ import annotations

from piiloom.cli.run_summary import in_stage_order


def test_rows_stand_in_the_order_of_the_pipeline_and_unknown_ones_last():
    found = ["surrogate_values", "question", "spans", "peripheral", "topics", "audit", "sheet", "other"]
    assert in_stage_order(found, str) == ["topics", "peripheral", "question", "sheet", "audit", "spans", "surrogate_values", "other"]
