import assert from "node:assert/strict";
import type { Report } from "#api/benchmark-comparison.ts";
import { reportMarkdown } from "#comparison/report-markdown.ts";
import { replies } from "#forge/commands/answer.ts";
import { readCommand } from "#forge/commands/read-command.ts";
import { hasMarker, isUntilReport, withMarker } from "#forge/outbox/marker.ts";
import { longestComment } from "#forge/reports/fit-comment.ts";
import { graphCheck } from "#forge/reports/graph-check.ts";
import { pullComment } from "#forge/reports/pull-comment.ts";
import { aFailedJob, aGraph, aReport, aRequest } from "../../src/forge/reports/told.fixture.ts";
import type { HostileCase, HostileSuite } from "./case.ts";

/**
 * Returns all texts for a forge that contain names from others: the comment, the check run, a reply to a pull request.
 */
function saidWith(evil: string): readonly string[] {
  const bad = aReport(1_100);
  const named = {
    ...bad,
    suite: evil,
    before: evil,
    after: evil,
    reproduce: evil,
    newlyBroken: [{ benchmark: evil, message: evil }],
    missing: [{ case: bad.changes[0]?.case ?? never(), missing: "after" as const, error: evil }],
    changes: bad.changes.map((each) => ({ ...each, case: { ...each.case, benchmark: evil } })),
    summaries: bad.summaries.map((each) => ({ ...each, metric: evil })),
  };
  const markdown = reportMarkdown({ ...named, deciding: [evil], metrics: [] });
  const report: Report = { ...named, verdict: `${evil} fails`, markdown };
  const failed = aFailedJob("job", {
    message: evil,
    failureClass: evil,
    errorLines: [
      { line: 1, text: evil },
      { line: 2, text: `src/a.ts:1 ${evil}` },
    ],
  });
  const check = graphCheck(
    {
      graph: aGraph({ subject: evil, author: evil, rev: evil, branch: evil }),
      others: [],
      failed: [{ ...failed, job: { ...failed.job, name: evil, reason: evil } }],
      url: "https://farm.test/graphs/1",
    },
    { sha: "a".repeat(40), name: "grange", externalId: "x" },
  );
  const reading = readCommand(`@grange ${evil}`);
  const latest = aRequest({ id: "b", suite: evil, artifact: evil, report });
  const earlier = aRequest({
    id: "a",
    suite: evil,
    artifact: evil,
    report,
    createdAt: new Date(0),
  });
  return [
    pullComment([latest, earlier], { isShown: false, most: longestComment })?.body ?? never(),
    check.summary,
    replies.failed(evil).text ?? never(),
    ...(reading.kind === "wrong" ? [replies.wrong(reading.problem, "grange").text ?? never()] : []),
  ];
}

function never(): never {
  throw new Error("it is there");
}

/** Returns the text that a forge interprets as markup: all but code blocks and code spans. */
function outsideCode(text: string): string {
  return (
    text
      .replaceAll(/^(`{3,})text\n[^]*?\n\1$/gm, "")
      .replaceAll(/`[^`\n]*`/g, "")
      // Markup of the farm itself: the fold, and links to the farm.
      .replaceAll(/<\/?(?:details|summary)>/g, "")
      .replaceAll(/\]\(https:\/\/farm\.test\/[^)\s]*\)/g, "")
  );
}

/** Checks that the name is in the text, and only as plain text. */
function nothingOf(name: string, evil: string, sign: RegExp): HostileCase<undefined> {
  return {
    name,
    async run() {
      for (const text of saidWith(evil)) {
        assert.doesNotMatch(outsideCode(text), sign);
        assert.ok(text.length <= longestComment);
        // oxlint-disable-next-line no-control-regex
        assert.doesNotMatch(text, /[\u0000-\u0008\u000b-\u001f\u007f\u202a-\u202e\u2066-\u2069]/);
      }
    },
  };
}

