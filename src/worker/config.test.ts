import { expect, test } from "vitest";
import { readWorkerConfig } from "./config.ts";

const gibibyte = 1024 ** 3;
const machine = { cpus: 8, memoryBytes: 33 * gibibyte };
const given = (env: NodeJS.ProcessEnv, told: Parameters<typeof readWorkerConfig>[0] = {}) => {
  const { cpus, memoryBytes } = readWorkerConfig({ slots: 4, ...told }, env, machine);
  return { cpus, memoryBytes };
};

test("a plain worker sets no limits, for any number of slots", () => {
  expect(given({})).toEqual({ cpus: undefined, memoryBytes: undefined });
});

test.each([
  ["by the environment", { GRANGE_WORKER_SIZE_CLASS: "1" }, {}],
  ["by a command line", {}, { sizeClass: 1 }],
])("one that is given a size class %s gives even parts", (_, env, told) => {
  expect(given(env, told)).toEqual({ cpus: 2, memoryBytes: 8 * gibibyte });
});

test("the environment sets the share of a slot, and the command line overrides it", () => {
  const env = { GRANGE_WORKER_CPUS: "1.5", GRANGE_WORKER_MEMORY: "4G" };

  expect(given(env)).toEqual({ cpus: 1.5, memoryBytes: 4 * gibibyte });
  expect(given(env, { cpus: 3 })).toEqual({ cpus: 3, memoryBytes: 4 * gibibyte });
});

test("the whole machine can be given, also with a class", () => {
  const env = { GRANGE_WORKER_SIZE_CLASS: "9", GRANGE_WORKER_MEMORY: "all" };

  expect(given(env)).toEqual({ cpus: 2, memoryBytes: undefined });
  expect(given(env, { cpus: null }).cpus).toBeUndefined();
});

test.each([
  [{ GRANGE_WORKER_MEMORY: "much" }, 'an amount of memory such as "4G"'],
  [{ GRANGE_WORKER_CPUS: "-1" }, "GRANGE_WORKER_CPUS"],
  [{ GRANGE_WORKER_CPUS: "9" }, "it can give at most 8"],
])("%j is refused", (env, says) => {
  expect(() => given(env)).toThrow(says);
});
