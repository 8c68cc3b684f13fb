import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { CheckedRight, PrincipalRights, RightsAtPlace, Role } from "#api/access.ts";
import { type Farm, startFarm } from "../support/farm.ts";
import { grangeJson, runGrange } from "../support/run-grange.ts";

let farm: Farm;
beforeAll(async () => {
  farm = await startFarm({ workers: 0 });
});
afterAll(() => farm?.stop());

const run = (...args: string[]) => runGrange([...args, "--server", farm.url]);
const ask = async <Shape extends z.ZodType>(shape: Shape, ...args: string[]) =>
  shape.parse(await grangeJson([...args, "--server", farm.url]));

test("a role is made, given, explained and removed with commands", async () => {
  const set = await run("role", "set", "triage", "read", "cancel");
  const listed = await ask(z.array(Role), "role", "list");
  await run("grant", "add", "bob", "role:triage", "web", "--branch", "try/*");
  const may = await run("grant", "check", "bob", "cancel", "web", "--branch", "try/1");
  const byAnyone = await run("grant", "check", "bob", "submit", "web");
  const explained = await ask(
    CheckedRight,
    "grant",
    "check",
    "bob",
    "read",
    "web",
    "--branch",
    "try/1",
  );
  const taken = await run("role", "remove", "triage");

  expect(set.code).toBe(0);
  expect(listed).toContainEqual(
    expect.objectContaining({ name: "triage", verbs: ["read", "cancel"], builtIn: false }),
  );
  expect(may).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^Yes: bob may cancel on try\/1 of web, by:[^]*role:triage/),
  });
  // The farm is open: bob may submit, because everybody may.
  expect(byAnyone).toMatchObject({ code: 0, stdout: expect.stringContaining("anyone") });
  expect(explained.grants.map(({ principal, verb }) => [principal, verb])).toContainEqual([
    "bob",
    "role:triage",
  ]);
  expect(taken).toMatchObject({ code: 1, stderr: expect.stringContaining("a principal has it") });

  await run("grant", "remove", "bob", "role:triage");
  const removed = await run("role", "remove", "triage");
  const builtIn = await run("role", "set", "viewer", "read");
  const unknown = await run("role", "set", "triage", "look");

  expect(removed.code).toBe(0);
  expect(removed.stdout).not.toContain("triage");
  expect(builtIn).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("choose another name"),
  });
  expect(unknown).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('"look" is not a verb'),
  });
});

test("commands say who may do what at a place, and what somebody may do, and by which grant", async () => {
  await run("grant", "add", "carol", "role:viewer", "web", "api");
  await run("grant", "add", "dave", "cancel", "web", "--branch", "main");

  const atWeb = await ask(RightsAtPlace, "grant", "who", "web");
  const atOther = await run("grant", "who", "other", "read-logs");
  const onBranch = await ask(RightsAtPlace, "grant", "who", "web", "cancel", "--branch", "topic");
  const ofCarol = await ask(PrincipalRights, "grant", "of", "carol");
  const text = await run("grant", "who", "web", "read-logs");
  const wrong = await run("grant", "who", "web", "look");

  const named = ({ principals }: RightsAtPlace) => principals.map(({ name }) => name);
  expect(named(atWeb)).toEqual(expect.arrayContaining(["anyone", "carol", "dave"]));
  expect(atWeb.principals.find(({ name }) => name === "carol")).toMatchObject({
    kind: "person",
    verbs: ["read", "read-logs", "read-sources"],
    grants: [{ verb: "role:viewer", repository: "web" }],
  });
  expect(atOther.stdout).not.toContain("carol");
  expect(named(onBranch)).toEqual(["anyone"]);
  expect(ofCarol.grants.slice(0, 2).map(({ repository, gives }) => [repository, gives])).toEqual([
    ["web", ["read", "read-logs", "read-sources"]],
    ["api", ["read", "read-logs", "read-sources"]],
  ]);
  expect(text.stdout).toMatch(/carol +read, read-logs, read-sources +role:viewer +web/);
  expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('"look" is not a verb') });
});
