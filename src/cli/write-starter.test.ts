import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { apiClient } from "./api/api-client.ts";
import { outputOf } from "./run-program.ts";
import type { Session } from "./session.ts";
import { paintFor } from "./terminal/paint.ts";
import type { Outlet } from "./terminal/terminal.ts";
import { writeStarter } from "./write-starter.ts";

const dir = await mkdtemp(join(tmpdir(), "grange-init-"));
afterAll(() => rm(dir, { recursive: true, force: true }));

function listeningSession(): { readonly session: Session; readonly said: string[] } {
  const said: string[] = [];
  const outlet: Outlet = {
    block: undefined,
    paint: paintFor(false),
    isTerminal: false,
    columns: () => 80,
    rows: () => 24,
    line: (text) => said.push(text),
    write: (text) => said.push(text),
  };
  const config = {
    serverUrl: "http://127.0.0.1:1",
    noColor: true,
    secretFiles: [],
    path: "",
    terminal: "",
  };
  const session = {
    config,
    terminal: { answer: outlet, notes: outlet },
    api: apiClient(config.serverUrl),
  };
  return { session, said };
}

test("a start is written at the top of the checkout, and says what it found and what to do", async () => {
  await outputOf("git", ["init", "--quiet", dir]);
  await outputOf("mkdir", [join(dir, "inner")]);
  await writeFile(join(dir, "package.json"), '{"scripts":{"lint":"eslint .","test":"vitest"}}');
  const { session, said } = listeningSession();

  expect(await writeStarter(session, join(dir, "inner"), {})).toBe(0);

  expect(await readFile(join(dir, ".grange/farm.yml"), "utf8")).toContain("version: 1");
  expect(said.join("\n")).toMatch(/Found .*package\.json[\s\S]*lint[\s\S]*git add \.grange/);
});

test("what is there already is not overwritten", async () => {
  const before = await readFile(join(dir, ".grange/farm.yml"), "utf8");
  const { session } = listeningSession();

  await expect(writeStarter(session, dir, {})).rejects.toThrow(/\.grange\/farm\.yml/);

  expect(await readFile(join(dir, ".grange/farm.yml"), "utf8")).toBe(before);
});
