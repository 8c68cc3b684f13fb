import { afterAll, beforeAll, expect, test } from "vitest";
import type { Retention } from "#api/retention.ts";
import { type Farm, startFarm } from "../support/farm.ts";
import { grangeJson, runGrange } from "../support/run-grange.ts";
import { type SampleRepository, sampleRepository } from "../support/sample-repository.ts";

let farm: Farm;
let repository: SampleRepository;

beforeAll(async () => {
  [farm, repository] = await Promise.all([
    startFarm({ workers: 0 }),
    sampleRepository({ ".grange/farm.yml": "version: 1\njobs:\n  all: { kind: join }\n" }),
  ]);
});
afterAll(async () => {
  await farm.stop();
  await repository.remove();
});

const retention = (...args: string[]) =>
  grangeJson(["retention", ...args, "--server", farm.url]) as Promise<Retention>;

test("rules and ages are set, shown and removed", async () => {
  await retention("set", "--branch", "topic/*", "--keep", "30d", "--newest", "5", "--most", "9");
  await retention("age", "audit", "365d");

  const { stdout } = await runGrange(["retention", "show", "--server", farm.url]);
  expect(stdout).toMatch(/\*\s+topic\/\*\s+30 d\s+5\s+9\s+anyone/);
  expect(stdout).toMatch(/\*\s+@protected\s+forever/);
  expect(stdout).toMatch(/audit\s+365 d\s+anyone/);

  const { rules } = await retention("remove", "--branch", "topic/*");
  expect(rules.map(({ branch }) => branch)).toEqual(["*", "@protected"]);
});

test("a label that keeps a graph can be added and removed", async () => {
  const { id } = await farm.submit({ repository: repository.path });

  const held = await retention("hold", id.slice(0, 8), "--label", "case-17", "--why", "an audit");
  expect(held.holds).toMatchObject([{ graph: id, label: "case-17", why: "an audit" }]);

  expect((await retention("release", id, "--label", "case-17")).holds).toEqual([]);
});

test.each([
  { args: ["set", "--keep", "soon"], code: 2, told: /a time such as 90d or 12h, or `forever`/ },
  { args: ["set", "--branch", "x"], code: 2, told: /--keep/ },
  { args: ["age", "graphs", "1d"], code: 2, told: /executions, invocations, audit/ },
  {
    args: ["set", "--keep", "1d", "--newest", "5", "--most", "4"],
    code: 1,
    told: /must not be less/,
  },
])("retention $args is refused with what to write", async ({ args, code, told }) => {
  const refused = await runGrange(["retention", ...args, "--server", farm.url]);

  expect(refused.code).toBe(code);
  expect(refused.stderr).toMatch(told);
});
