"""Claims: every verdict is reached from evidence, and changes with it."""

import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from proofs_checks.claims import CLAIMS, Claim, part, settle
from proofs_checks.claims.claim import (
    AGAINST,
    CONSISTENT,
    CONSISTENT_IN_PART,
    CONTRADICTED,
    FOR,
    HOLDS,
    IN_PART,
    INCONSISTENT,
    OPEN,
    OUT_OF_REACH,
    REFUTED,
    RESULTS,
    TABLE,
    TEXT,
    UNDECIDED,
    VERDICTS,
    Context,
    Weighed,
    verdict,
)
from proofs_checks.claims.computed import LIKELY, BlockResidual, OnlyConfident, SteadierCalls
from proofs_checks.claims.coolsd import BLOCK
from proofs_checks.claims.evidence import (
    Beats,
    Beside,
    Evidence,
    Interval,
    Proven,
    SameOrder,
    Unseen,
    Within,
    ratio,
    read,
)
from proofs_checks.claims.measured import Below, EverySeed, NoBias, Separated
from proofs_checks.claims.published import LOWER_IS_BETTER, PUBLISHED, Table
from proofs_checks.theorems import THEOREMS
from proofs_checks.theorems.t20_rules import OFF_LINE, ON_LINE
from specsim import RULES, ContentAwareUnmasked, Jacobi, Lenient, Strict
from specsim.errors import SpecsimError

STATED = {f"{name}.{n}": some.stated for name, theorem in THEOREMS.items() for n, some in enumerate(theorem.parts, 1)}
CONTEXT = Context(STATED, THEOREMS, PUBLISHED, RESULTS)


def evidence_of(claim: Claim) -> list[Evidence]:
    return [some.evidence if isinstance(some, Beside) else some for pieces in claim.aspects.values() for some in pieces]


def word_of(*evidence: Evidence) -> str:
    return settle([Claim("C00", "made up", "nobody", {"it": evidence})], STATED)[0].verdict


def by_words(words: str) -> Claim:
    (found,) = [claim for claim in CLAIMS if words in claim.text]
    return found


def test_ids_are_unique_and_every_claim_is_settled_with_a_line_for_every_piece_of_evidence() -> None:
    assert [claim.id for claim in CLAIMS] == [f"C{n:02}" for n in range(1, len(CLAIMS) + 1)]
    for claim, result in zip(CLAIMS, settle(CLAIMS, STATED), strict=True):
        assert result[:3] == (claim.id, claim.text, claim.source)
        assert result.verdict in VERDICTS
        assert len(result.evidence_lines) == len(evidence_of(claim)) > 0


def test_no_claim_types_its_verdict_in() -> None:
    assert set(Claim.__dataclass_fields__) == {"id", "text", "source", "aspects"}


def test_every_theorem_part_that_a_claim_names_is_exactly_one() -> None:
    proven = [some for claim in CLAIMS for some in evidence_of(claim) if isinstance(some, Proven)]
    assert len(proven) > 20
    for some in proven:
        assert part(some.theorem, some.words, CONTEXT.texts) in STATED


def test_a_part_that_is_not_there_or_twice_there_is_an_error() -> None:
    texts = {"T99": {"T99.1": "all is well", "T99.2": "all is not well"}}
    assert part("T99", "is not", texts) == "T99.2"
    for theorem, words in (("T99", "all"), ("T99", "nothing"), ("T98", "all")):
        with pytest.raises(SpecsimError):
            part(theorem, words, texts)


def counts_on_theorems(claim: Claim) -> bool:
    return any(isinstance(some, Proven) for pieces in claim.aspects.values() for some in pieces)


@pytest.mark.parametrize("claim", [some for some in CLAIMS if counts_on_theorems(some)], ids=lambda claim: claim.id)
def test_turning_the_parts_of_theorems_round_changes_the_verdict(claim: Claim) -> None:
    turned = {name: {"holds": "fails", "fails": "holds"}[result] for name, result in STATED.items()}
    before, after, unknown = (settle([claim], some)[0] for some in (STATED, turned, {}))
    stances = [[line.split(",")[0] for line in some.evidence_lines] for some in (before, after, unknown)]
    assert stances[0] != stances[1] and stances[0] != stances[2]
    assert "was not run" in " ".join(unknown.evidence_lines)


