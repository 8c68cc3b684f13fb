import { anyUnpack } from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "vitest";
import type { OutcomeRules } from "#core/outcome-rules.ts";
import { FindingsSchema, Outcome } from "#proto/grange/worker/v1/worker_pb.ts";
import { LogJudge } from "./log-judge.ts";
import { RuleJudge } from "./rule-judge.ts";
import { rulesOfAction } from "./rules-of-action.ts";
import type { Ended } from "./verdict.ts";

const good = { outcome: Outcome.SUCCEEDED, message: "", exitCode: 0 };
const bad = { outcome: Outcome.FAILED, message: "", exitCode: 1 };

async function judged(rules: OutcomeRules, log: string, ended: Ended = good) {
  const judge = new LogJudge(rules);
  await judge.hear(new TextEncoder().encode(log));
  const { findings, ...verdict } = await judge.conclude(ended);
  return { ...verdict, findings: anyUnpack(findings, FindingsSchema) };
}

const coverage: OutcomeRules = {
  numbers: { coverage: { pattern: "^coverage: ([0-9.]+)%", min: 80 } },
};

describe("a number", () => {
  test.each([
    { log: "coverage: 81.5%\n", message: "" },
    { log: "coverage: 71.2%\n", message: "coverage was 71.2, less than 80" },
    { log: "coverage: 90%\ncoverage: 79%\n", message: "coverage was 79, less than 80" },
    { log: "coverage: 1.2.3%\n", message: 'coverage was "1.2.3", no number' },
    {
      log: "nothing\n",
      message: "coverage is missing: no line of the log matches ^coverage: ([0-9.]+)%",
    },
  ])("told as “$log”: “$message”", async ({ log, message }) => {
    const verdict = await judged(coverage, log);

    expect(verdict.message).toBe(message);
    expect(verdict.outcome).toBe(message === "" ? Outcome.SUCCEEDED : Outcome.FAILED);
  });

  test("may have a maximum, and an optional number may be missing", async () => {
    const rules = { numbers: { leaks: { pattern: "^leaked (\\d+)", max: 0, optional: true } } };

    expect((await judged(rules, "fine\n")).outcome).toBe(Outcome.SUCCEEDED);
    expect((await judged(rules, "leaked 3\n")).message).toBe("leaks was 3, more than 0");
  });

  test("is reported with its limits, also when the run failed for another reason", async () => {
    const verdict = await judged(coverage, "coverage: 70%\n", bad);

    expect(verdict.findings?.numbers).toMatchObject([{ name: "coverage", value: 70, min: 80 }]);
    expect(verdict.message).toBe("");
  });
});

test("each pattern of success must appear, and missing ones are named", async () => {
  const rules = { success: ["^ALL TESTS PASSED$", "^bye"] };

  expect(await judged(rules, "ALL TESTS PASSED\nbye\n")).toMatchObject({
    outcome: Outcome.SUCCEEDED,
    message: "",
    failureClass: undefined,
  });
  expect((await judged(rules, "ALL TESTS PASSED?\nbye\n")).message).toBe(
    "no line of the log matches ^ALL TESTS PASSED$",
  );
});

describe("a class of failures", () => {
  const rules: OutcomeRules = {
    failures: {
      crash: { patterns: ["Segmentation fault"] },
      network: { patterns: ["ECONNRESET"], exitCodes: [75] },
      slow: { outcomes: ["timed_out"] },
      leak: { patterns: ["LeakSanitizer"], fails: true },
    },
  };

  test.each([
    { log: "ECONNRESET\nSegmentation fault\n", ended: bad, is: "network" },
    { log: "Segmentation fault\nECONNRESET\n", ended: bad, is: "crash" },
    { log: "", ended: { ...bad, exitCode: 75 }, is: "network" },
    { log: "", ended: { ...bad, outcome: Outcome.TIMED_OUT }, is: "slow" },
    { log: "", ended: bad, is: undefined },
    { log: "ECONNRESET\n", ended: good, is: undefined },
    { log: "ECONNRESET\n", ended: { ...bad, outcome: Outcome.CANCELLED }, is: undefined },
  ])("of “$log” is $is", async ({ log, ended, is }) => {
    const verdict = await judged(rules, log, ended);

    expect(verdict.failureClass).toBe(is);
    expect(verdict.findings?.failureClass).toBe(is ?? "");
    expect(verdict.outcome).toBe(ended.outcome);
  });

  test("makes a run fail that exited with 0, and names the line", async () => {
    expect(await judged(rules, "fine\nLeakSanitizer: 8 bytes\n")).toMatchObject({
      outcome: Outcome.FAILED,
      failureClass: "leak",
      message: 'leak: line 2 says "LeakSanitizer: 8 bytes"',
    });
  });
});

