import type { Measurement, Row } from "../row.ts";
import { runTests, type TestResult } from "../run-tests.ts";

/** A question that LWR left open, and the tests that answer it. All of them must exist and pass. */
interface Question {
  readonly asks: string;
  readonly file: string;
  /** Prefixes of the tests' titles. */
  readonly tests: readonly string[];
}

const questions: readonly Question[] = [
  {
    asks: "a) A fails, B is skipped; A retriggered passes: B runs, C that was green is stale only",
    file: "src/graphs/reruns/retrigger.test.ts",
    tests: ["retriggered and passed: the skipped one runs, the one that ran is only stale"],
  },
  {
    asks: "b) A and B rerun together: B waits for the new A",
    file: "src/graphs/reruns/retrigger.test.ts",
    tests: ["two that are retriggered together: the one that depends waits for the new run"],
  },
  {
    asks: "c) seven retriggers leave the budget of automatic retries untouched",
    file: "src/graphs/reruns/retrigger.test.ts",
    tests: ["seven retriggers leave the budget for automatic retries as it was"],
  },
  {
    asks: "d) a worker dies in a run: handed out anew, and no end is taken twice",
    file: "src/execution/leasing/lease.test.ts src/execution/queue-races.test.ts",
    tests: [
      "is kept by heartbeats, and its execution is assigned again when they stop",
      "of an end, an expiry and a cancellation at two servers, one takes effect, and the end is announced once",
    ],
  },
  {
    asks: "e) a crash between any two statements leaves nothing torn",
    file: "src/graphs/reruns/retrigger.test.ts",
    tests: ["a server that dies between any two statements of a retrigger leaves nothing of it"],
  },
  {
    asks: "f) release branch: patch, unsigned, too high a priority, release by a stranger: each refused",
    file: "src/graphs/catalogs/may-run-on-branch.test.ts src/graphs/catalogs/admit-catalog.test.ts src/graphs/reruns/release.test.ts",
    tests: [
      "refuses the release of a breakpoint by who has no grant for it there",
      "a protected branch refuses what nobody signed, names it, and runs it once it is signed",
      "a priority above the cap is refused there, and not stored",
      "is released only by those on its list, and only with the grant",
    ],
  },
  {
    asks: "h) waiting times are unaffected by blocked jobs",
    file: "src/graphs/times/times.test.ts",
    tests: ["being blocked counts in no waiting time"],
  },
  {
    asks: "i) a graph is cloned after its expiry",
    file: "src/graphs/reruns/clone-graph.test.ts",
    tests: ["is possible when the original has expired"],
  },
  {
    asks: "j) ten machines, one, ten again on one chunked job: each item once",
    file: "src/graphs/chunks/chunks.test.ts",
    tests: ["is done once, item by item, while ten machines become one and ten again"],
  },
  {
    asks: "k) a low class starts within its bound under endless high load",
    file: "src/execution/claiming/who-goes-first.test.ts",
    tests: [
      "an execution of low priority starts within its bound under endless load of high priority",
    ],
  },
  {
    asks: "l) a catalog pushed twice unchanged has one digest",
    file: "src/graphs/catalogs/catalogs.test.ts",
    tests: ["that is pushed twice unchanged has one digest, and is new once"],
  },
  {
    asks: "m) network cut far beyond the usual lease: the job is unharmed, its log whole",
    file: "test/faults/network-cut.test.ts",
    tests: [
      "a cable that is out for longer than a usual lease costs a worker with a long one nothing",
    ],
  },
  {
    asks: "n) random graphs × random events: state kept = state from scratch, also in the database",
    file: "src/graphs/advancing/step-by-step.test.ts src/graphs/advancing/kept-in-the-database.test.ts",
    tests: [
      "whatever happens in whatever graph: advanced step by step, it is what it would be",
      "what the statements keep is what it would be from scratch, whatever happens",
    ],
  },
];

export const acceptance: Measurement = {
  title: "what LWR left open: acceptance tests a to n (g is the full queue)",
  long: false,
  async measure() {
    const files = new Set(questions.flatMap(({ file }) => file.split(" ")));
    const results = await runTests(...files);
    return questions.map((question) => rowOf(question, results));
  },
};

function rowOf({ asks, file, tests }: Question, results: readonly TestResult[]): Row {
  const problems = tests.flatMap((title) => {
    const test = results.find((each) => each.title.startsWith(title));
    if (test === undefined) return [`there is no test "${title}"`];
    return test.passed ? [] : [test.why];
  });
  return {
    name: asks,
    figure: problems.length === 0 ? "passes" : "fails",
    unit: "",
    goal: "passes",
    holds: problems.length === 0,
    how: problems[0] ?? `npx vitest run ${file}`,
  };
}