def test_one_flipped_part_turns_a_claim_that_held() -> None:
    claim = by_words("reaches the upper limit 1 - TV")
    name = part("T09", "the maximal redraw of X ~ old has Y ~ new", CONTEXT.texts)
    assert settle([claim], STATED)[0].verdict == HOLDS
    assert settle([claim], {**STATED, name: "fails"})[0].verdict == IN_PART
    assert settle([claim], {**STATED, name: "inconclusive"})[0].verdict == IN_PART
    assert settle([claim], dict.fromkeys(STATED, "inconclusive"))[0].verdict == UNDECIDED
    assert settle([claim], dict.fromkeys(STATED, "fails"))[0].verdict == REFUTED


def changed(table: str, system: str, figure: str, digits: str) -> dict[str, Table]:
    rows = {name: dict(row) for name, row in PUBLISHED[table].rows.items()}
    rows[system][figure] = digits
    return {**PUBLISHED, table: PUBLISHED[table]._replace(rows=rows)}


@pytest.mark.parametrize(
    ("words", "before", "change", "after"),
    [
        ("a speed-up of 2.69", CONSISTENT, ("COOL-SD Lumina", "AR", "seconds", "190.14"), CONSISTENT_IN_PART),
        ("a speed-up of 2.72", CONSISTENT, ("COOL-SD LlamaGen", "COOL-SD 2", "seconds", "4.72"), CONSISTENT_IN_PART),
        (
            "faster than LANTERN++",
            CONSISTENT_IN_PART,
            ("COOL-SD LlamaGen", "COOL-SD 2", "seconds", "4.80"),
            CONTRADICTED,
        ),
        ("fewer calls than strict", HOLDS, ("SCD Lumina", "GSD", "calls", "1100"), IN_PART),
        ("up to 4.2 times", CONSISTENT, ("SCD Lumina", "SCD-GS", "seconds", "34.24"), CONSISTENT_IN_PART),
        ("up to 13.6 times", CONSISTENT_IN_PART, ("SCD Cosmos", "SCD-GS", "seconds", "11.56"), CONSISTENT),
        ("a negligible cost, in time", CONSISTENT_IN_PART, ("SCD Lumina", "SCD-MC", "seconds", "30.00"), CONTRADICTED),
        ("consistently exceeds", CONTRADICTED, ("CSD Lumina", "CSD", "fid", "30.00"), UNDECIDED),
        ("matches or exceeds EAGLE", CONTRADICTED, ("CSD Lumina", "CSD", "clip", "33.3"), CONSISTENT_IN_PART),
        ("which is .17 %", CONSISTENT_IN_PART, ("CSD Lumina", "SJD", "seconds", "37.50"), CONSISTENT),
    ],
)
def test_a_changed_published_figure_changes_the_verdict(
    words: str, before: str, change: tuple[str, str, str, str], after: str
) -> None:
    claim = by_words(words)
    assert settle([claim], STATED)[0].verdict == before
    assert settle([claim], STATED, tables=changed(*change))[0].verdict == after


def copied(tmp_path: Path, file: str, turn: Callable[[dict], None]) -> Path:
    content = json.loads((RESULTS / file).read_text())
    turn(content)
    (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / file).write_text(json.dumps(content))
    return tmp_path


def test_measured_differences_count_when_their_interval_leaves_out_zero(tmp_path: Path) -> None:
    file = "ablations/windows.json"
    more = Separated(
        file, "tokens_per_call", "window=4, continuation='maximal'", "window=4, continuation='independent'"
    )
    assert more.weigh(CONTEXT).stance == FOR
    assert replace(more, first=more.second, second=more.first).weigh(CONTEXT).stance == AGAINST

    def widen(content: dict) -> None:
        for pair in content["verdict"]["pairs"]:
            pair["interval"] = [pair["value"] - 9, pair["value"] + 9]

    here = replace(CONTEXT, results=copied(tmp_path, file, widen))
    assert more.weigh(here).stance == OPEN


def test_exact_figures_decide_by_themselves(tmp_path: Path) -> None:
    file = "ablations/exact_windows_digits.json"

    def bias(content: dict) -> None:
        content["systems"][0]["tv_exact"] = "1/1000"
        content["systems"][0]["tv"] = 0.001

    there = replace(CONTEXT, results=copied(tmp_path, file, bias))
    assert (NoBias(file).weigh(CONTEXT).stance, NoBias(file).weigh(there).stance) == (FOR, AGAINST)
    fewer = Below(file, "expected_calls", "window=3, continuation='maximal'", "window=3, continuation='independent'")
    assert fewer.weigh(CONTEXT).stance == FOR
    assert replace(fewer, figure="tv").weigh(CONTEXT).stance == OPEN