test("error lines are collected with their numbers: the first 50, at most 500 characters of each", async () => {
  const log = Array.from({ length: 80 }, (_, i) => `ok\nerror: ${i} ${"x".repeat(600)}\n`).join("");

  const { findings } = await judged({ errors: ["error:", "^error"] }, log);

  expect(findings?.errorLines).toHaveLength(50);
  expect(findings?.errorLines[1]).toMatchObject({ line: 4n });
  expect(findings?.errorLines[1]?.text).toHaveLength(500);
});

test("lines in which the script prints its own commands do not count", async () => {
  const rules = { success: ["PASSED"], shown: ["$ ./test && echo PASSED"] };

  expect((await judged(rules, "$ ./test && echo PASSED\n")).outcome).toBe(Outcome.FAILED);
  expect((await judged(rules, "$ ./test && echo PASSED\nPASSED\n")).outcome).toBe(
    Outcome.SUCCEEDED,
  );
});

/** Letters a and b in an order that does not repeat. */
function unpredictable(length: number): string {
  let state = 1;
  return Array.from({ length }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state >>> 31 === 0 ? "a" : "b";
  }).join("");
}

describe("a log that is expensive to judge", () => {
  test("is judged up to the budget, and its run does not count as a success", () => {
    // 2^200 states: nearly each character creates a new one.
    const judge = new RuleJudge({ errors: ["[ab]*a[ab]{200}$"] }, { excessMs: 50 });
    const text = unpredictable(4_096);

    // Judging each of the lines would take half an hour.
    for (let number = 1; number <= 100_000; number++) judge.look({ number, text });

    expect(judge.seen.whole).toBe(false);
  });

  test("is one whose lines exceed the allowance together; a single slow line is not", () => {
    let nowMs = 0;
    let lineMs = 0;
    const clock = () => (nowMs += lineMs);
    const judge = new RuleJudge({ errors: ["error"] }, { excessMs: 1_000, nowMs: clock });

    lineMs = 1_000;
    judge.look({ number: 1, text: "error: one" });
    expect(judge.seen.whole).toBe(true);

    judge.look({ number: 2, text: "error: two" });
    judge.look({ number: 3, text: "error: three" });
    expect(judge.seen).toMatchObject({ whole: false, errors: [{ number: 1 }, { number: 2 }] });
  });

  test("such as one with a number ten thousand times in long lines, is also stopped", () => {
    const judge = new RuleJudge(
      { numbers: { n: { pattern: "(.?){120}(\\d+)" } } },
      { excessMs: 50 },
    );

    for (let number = 1; number <= 10_000; number++)
      judge.look({ number, text: `${"ab".repeat(2_000)}7` });

    expect(judge.seen.whole).toBe(false);
  });

  test("does not block other work", async () => {
    const judge = new LogJudge({ errors: ["[ab]*a[ab]{200}$"] });
    let turns = 0;
    let other = setImmediate(function again() {
      turns++;
      other = setImmediate(again);
    });

    for (let i = 0; i < 20; i++) {
      await judge.hear(new TextEncoder().encode(`${i % 10}${unpredictable(4_095)}\n`));
    }
    clearImmediate(other);

    expect(turns).toBeGreaterThanOrEqual(4);
  });
});

describe("the rules of an action", () => {
  test("are read from its platform; without the property there are none", () => {
    expect(rulesOfAction({ OSFamily: "linux" })).toBeUndefined();
    expect(rulesOfAction({ rules: '{"errors":["error:"]}' })).toEqual({ errors: ["error:"] });
  });

  test.each([
    { rules: "{", says: "not JSON" },
    { rules: '{"errors":["(a"]}', says: "not closed" },
    { rules: '{"errors":["(a)\\\\1"]}', says: "back reference" },
    { rules: '{"later":1}', says: "cannot be used" },
    { rules: `{"errors":${JSON.stringify(Array(20).fill("a{400}"))}}`, says: "too large together" },
  ])("$rules are refused", ({ rules, says }) => {
    expect(() => rulesOfAction({ rules })).toThrow(says);
  });
});
