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

const keys = { AWS_ACCESS_KEY_ID: "id", AWS_SECRET_ACCESS_KEY: "secret" };

test("blobs are in a bucket when GRANGE_STORE names one, and else in a directory", () => {
  expect(readServerConfig({}, keys).bucket).toBeUndefined();
  const env = { ...keys, GRANGE_STORE: "s3://farm/a/b/", GRANGE_STORE_ENDPOINT: "http://s3:9000" };

  expect(readServerConfig({}, env).bucket).toEqual({
    location: {
      bucket: "farm",
      prefix: "a/b/",
      endpoint: new URL("http://s3:9000"),
      region: "us-east-1",
      credentials: { kind: "given", accessKeyId: "id", secretAccessKey: "secret" },
    },
    cacheBytes: undefined,
  });
});

test.each([
  [{ ...keys, GRANGE_STORE: "https://farm/a" }, /must be s3:\/\/BUCKET/],
  [{ ...keys, GRANGE_STORE: "s3://farm/../b" }, /must be s3:\/\/BUCKET/],
  [{ GRANGE_STORE: "s3://farm" }, /AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a file/],
  [{ ...keys, GRANGE_STORE: "s3://farm", GRANGE_STORE_ENDPOINT: "s3:9000" }, /http or https/],
  [{ ...keys, GRANGE_STORE: "s3://farm", GRANGE_STORE_CACHE: "1M" }, /at least 64M/],
])("%j is no bucket", (env, problem) => {
  expect(() => readServerConfig({}, env)).toThrow(problem);
});

test.each([
  { written: undefined, expected: true },
  { written: "1", expected: true },
  { written: "0", expected: false },
])("GRANGE_PREPARE_JOBS=$written prepares jobs: $expected", ({ written, expected }) => {
  const env = { GRANGE_DATABASE_URL: "postgres://db/grange", GRANGE_PREPARE_JOBS: written };
  expect(readServerConfig({}, env).preparesJobs).toBe(expected);
});

test("a server that leaves jobs to others needs a database that others can share", () => {
  expect(() => readServerConfig({}, { GRANGE_PREPARE_JOBS: "0" })).toThrow(
    /GRANGE_PREPARE_JOBS=0 .* without GRANGE_DATABASE_URL/,
  );
});
