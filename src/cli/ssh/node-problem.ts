import { printableLine } from "../terminal/printable-text.ts";

/** The Node version for which the worker's file is built: the first 20 with `crypto.hash`. */
const least = { major: 20, minor: 12 };

/** Returns the problem of a machine's Node, and the remedy; undefined when there is none. */
export function nodeProblem(host: string, version: string, node: string): string | undefined {
  const wanted = `Node ${least.major}.${least.minor} or later`;
  const way = "give its path with --remote-node PATH";
  if (version.trim() === "") {
    return (
      `${host} has no ${node} on the PATH that ssh gives: install ${wanted} there, ` +
      `or, if it is in another directory (version managers configure only terminals), ${way}`
    );
  }
  const match = /^v(\d+)\.(\d+)\./.exec(version.trim());
  if (match === null)
    return `${node} on ${host} is not Node: it prints ${printableLine(version).slice(0, 100)}; ${way}`;
  const [major, minor] = [Number(match[1]), Number(match[2])];
  const isOld = major < least.major || (major === least.major && minor < least.minor);
  if (!isOld) return undefined;
  return `${host} has Node ${version.trim().slice(1)}, which is too old: install ${wanted} there, or ${way}`;
}
