import { defaultProject } from "#core/default-project.ts";
import { Fault } from "#core/fault.ts";

const longestName = 128;
const legalName = /^(?!.*\/\.{1,2}(\/|$))[A-Za-z0-9][A-Za-z0-9._-]*(\/[A-Za-z0-9._-]+)*$/;

/** Words with a meaning in REv2 resource names: an instance name with one of them would be ambiguous. */
const reserved = new Set([
  "blobs",
  "uploads",
  "actions",
  "actionResults",
  "operations",
  "capabilities",
  "compressed-blobs",
]);

/** Returns the project of an instance name. Throws `invalid_argument` for an invalid name. */
export function projectOf(instanceName: string): string {
  if (instanceName === "") return defaultProject;
  const problem = problemOf(instanceName);
  if (problem === undefined) return instanceName;
  throw new Fault(
    "invalid_argument",
    `the instance name ${JSON.stringify(instanceName.slice(0, longestName))} ${problem}`,
  );
}

function problemOf(name: string): string | undefined {
  if (name.length > longestName) return `is longer than ${longestName} characters`;
  const word = name.split("/").find((segment) => reserved.has(segment));
  if (word !== undefined) return `has "${word}" in it, which the protocol reserves`;
  if (legalName.test(name)) return undefined;
  return "is not made of letters, digits and . _ - with single slashes between";
}
