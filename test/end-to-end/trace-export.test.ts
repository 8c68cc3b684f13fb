import { afterAll, beforeAll, expect, test } from "vitest";
import { type Farm, startFarm } from "../support/farm.ts";
import { runGrange } from "../support/run-grange.ts";
import { type SampleRepository, sampleRepository } from "../support/sample-repository.ts";

let farm: Farm;
let repository: SampleRepository;
beforeAll(async () => {
  farm = await startFarm({ workers: 1 });
  repository = await sampleRepository({
    ".grange/farm.yml":
      'version: 1\njobs:\n  one: { commands: "true", inputs: [] }\n  two: { commands: ":", inputs: [] }\n',
  });
});
afterAll(async () => {
  await farm.stop();
  await repository.remove();
});

test("grange trace export prints the farm's classes and executions", async () => {
  await farm.untilOver((await farm.submit({ repository: repository.path })).id);

  const { code, stdout } = await runGrange([
    "trace",
    "export",
    "--since",
    "2h",
    "--server",
    farm.url,
  ]);

  expect(code).toBe(0);
  const [header = "", ...executions] = stdout.trimEnd().split("\n");
  expect(JSON.parse(header)).toMatchObject({ name: "exported", calendarRate: 1 });
  expect(executions).toHaveLength(2);
});
