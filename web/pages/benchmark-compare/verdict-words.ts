import type {
  CaseComparison,
  FenceEvidence,
  PairsEvidence,
  Verdict,
} from "#api/benchmark-comparison.ts";
import { changeText, magnitudeWords, percentText } from "../benchmarks/figure-text.ts";

interface Said {
  readonly words: string;
  readonly sign: string;
  /** The state whose colour is used; the sign and the words have the same meaning. */
  readonly colour: string;
}

export const verdicts: Readonly<Record<Verdict, Said>> = {
  regressed: { words: "regressed", sign: "✗", colour: "is-failed" },
  improved: { words: "improved", sign: "✓", colour: "is-succeeded" },
  "no-change": { words: "no change", sign: "=", colour: "is-cancelled" },
  undecided: { words: "undecided", sign: "?", colour: "is-queued" },
  "unlike-machines": { words: "unlike machines", sign: "≁", colour: "is-unreachable" },
};

/** Returns the stated change of a case, as on the farm: for interleaved processes, the estimate with an interval. */
export function statedChange({ change, evidence }: CaseComparison): number | null {
  return evidence.by === "pairs" ? evidence.effect : change;
}

/** `regressed, medium, not confirmed yet`. */
export function verdictText(of: CaseComparison): string {
  const { evidence, magnitude, significant, verdict } = of;
  return [
    verdicts[verdict].words,
    significant && magnitude > 0 ? (magnitudeWords[magnitude] ?? "") : "",
    evidence.by === "pairs" && evidence.confirmed !== null
      ? evidence.confirmed
        ? "confirmed"
        : "not confirmed"
      : "",
  ]
    .filter((word) => word !== "")
    .join(", ");
}

/** Describes the evidence of a verdict, in short. */
export function evidenceText({ change, evidence }: CaseComparison): string {
  switch (evidence.by) {
    case "hint":
      return "no verdict: only minimum values";
    case "fence":
      if (evidence.exact) return "the same number";
      return evidence.threshold === 0
        ? "every difference counts"
        : `threshold ${percentText(evidence.threshold)}${change === null ? "" : ` · ${factorText(evidence.factor)}`}`;
    case "pairs":
      return `${changeText(evidence.low)} … ${changeText(evidence.high)}`;
  }
}

/** The same in sentences. */
export function evidenceSentence({ evidence }: CaseComparison): string {
  switch (evidence.by) {
    case "hint":
      return "There is no verdict. The metric is noisy and only the minimum of some runs is known, so the difference may be chance. To get a verdict, measure interleaved pairs.";
    case "fence":
      if (evidence.exact) return "Both figures are equal.";
      if (evidence.threshold === 0) return "The metric is exact: every difference counts.";
      return evidence.history === 0
        ? `${scatterText(evidence)} The change is ${factorText(evidence.factor)} of the threshold of ${percentText(evidence.threshold)}.`
        : `${evidence.history} earlier artifacts differ from each other by less than ${percentText(evidence.threshold)}; the change is ${factorText(evidence.factor)} of that.`;
    case "pairs":
      return [
        `${evidence.pairs} interleaved pairs: the change is ${changeText(evidence.effect)}, with ${levelText(evidence.level)} certainty between ${changeText(evidence.low)} and ${changeText(evidence.high)}.`,
        `Changes below ${percentText(evidence.limit)} are irrelevant here.`,
        evidence.p === null
          ? ""
          : `If nothing had changed, the probability of this result would be p ${chanceText(evidence.adjustedP ?? evidence.p)}${evidence.adjustedP === null ? "" : ", adjusted for the number of cases"}.`,
        evidence.confirmed === null
          ? ""
          : evidence.confirmed
            ? `An independent rerun confirms it${rerunText(evidence)}.`
            : `An independent rerun did not confirm it${rerunText(evidence)}.`,
      ]
        .filter((each) => each !== "")
        .join(" ");
  }
}

/** Describes the observed scatter of a count. Old reports do not contain it. */
function scatterText({ scatter }: FenceEvidence): string {
  const { before = null, after = null, selfTests = null } = scatter ?? {};
  const seen = [
    before === null ? "" : `runs of the earlier artifact differ by ${percentText(before)}`,
    after === null ? "" : `runs of the later artifact by ${percentText(after)}`,
    selfTests === null ? "" : `equal artifacts in self-tests by ${percentText(selfTests)}`,
  ].filter((each) => each !== "");
  if (scatter === undefined) return "Too little history: the default threshold was used.";
  if (seen.length === 0) return "Each artifact was measured once: the noise is not known.";
  return `Too little history; ${seen.join(", ")}.`;
}

/** Old reports do not contain the measurements of their rerun. */
function rerunText({ again }: PairsEvidence): string {
  if (!again) return "";
  return `: ${again.pairs} pairs, ${changeText(again.effect)}, with ${levelText(again.level)} certainty between ${changeText(again.low)} and ${changeText(again.high)}`;
}

/** Old reports have intervals of 99 %. */
function levelText(level = 0.99): string {
  return `${(100 * level).toFixed(1).replace(/\.0$/, "")} %`;
}

function factorText(factor: number): string {
  return `${factor.toLocaleString("en", { maximumSignificantDigits: 2 })}×`;
}

function chanceText(p: number): string {
  return p < 0.001 ? "< 0.001" : p.toLocaleString("en", { maximumSignificantDigits: 2 });
}
