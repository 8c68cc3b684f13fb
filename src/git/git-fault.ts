import { Fault, type FaultCode } from "#core/fault.ts";
import { withoutPassword } from "./repository-address.ts";

/** The meaning of Git's error messages, and what a user can do. The first that matches counts. */
const meanings: readonly {
  readonly sign: RegExp;
  readonly code: FaultCode;
  readonly says: string;
}[] = [
  {
    // Before signs of the network: Git also says that the other side hung up.
    sign: /repository corruption|lazy fetching disabled|object file .* is empty|unable to read [0-9a-f]{40}/i,
    code: "failed_precondition",
    says: "some of its objects are missing or damaged; check it with `git fsck`, or clone it again without --filter",
  },
  {
    sign: /could not resolve host|name or service not known|temporary failure in name resolution/i,
    code: "unavailable",
    says: "its host cannot be found; check the address and your network",
  },
  {
    sign: /connection refused|connection timed out|timed out|unable to connect|network is unreachable|no route to host|connection reset|failed to connect|couldn't connect|hung up unexpectedly|early eof/i,
    code: "unavailable",
    says: "its host cannot be reached; check the address and your network, then try again",
  },
  {
    sign: /returned error: 30\d|update url base from redirection/i,
    code: "failed_precondition",
    says: "it has moved, and a browser shows its new address; use that",
  },
  {
    sign: /authentication failed|could not read (username|password)|terminal prompts disabled|permission denied \(|host key verification failed/i,
    code: "unauthenticated",
    says: "it requires authentication; use an address with a token, or an SSH key that it accepts",
  },
  {
    sign: /mismatched algorithms|unsupported object format|unknown repository extension/i,
    code: "unimplemented",
    says: "it names its objects by SHA-256, which Grange does not read yet",
  },
  {
    sign: /no space left on device|disk quota exceeded/i,
    code: "resource_exhausted",
    says: "no space is left for its mirror; free some",
  },
  {
    sign: /permission denied/i,
    code: "permission_denied",
    says: "it may not be read by the user that Grange runs as",
  },
  {
    sign: /not a git repository|does not appear to be a git repository|repository .*not found|not valid: is this a git repository|returned error: 404/i,
    code: "not_found",
    says: "there is no Git repository; check the address, or run `git init` there",
  },
];

/** Returns the fault for a failed Git command. `repository` is the address as the user knows it. */
export function gitFault(repository: string, stderr: string): Fault {
  const shown = withoutPassword(repository);
  const output = withoutPasswords(lastLines(stderr));
  const meaning = meanings.find(({ sign }) => sign.test(stderr));
  const sentence = meaning ? meaning.says : "git failed";
  return new Fault(meaning?.code ?? "internal", `${shown}: ${sentence} (git: ${output})`);
}

function lastLines(stderr: string): string {
  const lines = stderr
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => /^(fatal|error|ssh|remote):/i.test(line));
  return (lines.length > 0 ? lines : [stderr.trim()]).slice(0, 3).join(" ").slice(0, 500);
}

function withoutPasswords(text: string): string {
  return text.replace(/\b([a-z][a-z0-9+.-]*:\/\/)[^\s/?#]*@/gi, "$1");
}
