// Checks whether dist/ was built from the present sources.
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** The inputs of the build. */
const inputs = ["src", "web", "package.json", "package-lock.json", "bundle", "tsconfig.json"];
inputs.push("tsconfig.web.json", "scripts/build.mjs", "scripts/program-bundles.mjs");
inputs.push("scripts/program-chunks.mjs");
inputs.push("scripts/page-bundles.mjs", "scripts/page-graph.mjs", "scripts/docs-site", "docs");
inputs.push("ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "GLOSSARY.md", "SECURITY.md");

/** Tests are not built, and change most often. */
const isTest = /\.test\.tsx?$/;

/**
 * Sizes and times first, which takes milliseconds. Only if those differ (a fresh checkout, a return to an earlier
 * branch) are the contents hashed.
 */
export function isCurrent(root) {
  const stamp = readStamp(root);
  if (stamp === undefined) return false;
  const files = sourceFiles(root);
  if (stamp.times === timesOf(root, files)) return true;
  if (stamp.contents !== contentsOf(root, files)) return false;
  writeStamp(root);
  return true;
}

export function writeStamp(root) {
  const files = sourceFiles(root);
  const stamp = { times: timesOf(root, files), contents: contentsOf(root, files) };
  try {
    writeFileSync(stampFile(root), `${JSON.stringify(stamp)}\n`);
  } catch (cause) {
    // In a checkout of another user: the build is current, but the check is slower.
    if (cause.code !== "EACCES" && cause.code !== "EROFS") throw cause;
  }
}

function readStamp(root) {
  if (!existsSync(join(root, "dist", "grange.js"))) return undefined;
  try {
    return JSON.parse(readFileSync(stampFile(root), "utf8"));
  } catch {
    return undefined;
  }
}

function stampFile(root) {
  return join(root, "dist", ".stamp.json");
}

function sourceFiles(root) {
  const files = [];
  for (const input of inputs) {
    const path = join(root, input);
    if (!existsSync(path)) continue;
    if (statSync(path).isFile()) files.push(input);
    else {
      for (const entry of readdirSync(path, { recursive: true, withFileTypes: true })) {
        if (!entry.isFile() || isTest.test(entry.name)) continue;
        files.push(join(entry.parentPath, entry.name).slice(root.length + 1));
      }
    }
  }
  return files.sort();
}

function timesOf(root, files) {
  const hash = createHash("sha256");
  for (const file of files) {
    const { size, mtimeMs } = statSync(join(root, file));
    hash.update(`${file}\0${size}\0${mtimeMs}\0`);
  }
  return hash.digest("hex");
}

function contentsOf(root, files) {
  const hash = createHash("sha256");
  for (const file of files) {
    hash
      .update(`${file}\0`)
      .update(readFileSync(join(root, file)))
      .update("\0");
  }
  return hash.digest("hex");
}
