"""``assay liveness``: judges heart-beats over STOMP, of a broker and of a client."""

from assay.commands.liveness.command import judge_heart_beats, liveness, show_rules

__all__ = ["judge_heart_beats", "liveness", "show_rules"]
