import { expect, test } from "vitest";
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
