"""Figures that the papers print, as printed: so many digits, no more.  MS-COCO 2017 unless a table says otherwise.

seconds: for one image or video; calls: of the target (NFE, steps); accepted: tokens per call; fid, clip: quality;
speedup: printed, over plain decoding in seconds unless a table says otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Table(NamedTuple):
    """source: where it is printed; rows: {system: {figure: digits as printed}}."""

    source: str
    rows: Mapping[str, Mapping[str, str]]

    @property
    def paper(self) -> str:
        """As claims name their source: "CSD (arXiv 2606.27829)"."""
        return self.source.partition(",")[0]


LOWER_IS_BETTER = {"seconds": True, "calls": True, "fid": True, "accepted": False, "clip": False, "speedup": False}

PUBLISHED: dict[str, Table] = {
    "COOL-SD Lumina": Table(
        "COOL-SD (arXiv 2601.09212), Lumina-mGPT 7B",
        {
            "AR": {"seconds": "170.14"},
            "EAGLE-1": {"accepted": "2.76", "seconds": "71.66", "speedup": "2.37", "fid": "29.05"},
            "LANTERN++": {"accepted": "2.99", "seconds": "68.64", "speedup": "2.48", "fid": "30.31"},
            "COOL-SD 1.1": {"accepted": "3.11", "seconds": "63.24", "speedup": "2.69", "fid": "30.30"},
        },
    ),
    "COOL-SD LlamaGen": Table(
        "COOL-SD (arXiv 2601.09212), LlamaGen-XL 775M",
        {
            "EAGLE-1": {"accepted": "2.42", "seconds": "4.99", "speedup": "2.03", "fid": "20.97"},
            "LANTERN++": {"accepted": "2.67", "seconds": "4.70", "speedup": "2.15", "fid": "21.17"},
            "COOL-SD 1.1": {"accepted": "2.73", "seconds": "4.46", "speedup": "2.27", "fid": "21.02"},
            "COOL-SD 2": {"accepted": "3.34", "seconds": "3.72", "speedup": "2.72", "fid": "21.20"},
        },
    ),
    "SCD Lumina": Table(
        "SCD (arXiv 2510.24211), Lumina-mGPT 768 x 768",
        {
            "AR": {"calls": "2390", "seconds": "102.03"},
            "SJD": {"calls": "1035.9", "seconds": "42.98"},
            "GSD": {"calls": "701", "fid": "33.21"},
            "SCD-MC": {"calls": "567.7", "seconds": "24.41", "speedup": "4.18"},
            "SCD-GS": {"calls": "568.0", "seconds": "24.24", "speedup": "4.21"},
        },
    ),
    "SCD Cosmos": Table(
        "SCD (arXiv 2510.24211), Cosmos-1-AR 4B, video",
        {
            "AR": {"calls": "7680", "seconds": "157.25"},
            "SJD": {"calls": "1789.9", "seconds": "47.73"},
            "SCD-GS": {"calls": "564.4", "seconds": "13.60"},
        },
    ),
    "CSD Lumina": Table(
        "CSD (arXiv 2606.27829), Lumina-mGPT 7B",
        {
            "AR": {"seconds": "121.48", "calls": "2379"},
            "EAGLE": {"clip": "33.3"},
            "LANTERN": {"clip": "32.7"},
            "SJD": {"seconds": "53.73", "calls": "1061.9", "fid": "30.92"},
            "Amplify": {"seconds": "47.85", "calls": "921.1"},
            "Addition": {"seconds": "48.25", "calls": "909.3"},
            "GSD": {"seconds": "47.99", "calls": "925.2", "fid": "31.61"},
            "CSD": {"seconds": "46.76", "calls": "922.8", "speedup": "2.60", "fid": "31.66", "clip": "31.49"},
        },
    ),
    "CSD Janus": Table(
        "CSD (arXiv 2606.27829), Janus-Pro 7B",
        {
            "AR": {"seconds": "22.95", "calls": "576", "clip": "32.31"},
            "SJD": {"seconds": "11.64", "calls": "298.8"},
            "Amplify": {"seconds": "7.05", "calls": "165.7"},
            "Addition": {"seconds": "7.13", "calls": "162.8"},
            "GSD": {"seconds": "6.93", "calls": "161.7"},
            "CSD .65": {"seconds": "6.53", "calls": "166.1"},
            "CSD .8": {"seconds": "5.30", "calls": "134.3", "speedup": "4.33", "clip": "32.21"},
        },
    ),
}