def test_seeds_that_overlap_leave_it_open() -> None:
    assert EverySeed("tokens_per_call", "GSD", "SJD").weigh(CONTEXT).stance == FOR
    assert EverySeed("frechet_real", "LANTERN", "SD").weigh(CONTEXT).stance == AGAINST
    assert EverySeed("frechet_real", "SCD-MC", "SJD").weigh(CONTEXT).stance == OPEN


def test_without_results_measured_claims_are_open_and_say_so(tmp_path: Path) -> None:
    claim = by_words("annealing gives a better trade of image quality")
    result = settle([claim], STATED, results=tmp_path)[0]
    assert result.verdict == UNDECIDED
    assert all("is not here" in line for line in result.evidence_lines)


def test_a_measured_system_that_is_gone_is_an_error() -> None:
    words = "no system of this name"
    with pytest.raises(ValueError, match="systems are called"):
        Below("ablations/exact_windows_digits.json", "tv", words, "window=3").weigh(CONTEXT)
    with pytest.raises(ValueError, match="compares no"):
        Separated("ablations/windows.json", "tokens_per_call", words, "window=4").weigh(CONTEXT)


def weighed(*stances: str, own: str = "", reachable: bool = True) -> list[Weighed]:
    return [Weighed(stance, "", own, reachable) for stance in stances]


@pytest.mark.parametrize(
    ("aspects", "word"),
    [
        ([weighed(FOR, FOR), weighed(FOR)], HOLDS),
        ([weighed(FOR), weighed(FOR, OPEN)], IN_PART),
        ([weighed(FOR), weighed(AGAINST)], IN_PART),
        ([weighed(FOR, AGAINST)], REFUTED),
        ([weighed(FOR, AGAINST, own=TABLE)], CONTRADICTED),
        ([weighed(AGAINST, own=TEXT)], INCONSISTENT),
        ([weighed(AGAINST, own=TABLE), weighed(AGAINST)], REFUTED),
        ([weighed(AGAINST), weighed(OPEN, reachable=False)], REFUTED),
        ([weighed(OPEN), weighed(OPEN, reachable=False)], UNDECIDED),
        ([weighed(OPEN, reachable=False)], OUT_OF_REACH),
        ([weighed(FOR), [Weighed(AGAINST, "", counts=False)]], HOLDS),
        ([[Weighed(FOR, "", counts=False)]], UNDECIDED),
        ([weighed(FOR, own=TABLE), weighed(FOR, own=TABLE)], CONSISTENT),
        ([weighed(FOR, own=TABLE), weighed(FOR)], HOLDS),
        ([weighed(FOR, own=TABLE), weighed(OPEN)], CONSISTENT_IN_PART),
        ([weighed(FOR, own=TABLE), weighed(AGAINST)], CONSISTENT_IN_PART),
        ([weighed(FOR, own=TABLE), weighed(FOR, AGAINST)], CONSISTENT_IN_PART),
        ([weighed(FOR, own=TABLE), weighed(FOR), weighed(AGAINST)], IN_PART),
    ],
)
def test_how_aspects_add_up(aspects: list[list[Weighed]], word: str) -> None:
    assert verdict(aspects) == word


def test_only_a_claims_own_paper_makes_a_figure_its_own() -> None:
    evidence = [Beats("CSD Lumina", "GSD", "SJD", "calls")]
    sources = ("CSD (arXiv 2606.27829), experiments", "GSD (arXiv 2508.07747)")
    claims = [Claim("C00", "made up", source, {"it": evidence}) for source in sources]
    assert [result.verdict for result in settle(claims, STATED)] == [CONSISTENT, HOLDS]


def test_only_what_the_own_paper_prints_supports_a_claim_that_is_consistent_with_its_own_table() -> None:
    found = [result for result in settle(CLAIMS, STATED) if result.verdict in (CONSISTENT, CONSISTENT_IN_PART)]
    assert len(found) > 5
    for result in found:
        supporting = [line for line in result.evidence_lines if line.startswith(f"{FOR}, ")]
        assert all(f"({result.source.partition(',')[0]}, " in line for line in supporting)


