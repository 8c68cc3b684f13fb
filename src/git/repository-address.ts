import { isAbsolute, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { Fault, messageOf } from "#core/fault.ts";

/** Where a repository is: in a directory of this machine, or behind a URL. */
type RepositoryAddress =
  | { readonly kind: "local"; readonly path: string }
  | { readonly kind: "remote"; readonly url: string };

/**
 * Parses a repository as a user wrote it: a path, or a URL with `file`, `https`, `http`, `ssh` or `git`, or ssh's short
 * form `git@host:owner/name`.
 *
 * Everything else is refused, above all Git's `ext::` and similar, which run programs.
 */
export function parseRepositoryAddress(text: string, workingDirectory: string): RepositoryAddress {
  const refused = (why: string) =>
    new Fault(
      "invalid_argument",
      `${JSON.stringify(withoutPassword(text))} is not an address of a repository: ${why}`,
    );
  if (text === "") throw refused("it is empty");
  if (text.startsWith("-")) throw refused("it begins with a dash");
  if (/\p{Cc}/u.test(text)) throw refused("it has control characters");
  if (/^[a-z0-9+.-]+::/i.test(text)) throw refused("helpers of that kind run programs");

  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(text)?.[1]?.toLowerCase();
  if (scheme === "file") {
    try {
      return { kind: "local", path: fileURLToPath(text) };
    } catch (cause) {
      throw refused(messageOf(cause));
    }
  }
  if (scheme !== undefined) {
    if (!["https", "http", "ssh", "git"].includes(scheme))
      throw refused(`${scheme} is not supported`);
    const host = URL.canParse(text) ? new URL(text).hostname : "";
    if (host === "") throw refused("it names no host");
    if (host.startsWith("-")) throw refused("its host begins with a dash");
    return { kind: "remote", url: text };
  }

  const short = /^(?:[^/:@]+@)?(\[[^\]]+\]|[^/:]+):(.*)$/.exec(text);
  if (short) {
    if (short[1]?.startsWith("-")) throw refused("its host begins with a dash");
    if (short[2] === "" || short[2]?.startsWith("-")) throw refused("it names no path");
    return { kind: "remote", url: text };
  }
  return { kind: "local", path: isAbsolute(text) ? text : resolve(workingDirectory, text) };
}

/** Returns an address as it may be shown: without the user name and password that a URL can carry. */
export function withoutPassword(address: string): string {
  // Up to the last `@` before the path, as URLs are parsed, because a password may itself contain one.
  return address.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/?#]*@/i, "$1");
}
