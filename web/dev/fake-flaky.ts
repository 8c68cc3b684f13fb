import type { FlakyEntries } from "#api/flaky.ts";

/** Answers made-up flaky jobs of a farm, and one action of a build tool. */
export function fakeFlaky(now: Date, query: URLSearchParams): FlakyEntries {
  const repository = query.get("repository");
  const ago = (minutes: number) => new Date(now.getTime() - minutes * 60_000).toISOString();
  const entries: FlakyEntries["entries"] = [
    {
      kind: "job",
      repository: "grange",
      name: "unit/cas",
      runs: 240,
      failures: 31,
      rate: 0.129,
      low: 0.0925,
      high: 0.1775,
      actions: 9,
      examples: [
        {
          at: ago(34),
          outcome: "failed",
          message: "AssertionError: expected 3 blobs, found 2",
          job: { graph: "past-2", name: "unit/cas", run: 1 },
          execution: null,
          passedIn: "now",
        },
        {
          at: ago(300),
          outcome: "timed_out",
          message: null,
          job: { graph: "past-2", name: "unit/cas", run: 1 },
          execution: null,
          passedIn: null,
        },
      ],
    },
    {
      kind: "action",
      repository: "default",
      name: "TestRunner //net:client_test",
      runs: 12,
      failures: 1,
      rate: 0.083,
      low: 0.0149,
      high: 0.3539,
      actions: 1,
      examples: [
        {
          at: ago(90),
          outcome: "failed",
          message: "connection refused",
          job: null,
          execution: "0199aaaa-0000-7000-8000-000000000001",
          passedIn: null,
        },
      ],
    },
  ];
  return {
    since: ago(Number(query.get("days") ?? 14) * 1_440),
    entries: entries.filter((entry) => repository === null || entry.repository === repository),
  };
}
