import { once } from "node:events";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { exitCodeRows } from "#cli/exit-code.ts";
import { runGrange, startGrange } from "../support/run-grange.ts";

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "grange-exit-codes-"));
  await writeFile(join(directory, "not-executable"), "");
  await chmod(join(directory, "not-executable"), 0o644);
});
afterAll(() => rm(directory, { recursive: true, force: true }));

/** No program listens on port 1. */
const nowhere = ["--server", "http://127.0.0.1:1"];
const exec = (...words: string[]) => ["exec", "--no-start", "--", ...words];

interface Case {
  /** The row of the documented table. */
  readonly row: string;
  readonly words: readonly string[];
  readonly code: number;
  readonly says: RegExp;
  readonly env?: Readonly<Record<string, string>>;
}

const cases: readonly Case[] = [
  { row: "0", words: ["--version"], code: 0, says: /\d/ },
  { row: "1", words: ["granary", "status"], code: 1, says: /granary/ },
  { row: "2", words: [], code: 2, says: /Usage: grange/ },
  { row: "2", words: ["stauts"], code: 2, says: /Did you mean status\?/ },
  { row: "2", words: ["status", "--jsno"], code: 2, says: /unknown option '--jsno'/ },
  { row: "2", words: ["logs"], code: 2, says: /missing required argument/ },
  { row: "2", words: ["mcp", "--port", "x"], code: 2, says: /--port/ },
  {
    row: "2",
    words: ["status", "latest"],
    env: { GRANGE_SERVER: "farm" },
    code: 2,
    says: /GRANGE_SERVER must be an address/,
  },
  {
    row: "2",
    words: ["status", "latest"],
    env: { GRANGE_CA: "/nowhere/ca.pem" },
    code: 2,
    says: /\/nowhere\/ca\.pem/,
  },
  { row: "3", words: ["status", "latest", ...nowhere], code: 3, says: /no Grange server/ },
  { row: "126, 127", words: exec("./not-executable"), code: 126, says: /not executable/ },
  { row: "126, 127", words: exec("./nonesuch"), code: 127, says: /no such command/ },
  { row: "128 + N", words: exec("sh", "-c", "kill -TERM $$"), code: 143, says: /^/ },
  { row: "other", words: exec("sh", "-c", "exit 7"), code: 7, says: /^/ },
];

const named = cases.map((each) => ({ ...each, line: each.words.join(" ") }));

test.each(named)("grange $line: exit code $code", async ({ words, code, says, env = {} }) => {
  const ended = await runGrange(words, {
    cwd: directory,
    env: { GRANGE_SERVER: "", GRANGE_GRANARY_DATA: join(directory, "granary"), ...env },
  });

  expect(ended.stdout + ended.stderr).toMatch(says);
  expect(ended.code).toBe(code);
});

test("a command that waits is ended by a signal, as shells expect", async () => {
  const silent = createServer();
  silent.listen(0, "127.0.0.1");
  await once(silent, "listening");
  const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const waiting = startGrange(["status", "latest", "--server", url]);
  await once(silent, "connection");

  waiting.signal("SIGINT");

  // No code: the signal itself ended the process, which a shell shows as 130.
  expect((await waiting.finished).code).toBeNull();
  silent.close();
});

test("each documented exit code has a case", () => {
  const covered = new Set(cases.map(({ row }) => row));

  // A collector's update is in lab-failures.test.ts.
  expect(exitCodeRows.map(({ code }) => code).filter((code) => !covered.has(code))).toEqual(["75"]);
});
