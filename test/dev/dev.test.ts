import { cp, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Program, startProgram } from "../support/process.ts";

const root = join(import.meta.dirname, "../..");
const copied = ["src", "web", "scripts", "package.json", "vite.config.ts", "tsconfig.json"];
copied.push("tsconfig.web.json");

let copy = "";
let dev: Program | undefined;
let address = "";

beforeAll(async () => {
  copy = await mkdtemp(join(tmpdir(), "grange-dev-"));
  await Promise.all(
    copied.map((name) => cp(join(root, name), join(copy, name), { recursive: true })),
  );
  await symlink(join(root, "node_modules"), join(copy, "node_modules"));
  const [pages, server] = await freePorts(2);
  address = `http://127.0.0.1:${pages}`;
  const ports = ["--port", String(pages), "--server-port", String(server)];
  // Without scripts/dev.mjs, which would install packages if they differed from the lock file: node_modules here
  // belongs to the checkout.
  const program = ["--import", "tsx", "scripts/dev/run-dev.ts"];
  dev = startProgram(process.execPath, [...program, ...ports], { cwd: copy });
  await Promise.race([dev.line((line) => line.startsWith("Save a file")), failed(dev)]);
});

afterAll(async () => {
  dev?.signal("SIGTERM");
  await dev?.finished;
  await rm(copy, { recursive: true, force: true });
});

describe("npm run dev", () => {
  test("serves the API of a changed server file", async () => {
    await change("src/server/http/http-app.ts", "in this API`", "in the changed API`");
    await printed(/^server {2}src\/server\/http\/http-app\.ts: reloaded in \d+ ms/);

    expect(await get("/api/v1/nothing")).toContain(
      "there is no GET /api/v1/nothing in the changed API",
    );
  });

  test("serves the pages from their sources, with their changes", async () => {
    expect(await get("/")).toContain("/main.tsx");
    expect(await get("/shell/shell.tsx")).not.toContain("data-changed");

    await change("web/shell/shell.tsx", "<main", '<main data-changed="yes"');
    await printed(/^pages {3}web\/shell\/shell\.tsx: browsers notified after \d+ ms/);

    expect(await get("/shell/shell.tsx")).toContain("data-changed");
  });

  test("keeps the last version if a file cannot be built, and continues when it can", async () => {
    const file = "src/server/http/metrics-routes.ts";
    await change(file, "export function", "export funktion");
    await printed(/^server {2}src\/server\/http\/metrics-routes\.ts: does not build/);

    expect(await get("/metrics")).toContain("grange_");

    await change(file, "export funktion", "/* repaired */ export function");
    await change(file, '"/metrics"', '"/metrics/again"');
    await printed(/^server {2}src\/server\/http\/metrics-routes\.ts: reloaded/);

    expect(await get("/metrics/again")).toContain("grange_");
  });
});

async function change(file: string, before: string, after: string): Promise<void> {
  const path = join(copy, file);
  const text = await readFile(path, "utf8");
  expect(text).toContain(before);
  await writeFile(path, text.replace(before, after));
}

async function printed(pattern: RegExp): Promise<void> {
  const line = await dev?.line((each) => pattern.test(each) || each.includes("does not start"));
  expect(line).toMatch(pattern);
}

async function get(path: string): Promise<string> {
  const response = await fetch(`${address}${path}`, { headers: { accept: "*/*" } });
  return response.text();
}

async function failed(program: Program): Promise<never> {
  const { stdout, stderr } = await program.finished;
  throw new Error(`npm run dev ended: ${stdout}${stderr}`);
}

/** Ports below those that the kernel gives to outgoing connections, which could take one before the program does. */
async function freePorts(count: number): Promise<number[]> {
  const free: number[] = [];
  while (free.length < count) {
    const port = 20_000 + Math.floor(Math.random() * 12_000);
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once("error", () => resolve(false));
      server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
    });
    if (isFree && !free.includes(port)) free.push(port);
  }
  return free;
}
