import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Command } from "commander";
import pino from "pino";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { readServerConfig } from "#server/config.ts";
import { type RunningServer, startServer } from "#server/start-server.ts";
import { freshDatabase } from "../../test/support/fresh-db.ts";
import { describeAutoscaling } from "./commands/autoscaling.ts";
import { addDeclareCommands } from "./size-class-declare.ts";

const databaseUrl = await freshDatabase();
let dataDir: string;
let server: RunningServer;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "grange-declare-"));
  const config = readServerConfig({ dataDir, databaseUrl, port: 0, host: "127.0.0.1" }, {});
  server = await startServer(config, pino({ level: "silent" }));
});
afterAll(async () => {
  await server.stop();
  await rm(dataDir, { recursive: true });
});
afterEach(() => {
  process.exitCode = 0;
});

/** Returns the output of a command. */
async function grange(...words: string[]): Promise<string> {
  let printed = "";
  const take = (text: string | Uint8Array) => {
    printed += text.toString();
    return true;
  };
  const spies = [process.stdout, process.stderr].map((stream) =>
    vi.spyOn(stream, "write").mockImplementation(take),
  );
  try {
    const program = new Command().exitOverride();
    const sizeClass = program.command("size-class");
    addDeclareCommands(sizeClass);
    for (const each of sizeClass.commands) each.exitOverride();
    describeAutoscaling(program.command("autoscaling"), { entry: "", version: "0" });
    await program.parseAsync([...words, "--server", server.url], { from: "user" }).catch(() => {});
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
  return printed;
}

test("a class is declared, listed, scaled and undeclared", async () => {
  const named = ["--platform", "OSFamily=linux, ISA=x86-64", "--class", "2"];

  const gives = "--cpus 2 --memory 8G --price 0.5 --least 1 --most 10 --slots 4".split(" ");

  const declared = await grange("size-class", "declare", ...named, ...gives);

  expect(declared).toBe("Size class 2 of ISA=x86-64,OSFamily=linux is declared.\n");
  const [, row = ""] = (await grange("size-class", "declared")).split("\n");
  expect(row.replace(/ {2,}/g, " | ")).toBe(
    "ISA=x86-64,OSFamily=linux | 2 | 2 | 8 GiB | 0.5 | 1 to 10 | 4 | anyone",
  );
  const [, scaled = ""] = (await grange("autoscaling")).split("\n");
  expect(scaled.replace(/ {2,}/g, " | ")).toBe(
    "ISA=x86-64,OSFamily=linux | 2 | 1 | 0 | 0 of 0 | 0 | nothing runs and nothing waits; 1 is the declared minimum",
  );
  expect(await grange("size-class", "undeclare", ...named)).toContain("no longer declared");
  expect(await grange("size-class", "declared")).toContain("No size class is declared");
  expect(await grange("size-class", "undeclare", ...named)).toContain("is not declared");
});

test.each([
  ["--platform", "linux", "--class", "2"],
  ["--platform", "OSFamily=linux", "--class", "0"],
  ["--platform", "OSFamily=linux", "--class", "1", "--memory", "lots"],
  ["--platform", "OSFamily=linux", "--class", "1", "--price", "-1"],
  ["--platform", "OSFamily=linux"],
  ["--platform", "OSFamily=linux", "--class", "1", "--least", "3", "--most", "2"],
])("it is not declared by %s %s %s %s %s %s", async (...words) => {
  await grange("size-class", "declare", ...words);

  expect(await grange("size-class", "declared")).toContain("No size class is declared");
});
