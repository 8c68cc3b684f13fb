import { expect, test } from "vitest";
import { readServerConfig } from "./config.ts";

test.each([
  { written: undefined, bytes: undefined },
  { written: "", bytes: undefined },
  { written: "0", bytes: 0 },
  { written: "200G", bytes: 200 * 1024 ** 3 },
  { written: "1.5TB", bytes: 1.5e12 },
])("GRANGE_STORE_LIMIT=$written is a limit of $bytes bytes", ({ written, bytes }) => {
  const env = written === undefined ? {} : { GRANGE_STORE_LIMIT: written };
  expect(readServerConfig({}, env).storeLimitBytes).toBe(bytes);
});

test("what is given on the command line goes before the environment", () => {
  const config = readServerConfig({ storeLimitBytes: "1G" }, { GRANGE_STORE_LIMIT: "2G" });
  expect(config.storeLimitBytes).toBe(1024 ** 3);
});

test.each(["many", "200", "-1G"])("a limit of %s is refused with what to write", (written) => {
  expect(() => readServerConfig({}, { GRANGE_STORE_LIMIT: written })).toThrow(/such as 200G/);
});

test("a client waits 15 minutes for a worker that does not exist, or as long as is said", () => {
  expect(readServerConfig({}, {}).unservedMs).toBe(15 * 60_000);
  expect(readServerConfig({}, { GRANGE_UNSERVED_MS: "30000" }).unservedMs).toBe(30_000);
  expect(() => readServerConfig({}, { GRANGE_UNSERVED_MS: "0" })).toThrow(/unservedMs/);
});

test.each([
  { written: undefined, bytes: 64 * 1024 ** 2 },
  { written: "256M", bytes: 256 * 1024 ** 2 },
])("GRANGE_MESSAGE_MEMORY=$written is $bytes bytes", ({ written, bytes }) => {
  const env = written === undefined ? {} : { GRANGE_MESSAGE_MEMORY: written };
  expect(readServerConfig({}, env).messageMemory).toBe(bytes);
});

test.each(["0", "1M", "much"])("%s is no memory for messages", (written) => {
  expect(() => readServerConfig({}, { GRANGE_MESSAGE_MEMORY: written })).toThrow(/such as 256M/);
});
