import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { blocksOf, fitComment, longestComment } from "./fit-comment.ts";
import { type PullRequestToTell, pullComment } from "./pull-comment.ts";
import { aReport, aRequest } from "./told.fixture.ts";

const comment = (
  requests: readonly PullRequestToTell[],
  { isShown = false, most = longestComment } = {},
) => pullComment(requests, { isShown, most });
const day = (n: number) => new Date(Date.UTC(2030, 0, n));

describe("a pull request's comment", () => {
  test("has the verdict first, then links to all figures, tables, and the command to show it", () => {
    const { body, hasRegression } = comment([aRequest()]) ?? {};
    const blocks = blocksOf(body ?? "");

    expect(blocks[0]).toBe("### Benchmarks of `demo`: `5.8.3` → `5.9.3`");
    expect(blocks[1]).toMatch(/^\*\*Regressions: `instructions` 1 case worse \(\+10\.0 %\)/);
    expect(blocks[2]).toBe("[All figures](https://farm.test/benchmarks/requests/22222222)");
    expect(body).toContain("| Regressions (primary) | +10.0 %");
    expect(blocks.at(-1)).toContain("`grange bench compare 5.8.3 5.9.3 --suite demo --server`");
    expect(hasRegression).toBe(true);
  });

  test.each([
    { what: "something improved", request: aRequest({ report: aReport(900) }), label: false },
    {
      what: "something broke",
      request: aRequest({
        report: aReport(1_000, { newlyBroken: [{ benchmark: "b", message: "m" }] }),
      }),
      label: false,
    },
    {
      what: "it was requested",
      request: aRequest({ report: aReport(1_000), wasRequested: true }),
      label: false,
    },
    {
      what: "it was requested, and there was nothing to compare with",
      request: aRequest({ report: undefined, wasRequested: true }),
      label: undefined,
    },
    {
      what: "it was requested, and it failed",
      request: aRequest({ report: undefined, state: "failed", wasRequested: true }),
      label: undefined,
    },
  ])("is there when $what", ({ request, label }) => {
    expect(comment([request])).toMatchObject({ hasRegression: label });
  });

  test.each([
    { what: "nothing changed, without a request", request: aRequest({ report: aReport(1_000) }) },
    { what: "it is not over", request: aRequest({ state: "in-progress", wasRequested: true }) },
    { what: "it was cancelled", request: aRequest({ state: "cancelled", wasRequested: true }) },
    { what: "there was nothing to compare", request: aRequest({ report: undefined }) },
  ])("is not there when $what", ({ request }) => {
    expect(comment([request])).toBeUndefined();
  });

  test("that exists also reports that there are no problems any more", () => {
    const before = aRequest({ id: "a", createdAt: day(1), artifact: "old" });
    const now = aRequest({ id: "b", createdAt: day(2), report: aReport(1_000) });

    const told = comment([before, now], { isShown: true });

    expect(told?.hasRegression).toBe(false);
    expect(told?.body).toContain("**No relevant change.**");
    expect(told?.body).toContain("<details><summary>Measured before: 1</summary>");
    expect(told?.body).toMatch(/- \[`old`\]\(https:.*\): Regressions: instructions/);
  });

  test("has the latest result of each suite, in any order of their ends", () => {
    const older = aRequest({ id: "a", createdAt: day(1), endedAt: day(9) });
    const newer = aRequest({ id: "b", createdAt: day(2), report: aReport(900) });
    const other = aRequest({ id: "c", suite: "other", createdAt: day(1), report: aReport(1_000) });

    const told = comment([older, newer, other]);

    expect(told?.body).toMatch(/^### [^]*\*\*Improvements[^]*### [^]*\*\*No relevant change/);
    expect(told?.hasRegression).toBe(false);
  });

  test("reports that a measurement failed", () => {
    expect(comment([aRequest({ errors: 2 })])?.body).toContain("· 2 things failed while measuring");
  });
});

describe("a text that is too long", () => {
  const huge = aReport(1_100, {
    missing: Array.from({ length: 20 }, (_, i) => ({
      case: {
        section: "compile" as const,
        benchmark: `b${i}`,
        profile: "opt",
        scenario: "full",
        backend: "x",
        target: "y",
      },
      missing: "after" as const,
      error: "e".repeat(10_000),
    })),
  });

  test("is shortened by whole parts, with a note", () => {
    const { body = "" } = comment([aRequest({ report: huge })], { most: 2_000 }) ?? {};

    expect(body.length).toBeLessThanOrEqual(2_000);
    expect(body).toMatch(/^### Benchmarks of/);
    expect(body).toMatch(
      /\*\d+ parts? (is|are) left out: a comment cannot contain all of them\. \[Complete report\]\(https:/,
    );
    expect(body).toContain("To reproduce");
  });

  test("also in a verdict of hundreds of metrics", () => {
    const report = { ...huge, markdown: huge.markdown.replace("Regressions", "R".repeat(70_000)) };

    expect(comment([aRequest({ report })])?.body).toContain(
      "**There are several kinds of changes.**",
    );
  });

  test("fits for any parts, and keeps needed parts and the order", () => {
    const part = fc.record({
      text: fc.string({ maxLength: 400 }).map((text) => text.replaceAll("\n\n", "\n")),
      isNeeded: fc.boolean(),
    });
    fc.assert(
      fc.property(
        fc.array(part, { maxLength: 30 }),
        fc.integer({ min: 200, max: 6_000 }),
        (parts, room) => {
          const needed = parts.filter(({ isNeeded }) => isNeeded).map(({ text }) => text);
          const most = room + needed.reduce((sum, text) => sum + 4 + text.length * 2, 0);
          const text = fitComment(parts, "There.", most);

          expect(text.replaceAll("\n", "\r\n").length).toBeLessThanOrEqual(most);
          let at = 0;
          for (const each of needed) {
            at = text.indexOf(each, at);
            expect(at).toBeGreaterThanOrEqual(0);
          }
        },
      ),
      { numRuns: 500 },
    );
  });

  test("foldable blocks stay complete", () => {
    expect(blocksOf("a\n\n<details>b\n\nc\n\n</details>\n\nd")).toEqual([
      "a",
      "<details>b\n\nc\n\n</details>",
      "d",
    ]);
  });
});
