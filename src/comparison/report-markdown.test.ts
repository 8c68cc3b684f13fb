import { describe, expect, test } from "vitest";
import { compareArtifacts } from "./compare-artifacts.ts";
import {
  aCase,
  instructions,
  measured,
  pairedTimes,
  size,
  time,
  toCompare,
} from "./measured.fixture.ts";
import { asPercent } from "./percent-text.ts";
import { type ReportToWrite, reportMarkdown } from "./report-markdown.ts";
import { overallDirection, verdictSentence } from "./verdict-sentence.ts";

const metrics = [instructions, size, time];

function told(input: Parameters<typeof toCompare>[0]): ReportToWrite {
  const { summaries, cases, missing, newlyBroken } = compareArtifacts(
    toCompare({ metrics, ...input }),
  );
  return {
    suite: "typescript",
    before: "5.8.3",
    after: "5.9.3",
    metrics,
    deciding: metrics.map(({ name }) => name),
    summaries,
    changes: cases.filter(({ relevant }) => relevant),
    missing,
    newlyBroken,
    reproduce: "grange bench compare 5.8.3 5.9.3",
  };
}

const quiet = told({
  before: [measured({ instructions: 5, size: 7 })],
  after: [measured({ instructions: 5, size: 7 })],
});
const loud = told({
  before: [
    measured({ instructions: 1_000, size: 7 }),
    measured({ instructions: 1 }, { case: aCase("gone") }),
  ],
  after: [measured({ instructions: 1_042, size: 7 })],
  pairs: [pairedTimes(-0.1), pairedTimes(-0.1, { purpose: "confirm", seed: 2 })],
  errors: { before: [], after: [{ benchmark: "gone", case: null, message: "exit code 1\nmore" }] },
});

describe("the sentence", () => {
  test("reports that nothing changed", () => {
    expect(overallDirection(quiet)).toBe("none");
    expect(verdictSentence(quiet)).toBe("No relevant change.");
  });

  test("contains all important results", () => {
    expect(overallDirection(loud)).toBe("mixed");
    expect(verdictSentence(loud)).toMatch(
      /^Regressions and improvements: instructions 1 case worse \(\+4\.20 %\); time 1 case better \(-\d+\.\d+ %\)\. Gone newly fails; 1 case has figures for only one artifact\. Please check it\.$/,
    );
  });

  test("removes control sequences of terminals", () => {
    const hostile = { ...loud, newlyBroken: [{ benchmark: "\u001b[2Jx\u202ey", message: "" }] };

    // oxlint-disable-next-line no-control-regex
    expect(verdictSentence(hostile)).not.toMatch(/[\u0000-\u001f\u202e]/);
  });
});

describe("the report", () => {
  test("has the verdict, tables, the largest changes, missing cases and the command that shows it again", () => {
    const text = reportMarkdown(loud);

    expect(text).toContain("### Benchmarks of `typescript`: `5.8.3` → `5.9.3`");
    expect(text).toContain(
      "| Regressions (primary) | +4.20 % | +4.20 % | [+4.20 %, +4.20 %] | 1 |",
    );
    expect(text).toContain("| Improvements (primary) | – | – | – | 0 |");
    expect(text).toContain("21.0 × the threshold of 0.20 %");
    expect(text).toMatch(/\[-\d+\.\d+ %, -\d\.\d+ %\] at 99\.2 %, 10 pairs, confirmed/);
    expect(text).toContain("Of 1 change of noisy metrics, 1 was confirmed");
    expect(text).toContain("No relevant results: `size`.");
    expect(text).toContain("- `gone`: `exit code 1`");
    expect(text).toContain("none after (`exit code 1`)");
    expect(text).toContain("`grange bench compare 5.8.3 5.9.3`");
  });

  test("keeps every name inside its code span", () => {
    const evil = "x` @everyone <img src=x onerror=alert(1)> | [a](javascript:b) #1\n\n# big";
    const text = reportMarkdown({
      ...loud,
      suite: evil,
      after: evil,
      reproduce: evil,
      newlyBroken: [{ benchmark: evil, message: evil }],
      missing: [{ case: aCase(), missing: "after", error: evil }],
      changes: loud.changes.map((each) => ({ ...each, case: { ...each.case, benchmark: evil } })),
    });
    const outside = text.replaceAll(/`[^`\n]*`/g, "");

    expect(outside).not.toMatch(/@everyone|<img|javascript|big|#1/);
    for (const row of text.split("\n").filter((line) => line.startsWith("| regressed"))) {
      expect(row.split("|")).toHaveLength(7);
    }
  });

  test("is short enough for a comment", () => {
    const many = Array.from({ length: 2_000 }, (_, i) => i);
    const text = reportMarkdown({
      ...loud,
      newlyBroken: many.map((i) => ({ benchmark: `b${i}`, message: "x".repeat(10_000) })),
      missing: many.map((i) => ({
        case: aCase(`b${i}`),
        missing: "after",
        error: "y".repeat(10_000),
      })),
    });

    expect(text.length).toBeLessThan(20_000);
    expect(text).toContain("and 1980 more");
  });
});

test.each([
  { change: 0.042, text: "+4.20 %" },
  { change: -0.125, text: "-12.5 %" },
  { change: 0, text: "0 %" },
  { change: 0.000_01, text: "+<0.01 %" },
  { change: 123, text: "+1.2e+4 %" },
  { change: null, text: "from nothing" },
])("$change reads $text", ({ change, text }) => {
  expect(asPercent(change)).toBe(text);
});
