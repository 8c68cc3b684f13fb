import { expect, test } from "vitest";
import type { PlannedChange } from "#api/rerun.ts";
import { apiClient } from "./api/api-client.ts";
import { carryOutChange } from "./carry-out-change.ts";
import { readCliConfig } from "./config.ts";
import type { Session } from "./session.ts";
import { type Outlet, openTerminal } from "./terminal/terminal.ts";

const change: PlannedChange = {
  applied: false,
  token: "t.1",
  jobs: [
    {
      graph: "3f2a",
      job: "flaky",
      state: "failed",
      does: "runs",
      cause: "retrigger",
      why: null,
      waitsFor: [],
      times: 20,
      expectedMs: 4_000,
    },
    {
      graph: "3f2a",
      job: "after",
      state: "unreachable",
      does: "is revived",
      cause: "revive",
      why: "skipped because flaky failed",
      waitsFor: ["flaky"],
      times: 1,
      expectedMs: null,
    },
  ],
  totals: { runs: 1, "is revived": 1 },
  expected: {
    runs: 21,
    endToEndMs: 80_000,
    workerMs: 90_000,
    cost: 0.5,
    unknownJobs: 1,
    criticalPath: [],
  },
};

function capturing() {
  const said: string[] = [];
  const outlet: Outlet = {
    ...openTerminal({ noColor: true, terminal: "dumb" }).notes,
    line: (text) => void said.push(text),
  };
  const terminal = { answer: outlet, notes: outlet };
  const session: Session = { config: readCliConfig(), terminal, api: apiClient("http://nowhere") };
  return { said, session };
}

test("where nobody can be asked, what is done is what was shown, by its token", async () => {
  const { said, session } = capturing();
  const asked: object[] = [];

  const exitCode = await carryOutChange(session, {}, async (how) => {
    asked.push(how);
    return { ...change, applied: !how.dryRun };
  });

  expect(exitCode).toBe(0);
  expect(asked).toEqual([{ dryRun: true }, { dryRun: false, token: "t.1" }]);
  expect(said).toEqual([
    "flaky  runs 20 times  about 4.0 s",
    "after  is revived     after flaky",
    "21 runs, about 1 min 20 s from first to last, 1 min 30 s of work (0.50); the duration of 1 job is not known",
    "Done. See: grange status 3f2a",
  ]);
});

test("a dry run asks once, and answers in JSON for programs", async () => {
  const { said, session } = capturing();

  await carryOutChange(session, { dryRun: true, json: true }, async () => change);

  expect(said.map((text) => JSON.parse(text))).toEqual([change]);
});
