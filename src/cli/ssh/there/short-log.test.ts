import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { shortenLog } from "./short-log.ts";

let folder: string;
let path: string;
let open: number;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "grange-log-"));
  path = join(folder, "log");
  open = openSync(path, "a");
});
afterEach(() => {
  closeSync(open);
  rmSync(folder, { recursive: true });
});

test("a log that is too long is moved, and its writer goes on at the beginning", async () => {
  writeSync(open, "long ago\n");

  await shortenLog(path, 5);
  writeSync(open, "now\n");
  await shortenLog(path, 5);

  expect(readFileSync(path, "utf8")).toBe("now\n");
  expect(readFileSync(`${path}.1`, "utf8")).toBe("long ago\n");
});
