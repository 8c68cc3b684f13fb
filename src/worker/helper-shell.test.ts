import { mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startHelperShell } from "./helper-shell.ts";

const path = "/usr/sbin:/usr/bin:/sbin:/bin";

test("a shell that was killed is started again for the next script", async () => {
  const shell = await startHelperShell("plain", path);

  await expect(shell.run("kill -9 $$")).rejects.toThrow("the helper shell has ended");

  await shell.run("true");
  await shell.stop();
});

test("a script that fails throws what it printed", async () => {
  const shell = await startHelperShell("plain", path);

  await expect(shell.run("echo no luck >&2; false")).rejects.toThrow("no luck");
  await shell.stop();
});

test("a shell that could not be started again is started when that is possible", async () => {
  const directory = await mkdtemp(join(tmpdir(), "grange-shell-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const program = join(directory, "sh");
  await symlink("/bin/sh", program);
  const shell = await startHelperShell("plain", directory);
  await expect(shell.run("kill -9 $$")).rejects.toThrow("the helper shell has ended");
  await rm(program);
  await expect(shell.run("true")).rejects.toThrow("no helper shell");

  await symlink("/bin/sh", program);

  await shell.run("true");
  await shell.stop();
});
