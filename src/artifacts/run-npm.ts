import { execFile } from "node:child_process";
import { Fault, type FaultCode } from "#core/fault.ts";

export interface NpmOptions {
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number;
}

const defaultTimeoutMs = 5 * 60_000;
/** A package with 3,500 versions has 300 KB of version data with times. */
const mostOutputBytes = 32 * 1024 * 1024;

/** The meaning of npm's error codes. All others are `failed_precondition`. */
const meanings: readonly {
  readonly code: RegExp;
  readonly fault: FaultCode;
  readonly says: string;
}[] = [
  {
    code: /^(E404|ETARGET|ENOVERSIONS)$/,
    fault: "not_found",
    says: "the registry does not have it",
  },
  { code: /^EINTEGRITY$/, fault: "data_loss", says: "its bytes differ from the published ones" },
  {
    code: /^(E401|E403|ENEEDAUTH|EOTP)$/,
    fault: "permission_denied",
    says: "the registry refuses access; see `npm login` and the .npmrc of the user",
  },
  {
    code: /^(ENOTFOUND|EAI_AGAIN|ECONN\w+|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ESOCKETTIMEDOUT|ERR_SOCKET_TIMEOUT|EPIPE|ENOTCACHED|E429|E5\d\d)$/,
    fault: "unavailable",
    says: "the registry cannot be reached, or has an error; see `npm config get registry`, and try again",
  },
  { code: /^ENOSPC$/, fault: "resource_exhausted", says: "no space is left on the disk" },
];

/**
 * Runs npm with the user's settings, and returns its output.
 *
 * `about` names the package in messages.
 */
export function runNpm(
  args: readonly string[],
  about: string,
  { signal, timeoutMs = defaultTimeoutMs }: NpmOptions = {},
): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(
      "npm",
      [...args, "--json", "--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error"],
      {
        timeout: timeoutMs,
        maxBuffer: mostOutputBytes,
        killSignal: "SIGKILL",
        ...(signal === undefined ? {} : { signal }),
      },
      (cause, stdout, stderr) => {
        if (cause === null) resolve(stdout);
        else reject(faultOf(cause, { about, stdout, stderr, timeoutMs, signal }));
      },
    );
  });
}

interface Said {
  readonly about: string;
  readonly stdout: string;
  readonly stderr: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

function faultOf(cause: Error, { about, stdout, stderr, timeoutMs, signal }: Said): Fault {
  const { code, killed } = cause as { code?: unknown; killed?: boolean };
  const fault = (kind: FaultCode, says: string) =>
    new Fault(kind, `npm was called for ${about}: ${says}`, { cause });
  if (signal?.aborted === true)
    return isTimeout(signal.reason)
      ? fault("deadline_exceeded", "it did not answer in time; try again")
      : fault("cancelled", "was cancelled");
  if (code === "ENOENT")
    return fault(
      "failed_precondition",
      "it is not installed, or not in PATH; install Node.js with npm",
    );
  if (code === "ERR_CHILD_PROCESS_STDIO_MAXBUFFER")
    return fault("resource_exhausted", `it printed more than ${mostOutputBytes} bytes`);
  if (killed === true)
    return fault(
      "unavailable",
      `it took more than ${timeoutMs / 1_000} s; see \`npm config get registry\`, and try again`,
    );
  const npmCode = codeIn(stdout) ?? /npm (?:error|ERR!) code (\w+)/.exec(stderr)?.[1] ?? "";
  const meaning = meanings.find((each) => each.code.test(npmCode));
  if (meaning !== undefined) return fault(meaning.fault, `${meaning.says} (${npmCode})`);
  return fault(
    "failed_precondition",
    lastLines(stderr) || `it failed (${npmCode || String(code)})`,
  );
}

function isTimeout(reason: unknown): boolean {
  return reason instanceof Error && reason.name === "TimeoutError";
}

/** `{"error": {"code": …}}`, which npm writes with --json. */
function codeIn(stdout: string): string | undefined {
  return /"error":\s*\{\s*"code":\s*"(\w+)"/.exec(stdout)?.[1];
}

/** Without addresses: they may have a user's password in them. */
function lastLines(stderr: string): string {
  return stderr
    .replaceAll(/([a-z][a-z0-9+.-]*:\/\/)[^/\s@]*@/gi, "$1")
    .trim()
    .split("\n")
    .slice(-3)
    .join(" ")
    .slice(-1_000);
}
