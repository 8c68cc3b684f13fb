import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { Fault } from "#core/fault.ts";
import { runProgram } from "../run-program.ts";

const hooks = ["post-checkout", "post-merge", "post-rewrite"] as const;

const line = "command -v grange >/dev/null 2>&1 && (grange granary prefetch >/dev/null 2>&1 &)";

interface InstalledHooks {
  readonly written: readonly string[];
  /** The hooks that already had the line. */
  readonly there: readonly string[];
}

/** Makes Git notify the granary of a checkout, so that prefetching starts before the build. */
export async function installHooks(directory: string): Promise<InstalledHooks> {
  const gitArguments = ["-C", directory, "rev-parse", "--git-path", "hooks"];
  const { exitCode, stdout, stderr } = await runProgram("git", gitArguments);
  if (exitCode !== 0) {
    const what = /not a git repository/.test(stderr)
      ? `${directory} is not in a Git repository`
      : stderr.trim();
    throw new Fault("failed_precondition", `${what}; install hooks from within a checkout`);
  }
  const folder = resolve(directory, stdout.trim());
  await mkdir(folder, { recursive: true });
  const written: string[] = [];
  const there: string[] = [];
  for (const hook of hooks) {
    const path = join(folder, hook);
    const text = await readFile(path, "utf8").catch(() => undefined);
    if (text?.includes(line)) {
      there.push(path);
      continue;
    }
    if (text !== undefined && !/^#!.*\b(sh|bash|dash|zsh)\b/.test(text)) {
      throw new Fault(
        "failed_precondition",
        `${path} is not a shell script; add this line to it: ${line}`,
      );
    }
    // Before the existing lines, which may end with `exit`. This line never causes the hook to fail.
    const [first = "#!/bin/sh", ...rest] = (text ?? "#!/bin/sh\n").split("\n");
    await writeFile(path, [first, `${line} || true`, ...rest].join("\n"));
    await chmod(path, 0o755);
    written.push(path);
  }
  return { written, there };
}
