// Ensures that this Node can run Grange and that node_modules matches package-lock.json. Plain Node without packages,
// because it runs before any are installed.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { planInstallation } from "./plan-installation.mjs";

export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** The minimum of `engines` in package.json. */
const oldest = [20, 19];

/**
 * Installs missing packages: those that build and run Grange for `start`, all of them for `development`.
 *
 * Ends the process with a message for a problem that it cannot correct.
 *
 * @param {"start" | "development"} purpose
 */
export function ensureInstalled(purpose = "development") {
  checkNode();
  const missing = planInstallation({
    purpose,
    locked: packagesOf(join(root, "package-lock.json")),
    installed: packagesOf(join(root, "node_modules", ".package-lock.json")),
  });
  if (missing === undefined) return;
  const started = Date.now();
  const omitted = missing === "start" ? "--omit=dev" : "--include=dev";
  process.stderr.write(
    missing === "start"
      ? "Installing packages (npm ci --omit=dev) …"
      : "Installing packages (npm ci) …",
  );
  const npm = npmCommand();
  const args = [...npm.slice(1), "ci", omitted, "--include=optional", "--no-audit"];
  const result = spawnSync(npm[0], [...args, "--no-fund", "--loglevel=warn"], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  if (result.status === 0) {
    process.stderr.write(` ${((Date.now() - started) / 1_000).toFixed(1)} s\n`);
    return;
  }
  if (result.signal === "SIGINT") process.exit(130);
  process.stderr.write(` failed\n${result.stdout ?? ""}${result.stderr ?? ""}\n`);
  process.stderr.write(
    result.error
      ? `npm could not be started (${result.error.message}). Install npm, which comes with Node: https://nodejs.org\n`
      : "The packages could not be installed; npm's own words are above. Put that right and start again.\n",
  );
  process.exit(1);
}

function checkNode() {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  if (major > oldest[0] || (major === oldest[0] && minor >= oldest[1])) return;
  process.stderr.write(
    `Grange needs Node ${oldest.join(".")} or later; this is ${process.versions.node} (${process.execPath}).\n` +
      "Install a newer one from https://nodejs.org, or with your version manager: nvm install 24\n",
  );
  process.exit(1);
}

function packagesOf(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8")).packages;
  } catch {
    return undefined;
  }
}

/** Returns the npm that started this process, if any, because it may not be on the PATH. */
export function npmCommand() {
  const path = process.env.npm_execpath ?? "";
  return path.endsWith("npm-cli.js") ? [process.execPath, path] : ["npm"];
}
