import { expect, test } from "vitest";
import { gitFault } from "./git-fault.ts";

test.each([
  ["fatal: not a git repository (or any of the parent directories): .git", "not_found"],
  ["fatal: '/x' does not appear to be a git repository", "not_found"],
  ["remote: Repository not found.\nfatal: repository 'https://h/x/' not found", "not_found"],
  ["fatal: unable to access 'https://h/': Could not resolve host: h", "unavailable"],
  [
    "fatal: unable to access 'http://h/': Failed to connect to h port 1: Connection refused",
    "unavailable",
  ],
  [
    "ssh: connect to host h port 22: Connection timed out\nfatal: Could not read from remote repository.",
    "unavailable",
  ],
  ["fatal: could not read Username for 'https://h': terminal prompts disabled", "unauthenticated"],
  [
    "git@h: Permission denied (publickey).\nfatal: Could not read from remote repository.",
    "unauthenticated",
  ],
  [
    "Host key verification failed.\nfatal: Could not read from remote repository.",
    "unauthenticated",
  ],
  ["fatal: cannot open '/x/HEAD': Permission denied", "permission_denied"],
  ["fatal: write error: No space left on device", "resource_exhausted"],
  ["fatal: mismatched algorithms: client sha1; server sha256", "unimplemented"],
  [
    "error: git upload-pack: git-pack-objects died with error.\nfatal: git upload-pack: aborting due to possible repository corruption on the remote side.\nfatal: early EOF",
    "failed_precondition",
  ],
  ["fatal: something new", "internal"],
])("%s is %s", (stderr, code) => {
  expect(gitFault("/x", stderr)).toMatchObject({ code });
});

test("contains Git's message, without a password", () => {
  const fault = gitFault(
    "https://me:secret@h/x",
    "fatal: unable to access 'https://me:secret@h/x/': Could not resolve host: h",
  );

  expect(fault.message).toBe(
    "https://h/x: its host cannot be found; check the address and your network (git: fatal: unable to access 'https://h/x/': Could not resolve host: h)",
  );
});
