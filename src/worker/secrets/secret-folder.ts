import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Fault } from "#core/fault.ts";
import { giveToJobs } from "#machine/job-owner.ts";
import type { Secret } from "#proto/grange/worker/v1/worker_pb.ts";
import type { HelperShell } from "../helper-shell.ts";
import { quoteForShell } from "../quote-for-shell.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";

/** The directory with the secrets of one run, as the helper shell sees it. */
interface SecretFolder {
  readonly path: string;
  close(): Promise<void>;
}

/**
 * Writes the secrets of a run to memory that only the helper shell's mount namespace contains.
 *
 * No other process of the machine sees them there, and they disappear with the shell, which always ends with this
 * process. When runs are not isolated from each other, they get no secrets: throws `unavailable`.
 */
export async function openSecretFolder(
  { shell, sandbox }: { readonly shell: HelperShell; readonly sandbox: Sandbox },
  scratch: string,
  secrets: readonly Secret[],
): Promise<SecretFolder> {
  if (!sandbox.isolates || shell.kind === "plain") {
    throw new Fault(
      "unavailable",
      "this worker does not isolate jobs, so it gets no secrets: `grange doctor` shows what is missing",
    );
  }
  const path = join(scratch, "secrets");
  await mkdir(path, { mode: 0o700 });
  const at = quoteForShell(path);
  const options = "mode=700,size=4m,nosuid,nodev,noexec";
  // Linux 6.4 and later can exclude it from swap.
  await shell.run(
    `mount -t tmpfs -o ${options},noswap tmpfs ${at} 2>/dev/null || mount -t tmpfs -o ${options} tmpfs ${at}`,
  );
  const close = () => shell.run(`umount -l ${at}`);
  try {
    giveToJobs(shell.reach(path));
    for (const { name, value } of secrets) {
      const file = shell.reach(join(path, name));
      await writeFile(file, value, { mode: 0o400, flag: "wx" });
      giveToJobs(file);
    }
    return { path, close };
  } catch (reason) {
    await close().catch(() => {});
    throw reason;
  }
}
