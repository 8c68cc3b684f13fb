import { z } from "zod";
import { hasDependencies, lifecycleScripts } from "./package-json.ts";
import {
  handModules,
  installComment,
  manifestsOf,
  type NodeProject,
  type PackageManager,
} from "./package-manager.ts";

const Lock = z.object({
  packages: z
    .record(z.string(), z.object({ hasInstallScript: z.boolean().optional().catch(undefined) }))
    .catch({})
    .default({}),
});

/** npm, with a lock file or without one. */
export function npm(project: NodeProject): PackageManager {
  const { files, manifest, members } = project;
  const lockFile = ["package-lock.json", "npm-shrinkwrap.json"].find((name) => files.has(name));
  const common = {
    name: "npm",
    prepare: [] as readonly string[],
    run: (script: string) => (script === "test" ? "npm test" : `npm run ${script}`),
    runInAll: (script: string) => `npm run ${script} --workspaces --if-present`,
  };
  const inputs = [
    "package.json",
    ...(lockFile === undefined ? [] : [lockFile]),
    ...files.existing(".npmrc"),
    ...manifestsOf(project).slice(1),
  ];
  if (lockFile === undefined) {
    const isEmpty = [manifest, ...members.values()].every((each) => !hasDependencies(each));
    if (isEmpty) return { ...common, found: "npm", notes: [] };
    const unlocked = handModules(project, ["node_modules"]);
    return {
      ...common,
      prepare: unlocked.unpack,
      found: "npm without a lock file",
      install: {
        name: "install",
        comment:
          "Without a lock file, npm chooses versions when this runs; commit a package-lock.json.",
        commands: [
          "npm install --no-audit --no-fund --no-package-lock --ignore-scripts",
          ...unlocked.pack,
        ],
        inputs,
        outputs: unlocked.outputs,
        network: true,
      },
      notes: ["there is no package-lock.json: what is installed is not the same each time"],
    };
  }
  const packages = readLock(files.text(lockFile));
  const own = [manifest, ...members.values()].flatMap(lifecycleScripts);
  const built = [...packages]
    .filter(([path, { hasInstallScript }]) => hasInstallScript && path.includes("node_modules/"))
    .map(([path]) => path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length));
  // Scripts of the repository itself read files that are not inputs here; those of dependencies are run by name.
  const commands =
    own.length === 0
      ? ["npm ci --no-audit --no-fund"]
      : [
          "npm ci --no-audit --no-fund --ignore-scripts",
          ...(built.length === 0
            ? []
            : [`npm rebuild ${[...new Set(built)].toSorted().join(" ")}`]),
        ];
  const nested = [...members.keys()].filter((member) =>
    [...packages.keys()].some((path) => path.startsWith(`${member}/node_modules/`)),
  );
  const handed = handModules(project, [
    "node_modules",
    ...nested.map((member) => `${member}/node_modules`),
  ]);
  return {
    ...common,
    prepare: handed.unpack,
    found: lockFile,
    install: {
      name: "install",
      comment: installComment,
      commands: [...commands, ...handed.pack],
      inputs,
      outputs: handed.outputs,
      network: true,
    },
    notes: [],
  };
}

function readLock(
  text: string | undefined,
): Map<string, { hasInstallScript?: boolean | undefined }> {
  try {
    return new Map(Object.entries(Lock.parse(JSON.parse(text ?? "{}")).packages));
  } catch {
    return new Map();
  }
}
