import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { CommandSchema } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { type KeyParts, keyOf, mayBePersistent } from "./may-be-persistent.ts";

type Request = Parameters<typeof mayBePersistent>[0];
type Machine = Parameters<typeof mayBePersistent>[1];

const command = create(CommandSchema, { arguments: ["tool", "@flags"], outputPaths: ["out/a"] });
const request: Request = {
  command,
  timeoutMs: 1_000,
  network: false,
  image: undefined,
  services: [],
  limits: { processes: 1 },
  rules: undefined,
  token: undefined,
  secrets: [],
  persistent: { key: "k", protocol: "proto" },
  registryLogins: [],
};
const machine: Machine = { most: 1, seesLaterMounts: true, limiter: "cgroup-v2" };

test("an action that asks for it may be served by a persistent process", () => {
  expect(mayBePersistent(request, machine)).toMatchObject({
    kind: "persistent",
    startup: ["tool", "--persistent_worker"],
  });
});

test.each<[string, Partial<Request>, Partial<Machine>]>([
  ["a worker that keeps no processes", {}, { most: 0 }],
  ["a sandbox without later mounts", {}, { seesLaterMounts: false }],
  ["CPUs without control groups", { limits: { processes: 1, cpus: 1 } }, { limiter: "proc" }],
  ["an action that does not ask", { persistent: undefined }, {}],
  ["network access", { network: true }, {}],
  ["secrets", { secrets: [{ name: "s" }] as never }, {}],
  ["a token", { token: { value: "t", rights: {} as never } }, {}],
  ["rules for its output", { rules: {} as never }, {}],
  ["a working directory", { command: { ...command, workingDirectory: "a" } }, {}],
  ["an output in the root", { command: { ...command, outputPaths: ["a"] } }, {}],
  ["no file of arguments", { command: { ...command, arguments: ["tool"] } }, {}],
])("%s is a reason for the ordinary way", (_, changed, otherMachine) => {
  const choice = mayBePersistent({ ...request, ...changed }, { ...machine, ...otherMachine });

  expect(choice.kind).toBe("ordinary");
});

const parts: KeyParts = {
  project: "p",
  domain: "protected",
  clientKey: "k",
  protocol: "proto",
  startup: ["tool"],
  environment: new Map([
    ["A", "1"],
    ["B", "2"],
  ]),
  limits: { processes: 1 },
  sandbox: "bubblewrap",
  image: undefined,
  shellGeneration: 1,
  tools: "t",
};

test.each<Partial<KeyParts>>([
  { project: "q" },
  { domain: "pr/1@r" },
  { clientKey: "l" },
  { protocol: "json" },
  { startup: ["tool", "-v"] },
  { environment: new Map([["A", "1"]]) },
  { limits: { processes: 1, memoryBytes: 1 } },
  { sandbox: "namespaces" },
  { image: "/images/1/root" },
  { shellGeneration: 2 },
  { tools: "u" },
])("actions with a different %o have different processes", (changed) => {
  expect(keyOf({ ...parts, ...changed })).not.toBe(keyOf(parts));
});

test("the order of variables makes no difference", () => {
  const environment = new Map([...parts.environment].toReversed());

  expect(keyOf({ ...parts, environment })).toBe(keyOf(parts));
});
