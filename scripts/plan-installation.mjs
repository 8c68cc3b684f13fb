// Decides what `npm ci` must install. No packages, no files: values in, values out.

/**
 * Returns what to install: `start` (what builds and runs), `development` (all), or `undefined` when nothing is missing.
 *
 * `locked` and `installed` are the `packages` of package-lock.json and of node_modules/.package-lock.json.
 * npm writes the second one last, so a broken installation has none. A checkout that has development packages
 * keeps them: whoever installed them wants them after `npm start`, too.
 *
 * @param {{
 *   purpose: "start" | "development",
 *   locked: Record<string, LockedPackage> | undefined,
 *   installed: Record<string, LockedPackage> | undefined,
 * }} state
 * @typedef {{ version?: string, integrity?: string, dev?: boolean, optional?: boolean, devOptional?: boolean }} LockedPackage
 * @returns {"start" | "development" | undefined}
 */
export function planInstallation({ purpose, locked, installed }) {
  const hasDevelopment = Object.values(installed ?? {}).some((entry) => entry.dev === true);
  const wanted = purpose === "development" || hasDevelopment ? "development" : "start";
  if (locked === undefined || installed === undefined) return wanted;
  const isComplete = Object.entries(locked).every(([path, entry]) => {
    if (path === "" || (wanted === "start" && entry.dev === true)) return true;
    const found = installed[path];
    // Optional packages may be missing: they are for other machines.
    if (found === undefined) return entry.optional === true || entry.devOptional === true;
    return found.version === entry.version && found.integrity === entry.integrity;
  });
  return isComplete ? undefined : wanted;
}
