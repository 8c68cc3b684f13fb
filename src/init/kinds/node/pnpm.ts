import { lifecycleScripts } from "./package-json.ts";
import {
  handModules,
  installComment,
  manifestsOf,
  type NodeProject,
  type PackageManager,
  toolsDirectory,
} from "./package-manager.ts";

/** pnpm, in the version that package.json names, or otherwise in one that writes such a lock file. */
export function pnpm(project: NodeProject): PackageManager {
  const { files, manifest, members } = project;
  const lock = files.text("pnpm-lock.yaml") ?? "";
  const version = namedVersion(manifest.packageManager) ?? versionForLock(lock);
  const own = [manifest, ...members.values()].some((each) => lifecycleScripts(each).length > 0);
  const usePnpm = `export PATH="$PWD/${toolsDirectory}/bin:$PATH"`;
  const installing = importersWithPackages(lock).filter(
    (path) => path === "." || members.has(path),
  );
  const handed = handModules(project, [
    "node_modules",
    ...installing.filter((path) => path !== ".").map((path) => `${path}/node_modules`),
  ]);
  return {
    name: "pnpm",
    found: `pnpm-lock.yaml (pnpm ${version})`,
    install: {
      name: "install",
      comment: installComment,
      commands: [
        `npm install --global --no-audit --no-fund --prefix "$PWD/${toolsDirectory}" pnpm@${version}`,
        usePnpm,
        `pnpm install --frozen-lockfile${own ? " --ignore-scripts" : ""}`,
        ...handed.pack,
      ],
      inputs: [
        ...files.existing("pnpm-lock.yaml", "pnpm-workspace.yaml", ".npmrc", ".pnpmfile.cjs"),
        ...manifestsOf(project),
        ...(files.hasDirectory("patches") ? ["patches"] : []),
      ],
      outputs: [toolsDirectory, ...handed.outputs],
      environment: { CI: "true" },
      network: true,
    },
    prepare: [usePnpm, ...handed.unpack],
    run: (script) => `pnpm run ${script}`,
    runInAll: (script) => `pnpm --recursive --if-present run ${script}`,
    // https://pnpm.io/installation#compatibility
    notes:
      Number.parseInt(version, 10) >= 11
        ? [`pnpm ${version} needs Node 22.13 or later on the workers`]
        : [],
  };
}

function namedVersion(packageManager: string | undefined): string | undefined {
  return /^pnpm@(\d+(?:\.\d+){0,2})/.exec(packageManager ?? "")?.[1];
}

/** Returns the newest pnpm that writes lock files of this version and runs on Node 20. */
function versionForLock(lock: string): string {
  const version = /^lockfileVersion:\s*['"]?(\d+)/m.exec(lock)?.[1];
  return { "5": "7", "6": "8" }[version ?? ""] ?? "10";
}

/**
 * Returns the directories whose packages the lock file lists: they get a node_modules of their own.
 *
 * The section is read by its indentation, because lock files are large and always written by pnpm.
 */
function importersWithPackages(lock: string): string[] {
  const section = /^importers:\n((?:[ \t].*\n|\n)*)/m.exec(`${lock}\n`)?.[1] ?? "";
  return [...section.matchAll(/^ {2}(\S.*):\n(?=(?:\n)* {4}\S)/gm)].map((match) =>
    (match[1] ?? "").replace(/^['"]|['"]$/g, ""),
  );
}
