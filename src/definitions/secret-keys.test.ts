import { expect, test } from "vitest";
import { secretsProperty } from "#core/platform.ts";
import { JobDefinition } from "./job-definition.ts";

const said = (job: object) =>
  JobDefinition.safeParse({ commands: "x", ...job }).error?.issues.map(({ message }) => message);

test("a job names one secret or several", () => {
  expect(JobDefinition.parse({ commands: "x", secrets: "KEY" }).secrets).toEqual(["KEY"]);
  expect(said({ secrets: ["KEY", "OTHER_KEY"] })).toBeUndefined();
});

test.each([
  [{ secrets: ["KEY", "KEY"] }, "names a secret twice"],
  [{ secrets: "../KEY" }, "a secret's name has"],
  [{ secrets: Array.from({ length: 17 }, (_, i) => `K${i}`) }, "at most 16 secrets"],
  [{ secrets: "KEY", chunks: { items: ["a"] } }, "a job with chunks gets no secrets"],
  [{ secrets: "KEY", outside: true }, "another machine runs is given no secrets"],
  [{ platform: { [secretsProperty]: "KEY@1.1" } }, "only the farm sets this property"],
])("%j is refused", (job, why) => {
  expect(said(job)?.join()).toContain(why);
});

test("a job that runs nothing gets no secrets", () => {
  expect(
    JobDefinition.safeParse({ kind: "join", secrets: "KEY" }).error?.issues[0]?.message,
  ).toContain("remove this");
});
