"""From the results of all models on a probing suite to everything that a board says about them.

All cells of an anchor set share the draws of its patients or lesions, so that differences, ranks and gaps are paired.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from evaluation.probe_types import ProbeSuiteSpec
from evaluation.statistics.bootstrap import RESAMPLES, SEED, FloatArray
from evaluation.statistics.clusters import cluster_replicates
from evaluation.statistics.ranks import rank_intervals, tie_groups
from evaluation.suites.medtec import board_rows
from evaluation.suites.medtec.analyses.checks import probe_checks, with_null
from evaluation.suites.medtec.analyses.closed_questions import closed_question_table
from evaluation.suites.medtec.analyses.facts import FLAGS
from evaluation.suites.medtec.analyses.intervals import drawn, with_intervals
from evaluation.suites.medtec.analyses.levels import ceilings, level_profile
from evaluation.suites.medtec.analyses.negation import negation_counts
from evaluation.suites.medtec.analyses.protocols import protocol_agreements, protocol_rankings
from evaluation.suites.medtec.analyses.sample_size import sample_size_table
from evaluation.suites.medtec.analyses.styles import style_spread, style_summary
from evaluation.suites.medtec.analyses.subgroups import group_members, missing_attributes, subgroup_tables
from evaluation.suites.medtec.board import ProbeBoard
from evaluation.suites.medtec.board_frames import Row, columns_of, joined, rows_of
from evaluation.suites.medtec.evidence import (
    BLIND_COLUMNS,
    AnchorEvidence,
    BoardMaterial,
    Results,
    anchor_evidence,
    blind_baselines,
    comparable_results,
    question_figures,
)
from evaluation.suites.medtec.protocol_scores import comparisons, protocol_scores


@dataclass(slots=True)
class _Tables:
    """The tables of the anchor sets, as they are found."""

    cells: list[pd.DataFrame] = field(default_factory=list)
    subgroups: list[pd.DataFrame] = field(default_factory=list)
    gaps: list[pd.DataFrame] = field(default_factory=list)
    missing: list[pd.DataFrame] = field(default_factory=list)
    sizes: list[pd.DataFrame] = field(default_factory=list)
    blind: list[pd.DataFrame] = field(default_factory=list)


def probe_board(
    suite: ProbeSuiteSpec,
    results: Results,
    material: BoardMaterial,
    *,
    suite_sha256: str,
    resamples: int = RESAMPLES,
) -> ProbeBoard:
    """Scores, intervals, ranks, tie groups and analyses of all models on a probing suite.

    Args:
        suite: declares the tasks.
        results: by the key of a model and the name of a task, the model first that decides least on which data are
            compared (see `comparable_results`).
        material: anchor sets, patients and probe sets of the suite.
        suite_sha256: of the suite's manifest.
        resamples: of the bootstrap.

    Raises:
        TaskUnknown: a model has a task that the suite does not have.
        DataMissing: the anchor set or the patients of a task are not given.
        ResultInvalid: a result lacks a metric, or is of other anchors or patients than the material.
        SuiteInvalid: an anchor's skin tone is no Fitzpatrick type.
    """
    comparable, left_out = comparable_results(suite, results)
    tables = _Tables()
    for evidence in anchor_evidence(suite, comparable, material):
        _analyse(evidence, comparable, tables, resamples=resamples)
    cells = joined(tables.cells, [*columns_of(board_rows.ProbeCell), *FLAGS]).astype(dict.fromkeys(FLAGS, bool))
    spread = style_spread(cells)
    standings, agreements = _protocols(suite, comparable, material, resamples=resamples)
    return ProbeBoard(
        suite=suite.slug,
        version=suite.version,
        suite_sha256=suite_sha256,
        seed=SEED,
        resamples=resamples,
        models=tuple(sorted(results)),
        left_out=left_out,
        cells=rows_of(board_rows.ProbeCell, cells),
        ceilings=rows_of(board_rows.Ceiling, ceilings(level_profile(cells))),
        styles=rows_of(board_rows.StyleSpread, spread),
        style_summary=rows_of(board_rows.StyleSummary, style_summary(spread))[0],
        negation=rows_of(board_rows.NegationCount, negation_counts(cells)),
        subgroups=_rows(board_rows.Subgroup, tables.subgroups),
        subgroup_gaps=_rows(board_rows.SubgroupGap, tables.gaps),
        missing_attributes=_rows(board_rows.MissingAttribute, tables.missing),
        sample_size=_rows(board_rows.SampleSize, tables.sizes),
        closed_questions=rows_of(
            board_rows.ClosedQuestions, closed_question_table(question_figures(suite, comparable))
        ),
        protocols=_rows(board_rows.ProtocolStanding, standings),
        agreements=_rows(board_rows.ProtocolAgreement, agreements),
        checks=rows_of(board_rows.ProbeCheck, probe_checks(material.probe_sets)),
        blind_baselines=rows_of(board_rows.BlindBaseline, with_null(joined(tables.blind, BLIND_COLUMNS))),
    )


def _analyse(evidence: AnchorEvidence, results: Results, tables: _Tables, *, resamples: int) -> None:
    """All tables of one anchor set."""
    anchors = evidence.anchors
    resample = partial(
        _masked_replicates, clusters=anchors["cluster"].tolist(), stratum=evidence.anchor_set.name, resamples=resamples
    )
    replicates = resample(evidence.scores)
    tables.cells.append(_ranked(with_intervals(evidence.cells, replicates), replicates))
    main = evidence.cells["is_main"].to_numpy(dtype=bool)
    own, scores = evidence.cells[main], evidence.scores[main]
    if not len(own):
        return
    groups, gaps = subgroup_tables(own, scores, anchors, resample=resample)
    tables.subgroups.append(groups)
    tables.gaps.append(gaps)
    tables.missing.append(
        missing_attributes(group_members(anchors)).assign(
            modality=evidence.anchor_set.modality, dataset=own["dataset"].iloc[0]
        )
    )
    tables.sizes.append(
        sample_size_table(
            own,
            scores,
            name=evidence.anchor_set.name,
            clusters=anchors["cluster"].to_numpy(),
            resample=resample,
        )
    )
    tables.blind.append(blind_baselines(evidence, results))


def _masked_replicates(values: FloatArray, *, clusters: Sequence[str], stratum: str, resamples: int) -> FloatArray:
    return cluster_replicates(
        values, clusters=clusters, stratum=stratum, used=np.isfinite(values), resamples=resamples
    )  # fmt: skip


def _ranked(cells: pd.DataFrame, replicates: FloatArray) -> pd.DataFrame:
    """The cells with the ranks and tie groups of the models within each task."""
    ranks = pd.DataFrame(0, index=cells.index, columns=["rank", "rank_lower", "rank_upper", "tie_group"])
    for rows in cells.groupby("task", sort=False).indices.values():
        shared = drawn(replicates[rows])
        ranks.iloc[rows, :3] = rank_intervals(shared).T
        ranks.iloc[rows, 3] = tie_groups(shared)
    return pd.concat([cells, ranks], axis=1)


def _protocols(
    suite: ProbeSuiteSpec, results: Results, material: BoardMaterial, *, resamples: int
) -> tuple[list[pd.DataFrame], list[pd.DataFrame]]:
    standings, agreements = [], []
    for comparison in comparisons(suite):
        scores = protocol_scores(comparison, results, material, resamples=resamples)
        facts: dict[str, Any] = {"comparison": comparison.name, "same_images": comparison.same_images}
        standings.append(protocol_rankings(scores).assign(**facts))
        agreements.append(protocol_agreements(scores).assign(**facts))
    return standings, agreements


def _rows(kind: type[Row], tables: Sequence[pd.DataFrame]) -> tuple[Row, ...]:
    return rows_of(kind, joined(tables, columns_of(kind)))