def test_a_better_residual_of_a_block_refutes_and_a_worse_one_proves_nothing() -> None:
    """By hand: 3/5 with G*, 7/12 with (0, 0, 1) in the second slot."""
    assert (BLOCK.error(False), BLOCK.error(True)) == (Fraction(3, 5), Fraction(7, 12))
    assert BLOCK.weigh(CONTEXT).stance == AGAINST
    assert replace(BLOCK, rival=(("0", "1", "0"), ("1", "0", "0"))).weigh(CONTEXT).stance == OPEN
    alone = BlockResidual(BLOCK.target[1:], BLOCK.draft[1:], BLOCK.keep[1:], BLOCK.rival[1:])
    assert alone.error(False) <= alone.error(True)
    assert alone.weigh(CONTEXT).stance == OPEN


@pytest.mark.parametrize(
    ("rule", "tokens", "stance"),
    [
        (ContentAwareUnmasked(), 1000, AGAINST),
        (ContentAwareUnmasked(delta=0.1), 1000, OPEN),
        (Strict(), 1000, OPEN),
        (Lenient(1.3), 2, OPEN),
    ],
)
def test_a_flat_draft_that_is_relaxed_refutes_confidence(rule: object, tokens: int, stance: str) -> None:
    """TV is 1/10, so a filter at .1 is shut; of two tokens the likelier has 3/5, which is confident."""
    assert Fraction(3, 5) > LIKELY
    assert OnlyConfident(rule, tokens, "1/5").weigh(CONTEXT).stance == stance


def test_variances_of_calls_are_compared_exactly() -> None:
    maximal, independent = Jacobi(3, "maximal"), Jacobi(3, "independent")
    pairs = [(maximal, independent), (independent, maximal), (maximal, maximal)]
    assert [SteadierCalls("digits", *pair).weigh(CONTEXT).stance for pair in pairs] == [FOR, AGAINST, OPEN]


def test_measured_systems_are_shown_by_their_whole_names() -> None:
    lines = [line for result in settle(CLAIMS, STATED) for line in result.evidence_lines if "(results/ab" in line]
    assert len(lines) > 40
    assert all(line.count("(") == line.count(")") for line in lines)


def test_what_is_printed_stands_for_all_that_rounds_to_it() -> None:
    assert read("2.60") == Interval(Fraction("2.595"), Fraction("2.605"))
    assert read("2390").high - read("2390").low == 1
    assert ratio("SCD Lumina", "AR", "SCD-GS", "seconds", "4.21").weigh(CONTEXT).stance == FOR
    assert ratio("SCD Lumina", "AR", "SCD-GS", "seconds", "4.22").weigh(CONTEXT).stance == AGAINST


def test_every_published_figure_is_a_number_with_a_direction() -> None:
    for table in PUBLISHED.values():
        assert "arXiv" in table.source
        for row in table.rows.values():
            assert all(read(digits).low > 0 and figure in LOWER_IS_BETTER for figure, digits in row.items())


def test_better_means_lower_or_higher_as_the_figure_says() -> None:
    assert Beats("CSD Lumina", "SJD", "CSD", "fid").weigh(CONTEXT).stance == FOR
    assert Beats("CSD Lumina", "CSD", "EAGLE", "clip").weigh(CONTEXT).stance == AGAINST
    assert Beats("CSD Lumina", "CSD", "EAGLE", "fid").weigh(CONTEXT).stance == OPEN
    assert [Beats("CSD Lumina", "CSD", "CSD", "fid", ties).weigh(CONTEXT).stance for ties in (False, True)] == [
        AGAINST,
        FOR,
    ]


def test_a_limit_that_cuts_through_the_rounding_is_left_open() -> None:
    stances = [
        Within("time", "SCD Lumina", lambda at: at("AR", "seconds"), most, "a test").weigh(CONTEXT).stance
        for most in ("103", "102.03", "101")
    ]
    assert stances == [FOR, OPEN, AGAINST]


def test_a_text_that_orders_one_thing_two_ways_contradicts_itself() -> None:
    assert word_of(SameOrder("", "here", "there")) == INCONSISTENT
    assert word_of(SameOrder("", "here", "here")) == HOLDS
    assert word_of(Unseen("nobody knows")) == OUT_OF_REACH


def test_every_rule_has_a_row_that_says_whether_it_is_on_the_line() -> None:
    """A rule that is new in RULES needs a row in ON_LINE or OFF_LINE of T20."""
    found = {type(row.rules[0]).__name__ for row in (*ON_LINE, *OFF_LINE)}
    assert found == set(RULES)
    assert all(len({type(rule) for rule in row.rules}) == 1 for row in (*ON_LINE, *OFF_LINE))
