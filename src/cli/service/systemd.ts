import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { promisify } from "node:util";
import { Fault } from "#core/fault.ts";
import type { Scope } from "./plan-services.ts";

const run = promisify(execFile);

/** Runs `systemctl` with arguments; returns its output. */
export type Systemctl = (words: readonly string[]) => Promise<string>;

/** systemd creates it when it is the machine's first process; `sd_booted` checks it. */
const bootedMark = "/run/systemd/system";

/** Opens the systemd manager of a scope; throws `failed_precondition` when there is none. */
export async function openSystemctl(scope: Scope["kind"], mark = bootedMark): Promise<Systemctl> {
  if (!existsSync(mark)) {
    throw new Fault(
      "failed_precondition",
      "this machine does not use systemd (it may be a container), so nothing can start the services. " +
        "Print the units with --dry-run, or run `grange server` and `grange worker` under another supervisor",
    );
  }
  const manager = scope === "user" ? ["--user"] : [];
  const systemctl: Systemctl = async (words) => {
    try {
      return (await run("systemctl", [...manager, ...words])).stdout;
    } catch (cause) {
      const { stderr = "", message } = cause as { stderr?: string; message: string };
      throw new Fault(
        "failed_precondition",
        `systemctl ${[...manager, ...words].join(" ")} failed: ${stderr.trim() || message}`,
        { cause },
      );
    }
  };
  if (scope === "user") await requireUserManager(systemctl);
  return systemctl;
}

async function requireUserManager(systemctl: Systemctl): Promise<void> {
  await systemctl(["show-environment"]).catch((cause: unknown) => {
    throw new Fault(
      "failed_precondition",
      "this user has no systemd manager in this session. Log in directly (not with su or sudo), or start one permanently: loginctl enable-linger",
      { cause },
    );
  });
}
