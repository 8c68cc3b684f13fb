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

/** Returns why a text cannot be the name of a project, as the end of a sentence; undefined when it can. */
export function problemOfProjectName(name: string): string | undefined {
  if (name.length > longestName) return `is longer than ${longestName} characters`;
  const word = name.split("/").find((segment) => reserved.has(segment));
  if (word !== undefined) return `has "${word}" in it, which the protocol reserves`;
  if (legalName.test(name)) return undefined;
  return "is not made of letters, digits and . _ - with single slashes between";
}