const cases: readonly HostileCase<undefined>[] = [
  nothingOf("a mention of everybody", "@everyone look", /@/),
  nothingOf("a mention of a team", "@octo/everybody", /@/),
  nothingOf("a mention behind a backtick", "x` @octocat `y", /@/),
  nothingOf("a mention behind three backticks and a line break", "```\n@octocat\n```", /@/),
  nothingOf("a reference to another issue", "fixes #1", /#\d/),
  nothingOf("a reference to another repository", "octo/private#12", /#\d/),
  nothingOf("a reference by GH-", "closes GH-12", /GH-/i),
  nothingOf(
    "a commit of another repository",
    "octo/private@0123456789abcdef",
    /@|\b[0-9a-f]{7,}\b|private/,
  ),
  nothingOf("a script", "<script>alert(1)</script>", /[<>]/),
  nothingOf("an image that calls home", "<img src=https://evil.test/x onerror=a>", /[<>]|evil/),
  nothingOf("an image of Markdown's", "![x](https://evil.test/x.png)", /evil|!\[/),
  nothingOf("a link to a script", "[safe](javascript:alert(1))", /javascript/),
  nothingOf("a bare address", "https://evil.test/login", /evil/),
  nothingOf("an address without a scheme", "www.evil.test", /evil/),
  nothingOf("an address of mail", "root@evil.test", /evil|@/),
  nothingOf("the end of a comment of HTML", "--><b>x</b><!--", /[<>]/),
  nothingOf("an entity", "&lt;img&gt; &#64;octocat", /[&;]#?\w+;|@/),
  nothingOf("a heading", "x\n\n# All is well\n\ny", /^# /m),
  nothingOf("a row of a table", "x | y | z |\n|---|---|", /x \| y/),
  nothingOf("the end of a fold", "</details></summary>x<details>", /<[a-z/]/),
  nothingOf("an end of line that is none", "a\u2028# b\u2029c\u0085d", /[\u2028\u2029\u0085]/),
  nothingOf("letters from right to left", "\u202egnp.exe\u2066", /gnp/),
  nothingOf("what steers a terminal", "\u001b]8;;https://evil.test\u0007x\u001b[2J", /evil/),
  nothingOf("a NUL and half a letter", "a\u0000b\ud800c", /\p{Cc}(?<!\n)|\p{Surrogate}/u),
  nothingOf("a task that seems done", "- [x] reviewed by @octocat", /\[x\]|@/),
  nothingOf("ten thousand characters", `${"x".repeat(10_000)}@octocat`, /@|x{1000}/),
  nothingOf("ten thousand backticks", "`".repeat(10_000), /`/),
  nothingOf("a word without letters", "\u200b\u200d\ufeff", /\u200b|\u200d|\ufeff/),
  {
    name: "our own marker, within a report",
    async run() {
      for (const text of saidWith("<!-- grange comment/7 --><!-- until report -->\nx")) {
        const shown = withMarker("reply/1", text);
        assert.equal(hasMarker(shown, "comment/7"), false);
        assert.equal(isUntilReport(shown), false);
      }
    },
  },
  {
    name: "two thousand benchmarks with messages of ten kilobytes",
    async run() {
      const report = aReport(1_100);
      const broken = Array.from({ length: 2_000 }, (_, i) => ({
        benchmark: `b${i}`,
        message: "m".repeat(10_000),
      }));
      const metrics = Array.from({ length: 2_000 }, (_, i) => `metric-${i}-${"n".repeat(150)}`);
      const summaries = metrics.flatMap((metric) =>
        report.summaries.map((each) => ({ ...each, metric })),
      );
      const whole = { ...report, newlyBroken: broken, summaries, deciding: metrics, metrics: [] };
      const markdown = reportMarkdown(whole);
      assert.ok(markdown.length > longestComment);
      const told = pullComment(
        [aRequest({ report: { ...report, newlyBroken: broken, markdown } })],
        { isShown: false, most: longestComment },
      );
      assert.ok(withMarker("comment/7", told?.body ?? "").length <= longestComment);
      assert.match(told?.body ?? "", /parts are left out/);
      assert.match(told?.body ?? "", /^### Benchmarks of `demo`/);
    },
  },
];

export const commentTextSuite: HostileSuite<undefined> = {
  interface: "Commit data in comments and checks",
  atLeast: 20,
  cases,
  open: async () => ({ target: undefined, stop: async () => {} }),
};
